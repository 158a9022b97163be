"""The validator's errors in words: what was expected where, and which names are near. Never what was sent.

1. A message is made of the schema's words and of JSON type names; of what was sent, only property names appear.
2. Where alternatives fail (`anyOf`, `oneOf`), the one that was evidently meant is explained, else all are named.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from jsonschema import ValidationError

from server.arguments.document import Document
from server.arguments.problems import Code, Path, Problem, clean, close, pointer, quoted

# What a model can use at once: the first few; it calls again and hears the rest.
MAX_PROBLEMS = 8
# Problems that are worded to find so many different ones: comparing names for each costs up to 10 ms.
MAX_LOOKED_AT = 32
# Allowed values or alternatives named in one sentence.
MAX_NAMED = 8
# Alternatives in alternatives are explained this far down.
MAX_BRANCH_DEPTH = 4
# Unions in unions that are spelt out, and what is left of them in a sentence.
MAX_UNION_DEPTH = 2
MAX_EXPECTED_CHARS = 300
# A schema's pattern or bound, in a sentence.
MAX_QUOTE_CHARS = 120

_Words = Callable[[ValidationError], str]

_AN = {"array": "an array", "object": "an object", "integer": "an integer", "null": "null"}


def report(
    errors: Iterable[ValidationError],
    document: Document,
    beside: frozenset[str] = frozenset(),
    strays: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """The problems, by path, at most `MAX_PROBLEMS`.

    `beside` are the keys that stood outside the arguments object; `strays` those of them that the tool does not know,
    even if its schema lets them pass.
    """
    reporter = _Reporter(document, beside)
    # a missing property says most, and its near name explains the unknown one
    ordered = sorted(errors, key=lambda error: (len(error.relative_path), error.validator not in _MISSING))
    found: dict[tuple[str, str], Problem] = {}
    worded = chain.from_iterable(reporter.problems(error, (), 0) for error in ordered)
    for problem in islice(chain(worded, map(reporter.unplaced, strays)), MAX_LOOKED_AT):
        found.setdefault((problem.path, problem.code), problem)
        if len(found) == MAX_PROBLEMS:
            break
    return tuple(found.values())


class _Reporter:
    """One report in the making."""

    def __init__(self, document: Document, beside: frozenset[str]) -> None:
        self._document = document
        self._beside = beside

    def problems(self, error: ValidationError, outer: Path, depth: int) -> Iterator[Problem]:
        """What one error says; an error of alternatives can be several."""
        path = (*outer, *error.relative_path)
        keyword = str(error.validator)
        if keyword in _ALTERNATIVES and error.context:
            yield from self._of_alternatives(error, path, depth)
        elif "propertyNames" in error.relative_schema_path:
            yield self._bad_name(error, path)
        elif keyword in _MISSING:
            yield self._missing(error, path)
        elif keyword in _UNKNOWN and path and isinstance(path[-1], str):
            yield self._unknown(error, path)
        elif keyword in ("enum", "const"):
            yield self._enum(_allowed(error), error.instance, path)
        else:
            code: Code = "type" if keyword == "type" else "value"
            words = self._type_words(error) if keyword == "type" else _WORDS.get(keyword, _other)(error)
            yield Problem(pointer(path), code, f"{_named(path)} {words}.")

    def _missing(self, error: ValidationError, path: Path) -> Problem:
        name = str(path[-1])
        declared = self._document.declared(error.schema)
        expected = self._expected(declared.get(name))
        sent = error.instance if isinstance(error.instance, dict) else {}
        near = close(name, (key for key in sent if key not in declared))
        hint = f" {quoted(near[0])} was sent: did you mean {quoted(name)}?" if near else ""
        return Problem(pointer(path), "missing", f"{_named(path)} is required ({expected}).{hint}", near)

    def _unknown(self, error: ValidationError, path: Path) -> Problem:
        name = str(path[-1])
        if len(path) == 1 and name in self._beside:
            return self.unplaced(name)
        sent = error.instance if isinstance(error.instance, dict) else {}
        declared = self._document.declared(error.schema)
        near = close(name, (key for key in declared if key not in sent))
        hint = f" Did you mean {quoted(near[0])}?" if near else ""
        return Problem(pointer(path), "unknown", f"{_named(path)} is not a property here.{hint}", near)

    def unplaced(self, name: str) -> Problem:
        """A key beside `id` that is no property of the tool."""
        near = close(name, self._document.declared(self._document.schema))
        hint = f" Did you mean {quoted(near[0])}?" if near else ""
        message = f"{quoted(name)} stands beside `id`, and the tool has no property of that name.{hint}"
        return Problem(pointer((name,)), "unplaced", message, near)

    def _bad_name(self, error: ValidationError, path: Path) -> Problem:
        """A property whose name the schema refuses: the error's instance is the name, its path the object's."""
        allowed = _allowed(error) if error.validator in ("enum", "const") else []
        words = f"must be {one_of(allowed)}" if allowed else _WORDS.get(str(error.validator), _other)(error)
        name = error.instance if isinstance(error.instance, str) else ""
        near = close(name, (value for value in allowed if isinstance(value, str)))
        return Problem(
            pointer((*path, name)), "unknown", f"{quoted(name)} is no name for a property here: it {words}.", near
        )

    def _enum(self, allowed: Sequence[object], sent: object, path: Path) -> Problem:
        texts = [value for value in allowed if isinstance(value, str)]
        near = close(sent, texts) if isinstance(sent, str) else ()
        hint = f" Did you mean {quoted(near[0])}?" if near else ""
        return Problem(pointer(path), "enum", f"{_named(path)} must be {one_of(allowed)}.{hint}", near)

    def _of_alternatives(self, error: ValidationError, path: Path, depth: int) -> Iterator[Problem]:
        branches = _meant(_branches(error.context))
        tag = _shared_tag(branches)
        if len(branches) == 1 and depth < MAX_BRANCH_DEPTH:
            for inner in branches[0]:
                yield from self.problems(inner, path, depth + 1)
        elif tag is not None:
            where, allowed, sent = tag
            yield self._enum(allowed, sent, (*path, *where))
        else:
            expected = self._expected({"anyOf": error.validator_value})
            yield Problem(pointer(path), "type", f"{_named(path)} must be {expected}.")

    def _type_words(self, error: ValidationError) -> str:
        wanted = error.validator_value
        expected = self._expected(error.schema) if wanted == "array" else _kinds(wanted)
        hint = "; leave it out if there is no value" if error.instance is None and error.relative_path else ""
        return f"must be {expected}, not {_kind(error.instance)}{hint}"

    def _expected(self, schema: object) -> str:
        """What a schema wants, in a few words."""
        return clean(self._brief(schema, 0), MAX_EXPECTED_CHARS)

    def _brief(self, schema: object, depth: int) -> str:
        schema = self._document.plain(schema)
        if not isinstance(schema, dict):
            return "any value"
        allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
        alternatives = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(allowed, list):
            return one_of(allowed)
        if isinstance(alternatives, list) and depth < MAX_UNION_DEPTH:
            parts = list(dict.fromkeys(self._brief(part, depth + 1) for part in alternatives[:MAX_NAMED]))
            return " or ".join(parts) + (" or …" if len(alternatives) > MAX_NAMED else "")
        if schema.get("type") == "array":
            items = self._document.plain(schema.get("items"))
            kind = items.get("type") if isinstance(items, dict) else None
            return f"an array of {clean(kind)}s" if isinstance(kind, str) else "an array"
        return _kinds(schema["type"]) if "type" in schema else "a value that fits its schema"


def one_of(allowed: Sequence[object]) -> str:
    """The allowed values, as many as fit a sentence."""
    if not allowed:
        return "left out: its schema allows no value"
    shown = ", ".join(_quote(value) for value in allowed[:MAX_NAMED])
    more = f" or one of {len(allowed) - MAX_NAMED} more" if len(allowed) > MAX_NAMED else ""
    return shown if len(allowed) == 1 else f"one of {shown}{more}"


def _kinds(kinds: object) -> str:
    names = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_AN.get(str(name), f"a {clean(str(name))}") for name in names)


def _quote(value: object) -> str:
    return quoted(value) if isinstance(value, str) else clean(json.dumps(value))


def _named(path: Path) -> str:
    """What a sentence calls the thing at a path: its last name, or what it is."""
    if not path:
        return "The arguments object"
    return quoted(path[-1]) if isinstance(path[-1], str) else f"Item {path[-1]}"


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    for kind, name in ((str, "a string"), (dict, "an object"), (list, "an array"), (type(None), "null")):
        if isinstance(value, kind):
            return name
    return "a number"


def _branches(context: Sequence[ValidationError]) -> list[list[ValidationError]]:
    groups: dict[object, list[ValidationError]] = {}
    for error in context:
        groups.setdefault(error.relative_schema_path[0], []).append(error)
    return list(groups.values())


def _meant(branches: list[list[ValidationError]]) -> list[list[ValidationError]]:
    """The alternatives that were meant: those of the right JSON type, then the one whose tag is right."""
    typed = [errors for errors in branches if not any(_is_other_kind(error) for error in errors)]
    tagged = [errors for errors in typed if _tag(errors) is None]
    return tagged if len(tagged) == 1 else typed


def _is_other_kind(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path


def _tag(errors: Sequence[ValidationError]) -> ValidationError | None:
    """The error that says that this alternative is another one than was meant: a property with a fixed value."""
    return next((error for error in errors if error.validator in ("const", "enum")), None)


def _shared_tag(branches: Sequence[Sequence[ValidationError]]) -> tuple[Path, list[object], object] | None:
    """The one property by which all alternatives differ, what it may be, and what was sent there."""
    tags = [tag for tag in map(_tag, branches) if tag is not None]
    paths = {tuple(tag.relative_path) for tag in tags}
    if len(tags) < max(len(branches), 1) or len(paths) != 1:
        return None
    return paths.pop(), [value for tag in tags for value in _allowed(tag)], tags[0].instance


def _allowed(error: ValidationError) -> list[object]:
    value = error.validator_value
    return value if error.validator == "enum" and isinstance(value, list) else [value]


def _bound(words: str) -> _Words:
    return lambda error: words.format(clean(json.dumps(error.validator_value, ensure_ascii=False), MAX_QUOTE_CHARS))


def _limit(words: str, exclusive: str, strict_words: str) -> _Words:
    """The words of a bound, which is excluded itself where draft-04's flag says so."""
    inclusive, strict = _bound(words), _bound(strict_words)
    return lambda error: (strict if _is_set(error.schema, exclusive) else inclusive)(error)


