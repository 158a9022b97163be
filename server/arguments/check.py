"""From what a model sent to the arguments that a tool takes: read, repair, validate.

1. Arguments that satisfy the schema, and whose keys it names, go on as they are, the same object. Of other keys, only
   those with one meaning are moved: a wrapper, a doubled envelope, a dotted path to a declared place.
2. A repair is used only when everything is valid afterwards; what can't be placed is a problem, and nothing is dropped.
3. Each call has one budget of steps for all of that, so no schema and no argument can hold a thread for long.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from server.arguments.bounds import MAX_STEPS, Budget, GaveUp, NotPlainJson, require_arguments, require_plain
from server.arguments.envelope import JsonObject, Reading, readings, taken_out, unwrapped
from server.arguments.problems import InvalidArguments, Problem
from server.arguments.texts import DOTTED

if TYPE_CHECKING:
    from server.arguments.coerce import Repairs
    from server.arguments.dotted import DottedKeys

# Repairs that are told one by one; a column of numbers that were sent as strings is one mistake, not a thousand.
MAX_TOLD = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """Arguments that satisfy the tool's schema, and each repair that it took, in a short sentence."""

    arguments: JsonObject
    repairs: tuple[str, ...]


class ArgumentCheck:
    """One tool's schema, compiled for its calls; any number of threads may use it.

    `weight` says how many steps (3 to 5 µs each) a call with one item per list can take. `unchecked` are the
    schema's patterns that can't be checked in linear time, and so are not.
    """

    def __init__(self, schema: JsonObject) -> None:
        """Compile the schema.

        Raises: UnusableSchema.
        """
        # jsonschema takes an eighth of a second to import: only once a tool is called
        from server.arguments.document import compile_schema
        from server.arguments.names import names_of

        self._document = compile_schema(schema)
        self._declared = frozenset(self._document.declared(schema))
        self._names = names_of(self._document, schema)
        self.weight = self._document.weight
        self.unchecked = self._document.unchecked

    def __repr__(self) -> str:
        return f"<ArgumentCheck of {len(self._declared)} properties, weight {self.weight}>"

    def from_call(self, envelope: JsonObject, own_names: Collection[str] = ()) -> Prepared:
        """The arguments in all that `tool_call` got except `id`. `own_names` are the tool's id and name.

        Raises: InvalidArguments.
        """
        require_arguments(envelope)
        return self._first_fitting(readings(envelope, self._declared), own_names)

    def from_direct(self, arguments: JsonObject, own_names: Collection[str] = ()) -> Prepared:
        """The arguments of a tool that was called by its own name.

        Raises: InvalidArguments.
        """
        require_arguments(arguments)
        return self._first_fitting([Reading(arguments)], own_names)

    def _first_fitting(self, ways: Iterable[Reading], own_names: Collection[str]) -> Prepared:
        from server.arguments.coerce import Repairs

        repairs = Repairs(self._document, Budget())
        problems: tuple[Problem, ...] = ()
        for reading in ways:
            answer = self._settle(reading, repairs, own_names) if not reading.problems else reading.problems
            if isinstance(answer, Prepared):
                return answer
            if not problems or problems[0].code == "envelope":
                problems = answer
        raise InvalidArguments(problems)

    def _settle(
        self, reading: Reading, repairs: "Repairs", own_names: Collection[str]
    ) -> Prepared | tuple[Problem, ...]:
        """The arguments of one reading, or why they don't fit."""
        try:
            reading = self._as_meant(reading, repairs.dotted, own_names)
            errors = repairs.errors(reading.arguments)
        except GaveUp:
            return (_too_much(),)
        if not errors and not self._strays(reading.arguments, reading.beside):
            return Prepared(reading.arguments, reading.repairs)
        inner = unwrapped(reading.arguments, self._declared)
        notes, value = reading.repairs, reading.arguments
        try:
            if inner is not None:
                errors = repairs.errors(inner.arguments)
                notes += inner.repairs
                reading, value = inner, inner.arguments
            repaired = repairs.of(value, errors)
            errors = repaired.errors
            assert isinstance(repaired.value, dict)
            value = repaired.value
        except GaveUp:
            pass  # what was wrong before the repairs is still known
        else:
            if not errors and not self._strays(value, reading.beside):
                require_arguments(value)  # a short text can hold a large array
                return Prepared(value, (*notes, *_told(repaired.changes)))
        from server.arguments.report import report

        return report(errors, self._document, reading.beside, self._strays(value, reading.beside))

    def _as_meant(self, reading: Reading, dotted: "DottedKeys", own_names: Collection[str]) -> Reading:
        """The reading without wrappers and dotted keys that an open schema would let pass, to no effect.

        Raises: GaveUp.
        """
        sent, named, schema = reading.arguments, self._names.named, self._document.schema
        if not named or (sent.keys() <= named and not any(type(value) is dict for value in sent.values())):
            return reading
        arguments, repairs = sent, reading.repairs

        def is_placed(key: str) -> bool:
            return key in named or dotted.lead(key, schema) is not None

        taken = None if self._names.others_count else taken_out(sent, own_names, is_placed)
        if taken is not None:
            arguments, told = taken
            repairs = (*repairs, told)
        unfolded = dotted.unfolded_within(arguments, schema)
        if unfolded is not arguments:
            repairs = (*repairs, f"the arguments: {DOTTED}")
        return reading if unfolded is sent else replace(reading, arguments=unfolded, repairs=repairs)

    def _strays(self, arguments: JsonObject, beside: Collection[str]) -> list[str]:
        """The keys beside `id` that the tool does not name, although it names its keys."""
        if not beside or self._names.others_count or not self._names.named:
            return []
        return [key for key in arguments if key in beside and key not in self._names.named]


class ResultCheck:
    """The schema of one tool's structured result, which is judged as it came and never repaired."""

    def __init__(self, schema: JsonObject) -> None:
        """Compile the schema.

        Raises: UnusableSchema.
        """
        from server.arguments.document import compile_schema

        self._document = compile_schema(schema, of_arguments=False)

    def faults(self, result: object) -> tuple[Problem, ...]:
        """What is wrong. Nothing, where the result is too large to be checked: the tool has run by then."""
        from server.arguments.coerce import Repairs
        from server.arguments.report import report

        try:
            require_plain(result)
            errors = Repairs(self._document, Budget()).errors(result)
        except (NotPlainJson, GaveUp):
            return ()
        return report(errors, self._document)


def _told(changes: Sequence[object]) -> Iterator[str]:
    """The repairs in words, the first `MAX_TOLD` one by one."""
    yield from map(str, changes[:MAX_TOLD])
    if len(changes) > MAX_TOLD:
        yield f"and {len(changes) - MAX_TOLD} more values"


def _too_much() -> Problem:
    message = f"These arguments can't be checked within {MAX_STEPS:,} steps; send less at once, or a simpler value."
    return Problem("", "value", message)
