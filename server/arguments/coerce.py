"""Repairs of values: what a model sent, read as the schema wants it, where it can mean one thing only.

Repairs follow the validator's errors, so what satisfies its schema is never looked at, let alone changed. Certain are:

- "42", "-1.5" for a number, in JSON's notation and with no digit lost; "true", "false" for a boolean, never "yes" or "1".
- the text of a JSON object or array for that object or array, also when it was quoted twice.
- 42 for a string: an integer has one notation. Not 4.0 and not true, which have several.
- a scalar for an array whose items it satisfies as it is. Not a string with a space, comma, semicolon or bracket: that
  may be a whole list already, or a command line, and nobody can say how it was to be split.
- "High" for an enum or const with one string that differs only in case; "2" for an enum with 2, and 2 for one with "2".
- {"user.name": …} for an object where `user` has `name` and no key is called "user.name".
- any of these for one of several alternatives (`anyOf`, `oneOf`), when repairs reach exactly one of them.

Whether a repair is used is the caller's to say: only when nothing is wrong afterwards.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from jsonschema import ValidationError

from server.arguments.bounds import Budget
from server.arguments.document import Document
from server.arguments.dotted import DottedKeys
from server.arguments.problems import Path, pointer
from server.arguments.texts import BOOLEANS, DOTTED, read_number, read_structure

# A JSON text in a JSON text in …: each round reads one layer, and what is under it shows its errors in the next.
MAX_ROUNDS = 6
# Errors that one round looks at: a column of numbers sent as strings, a thousand rows long.
MAX_ERRORS = 1_000
# Alternatives inside alternatives that are tried; each level multiplies the work.
MAX_ALTERNATIVES_DEPTH = 4

# Characters of JSON that are parsed in the time of a step.
_CHARACTERS_PER_STEP = 300
# What may separate or enclose the items of a list that was written as one string.
_LISTLIKE = re.compile(r"[\s,;|\[\]{}()]")

_OF_AN_OBJECT = ("required", "additionalProperties", "unevaluatedProperties", "dependentRequired", "dependencies")


@dataclass(frozen=True, slots=True)
class Change:
    """One repaired value: where, what stands there now, and how that was read."""

    path: Path
    value: object
    how: str

    def __str__(self) -> str:
        return f"{pointer(self.path) or 'the arguments'}: {self.how}"


@dataclass(frozen=True, slots=True)
class Repaired:
    """The value after all certain repairs, and what is still wrong with it."""

    value: object
    changes: tuple[Change, ...]
    errors: tuple[ValidationError, ...]


class Repairs:
    """The repairs of one call: they share its budget."""

    def __init__(self, document: Document, budget: Budget) -> None:
        self._document = document
        self._budget = budget
        self.dotted = DottedKeys(document, budget)

    def errors(self, value: object, schema: object = None) -> tuple[ValidationError, ...]:
        """What is wrong with a value.

        Raises: GaveUp.
        """
        return tuple(islice(self._document.errors(value, self._budget, schema), MAX_ERRORS))

    def of(self, value: object, errors: tuple[ValidationError, ...], schema: object = None, depth: int = 0) -> Repaired:
        """Read a value as the schema wants it, given what is wrong with it now.

        Raises: GaveUp.
        """
        changes: list[Change] = []
        for _ in range(MAX_ROUNDS):
            found = self._round(value, errors, depth)
            if not found:
                break
            value = _with_changes(value, found)
            changes += found
            errors = self.errors(value, schema)
        return Repaired(value, tuple(changes), errors)

    def _round(self, value: object, errors: Sequence[ValidationError], depth: int) -> list[Change]:
        """The changes that these errors call for, none inside another."""
        found: dict[Path, Change] = {}
        around: set[Path] = set()
        for error in errors:
            path = tuple(error.relative_path)
            if error.validator in _OF_AN_OBJECT:
                path = path[:-1]
            above = [path[:length] for length in range(len(path))]
            if path in around or path in found or any(step in found for step in above):
                continue
            # an error about a property's name has the object's path, and the name as its instance
            change = self._change(error, path, depth) if _at(value, path) is error.instance else None
            if change is not None:
                found[path] = change
                around.update(above)
        return list(found.values())

    def _change(self, error: ValidationError, path: Path, depth: int) -> Change | None:
        keyword = error.validator
        if isinstance(error.instance, str):
            self._budget.spend(len(error.instance) // _CHARACTERS_PER_STEP)
        if keyword in _OF_AN_OBJECT:
            return self._unfolded(error, path)
        if keyword in ("anyOf", "oneOf"):
            return self._alternative(error, path, depth)
        readings: list[tuple[object, str]] = []
        if keyword == "type":
            wanted = _entries(error.validator_value) or [error.validator_value]
            readings = [*_readings(error.instance, wanted), *self._wrapped(error, wanted)]
        elif keyword in ("enum", "const"):
            allowed = _entries(error.validator_value) if keyword == "enum" else [error.validator_value]
            readings = [(value, "read as the allowed value") for value in allowed if _means(error.instance, value)]
        return Change(path, *readings[0]) if len(readings) == 1 else None

    def _wrapped(self, error: ValidationError, wanted: Sequence[object]) -> Iterator[tuple[object, str]]:
        value, schema = error.instance, error.schema
        if "array" not in wanted or not isinstance(value, str | int | float) or not isinstance(schema, dict):
            return
        if isinstance(value, str) and (not value or _LISTLIKE.search(value)):
            return
        items = schema.get("items")
        if isinstance(items, dict) and items and not self.errors(value, items) and not self.errors([value], schema):
            yield [value], "made the only item of an array"

    def _alternative(self, error: ValidationError, path: Path, depth: int) -> Change | None:
        if depth >= MAX_ALTERNATIVES_DEPTH or not error.context:
            return None
        reached: list[Repaired] = []
        for branch in _entries(error.validator_value):
            errors = self.errors(error.instance, branch)
            repaired = self.of(error.instance, errors, branch, depth + 1)
            if not repaired.errors:
                reached.append(repaired)
        if len(reached) != 1:
            return None
        ways = dict.fromkeys(change.how for change in reached[0].changes)
        return Change(path, reached[0].value, ", ".join(ways))

    def _unfolded(self, error: ValidationError, path: Path) -> Change | None:
        """An object whose dotted keys are put where they lead."""
        sent, schema = error.instance, error.schema
        if not isinstance(sent, dict) or not isinstance(schema, dict) or "patternProperties" in schema:
            return None
        result = self.dotted.unfolded(sent, schema)
        return None if result is sent else Change(path, result, DOTTED)


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _readings(value: object, wanted: Sequence[object]) -> Iterator[tuple[object, str]]:
    """Each way to read a value as one of the JSON types."""
    if isinstance(value, str):
        number = read_number(value)
        if ("number" in wanted and number is not None) or ("integer" in wanted and type(number) is int):
            yield number, "the string read as a number"
        if "boolean" in wanted and value in BOOLEANS:
            yield BOOLEANS[value], "the string read as a boolean"
        if "object" in wanted or "array" in wanted:
            structure = read_structure(value)
            if isinstance(structure, dict) and "object" in wanted:
                yield structure, "the JSON text read as an object"
            if isinstance(structure, list) and "array" in wanted:
                yield structure, "the JSON text read as an array"
    elif type(value) is int and "string" in wanted:
        yield str(value), "the integer written as a string"


def _means(sent: object, allowed: object) -> bool:
    """Whether a value can be meant as this allowed one, which it is not equal to."""
    if isinstance(sent, str) and isinstance(allowed, str):
        return len(sent) == len(allowed) and sent.casefold() == allowed.casefold()
    if isinstance(sent, str) and isinstance(allowed, bool):
        return BOOLEANS.get(sent) is allowed
    if isinstance(sent, str) and isinstance(allowed, int | float):
        number = read_number(sent)
        return number is not None and number == allowed
    return type(sent) is int and isinstance(allowed, str) and str(sent) == allowed


def _at(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
    return value


def _with_changes(value: object, changes: Sequence[Change]) -> object:
    """The value with the changes in it; whatever lies on the way to one is copied, once."""
    root: list[object] = [value]
    copies: dict[Path, list[object] | dict[str, object]] = {}
    for change in changes:
        path: Path = (0, *change.path)
        holder: list[object] | dict[str, object] = root
        for length in range(1, len(path)):
            if path[:length] not in copies:
                copies[path[:length]] = _copied(holder, path[length - 1])
            holder = copies[path[:length]]
        _set(holder, path[-1], change.value)
    return root[0]


def _copied(holder: list[object] | dict[str, object], step: str | int) -> list[object] | dict[str, object]:
    inner = _at(holder, (step,))
    assert isinstance(inner, list | dict)
    copy = inner.copy()
    _set(holder, step, copy)
    return copy


def _set(holder: list[object] | dict[str, object], step: str | int, value: object) -> None:
    if isinstance(holder, dict):
        holder[str(step)] = value
    else:
        assert isinstance(step, int)
        holder[step] = value