def _is_set(schema: object, flag: str) -> bool:
    return isinstance(schema, dict) and schema.get(flag) is True


def _fixed(words: str) -> _Words:
    return lambda _error: words


def _other(error: ValidationError) -> str:
    return f"does not fit what the schema says under `{clean(str(error.validator))}`"


_ALTERNATIVES = ("anyOf", "oneOf")
_MISSING = ("required", "dependentRequired", "dependencies")
_UNKNOWN = ("additionalProperties", "unevaluatedProperties", "false")

_WORDS: Mapping[str, _Words] = {
    "oneOf": _fixed("fits more than one of the alternatives in its schema; only one may fit"),
    "not": _fixed("has a form that its schema rules out"),
    "uniqueItems": _fixed("must not hold the same item twice"),
    "contains": _fixed("must hold the items that its schema asks for under `contains`"),
    "items": _fixed("has too many items"),
    "additionalItems": _fixed("has too many items"),
    "unevaluatedItems": _fixed("has items that its schema does not allow"),
    "false": _fixed("must not be there"),
    "minimum": _limit("must be at least {}", "exclusiveMinimum", "must be greater than {}"),
    "maximum": _limit("must be at most {}", "exclusiveMaximum", "must be less than {}"),
    "exclusiveMinimum": _bound("must be greater than {}"),
    "exclusiveMaximum": _bound("must be less than {}"),
    "multipleOf": _bound("must be a multiple of {}"),
    "minLength": _bound("must have at least {} characters"),
    "maxLength": _bound("must have at most {} characters"),
    "minItems": _bound("must have at least {} items"),
    "maxItems": _bound("must have at most {} items"),
    "minProperties": _bound("must have at least {} properties"),
    "maxProperties": _bound("must have at most {} properties"),
    "pattern": _bound("must match the pattern {}"),
}
