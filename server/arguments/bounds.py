"""The limits of one check: how large a value may be, and how many steps may be spent on it.

Steps, not seconds: a clock would make the same call pass on one day and fail on the next, and a thread can't be
stopped from outside. Everything that can loop at an upstream's or a model's wish pays here first.
"""

import math
from collections.abc import Sequence

from server.arguments.problems import InvalidArguments, Problem, UnusableSchema

# One step is one schema applied to one value, 3 to 5 µs: the limit ends a check in about half a second of CPU. A table
# of 5,000 rows with four columns needs 25,000.
MAX_STEPS = 100_000
# Numbers, strings, lists and objects in one call: ten times the largest real one seen, a chart's table.
MAX_VALUES = 20_000
# Arguments nested deeper have no honest use, and recursion stays flat.
MAX_DEPTH = 64
# As many as the largest schema has that the catalogue admits (64 KiB, 96 levels), so that both give one verdict.
MAX_SCHEMA_VALUES = 65_536
MAX_SCHEMA_DEPTH = 96
# Schemas that apply inside one another to one value, `$ref`s included. Each takes two Python frames: 400 of the 1,000
# that Python allows. A filter that nests 25 times needs 100.
MAX_NESTING = 200
# Python refuses to write an integer of more than 4,300 digits (14,284 bits), so nobody could send it on.
MAX_INTEGER_BITS = 14_000


class GaveUp(Exception):
    """The budget is spent; what was being checked stays unknown."""


class NotPlainJson(Exception):
    """A value that JSON can't carry, or that is larger than the limits; the message says which."""


class Budget:
    """The steps that one call may still cost. Made for one call, used by one thread."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raises: GaveUp, when less than that is left."""
        self.left -= steps
        if self.left < 0:
            raise GaveUp

    def __repr__(self) -> str:
        return f"<Budget {self.left} steps left>"


def require_plain(value: object, values: int = MAX_VALUES, depth: int = MAX_DEPTH) -> None:
    """Pass what JSON can carry, with at most so many values and levels.

    Raises: NotPlainJson.
    """
    level: Sequence[object] = (value,)
    count = 0
    for _ in range(depth + 1):
        count += len(level)
        if count > values:
            raise NotPlainJson(f"more than {values:,} values")
        below: list[object] = []
        for item in level:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue
            if kind is dict or kind is list:
                _open(item, below)
            else:
                _require_number(item)
        if not below:
            return
        level = below
    raise NotPlainJson(f"more than {depth} levels")


def _open(item: object, below: list[object]) -> None:
    if isinstance(item, list):
        below.extend(item)
    elif isinstance(item, dict):
        for key in item:
            if type(key) is not str:
                raise NotPlainJson("a property name that is not a string")
        below.extend(item.values())


def _require_number(item: object) -> None:
    if type(item) is int:
        if item.bit_length() > MAX_INTEGER_BITS:
            raise NotPlainJson("an integer of more than 4,200 digits")
    elif type(item) is not float or not math.isfinite(item):
        raise NotPlainJson("something that is not a JSON value")


def require_schema(schema: object) -> None:
    """Raises: UnusableSchema, when the schema is no plain object or larger than the limits."""
    if not isinstance(schema, dict):
        raise UnusableSchema("the schema is not an object")
    try:
        require_plain(schema, MAX_SCHEMA_VALUES, MAX_SCHEMA_DEPTH)
    except NotPlainJson as error:
        raise UnusableSchema(f"the schema has {error}") from None


def require_arguments(envelope: object) -> None:
    """Raises: InvalidArguments, when what was sent is larger than the limits."""
    try:
        require_plain(envelope)
    except NotPlainJson as error:
        raise InvalidArguments([Problem("", "envelope", f"The arguments hold {error}; send less at once.")]) from None
