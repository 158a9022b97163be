"""What a text says that a model sent in place of a value: JSON and numbers, read strictly or not at all.

Nothing is lost between a text and what is read from it: no key that is there twice, no digit that a float would drop.
"""

import json
import math
import re
from decimal import Decimal

from server.arguments.bounds import NotPlainJson, require_plain

# The longest exact double in plain digits has 767; what is written longer than this is no number that anyone typed.
MAX_NUMBER_CHARS = 400

# How the repair of `{"user.name": …}` is told, at whatever depth it was.
DOTTED = "dotted keys read as nested ones"

BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")


def read_structure(text: str) -> dict[str, object] | list[object] | None:
    """The object or array that a JSON text holds, also when it was quoted twice; None when it holds none."""
    value: object = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(
                value, object_pairs_hook=_distinct, parse_constant=_refuse, parse_float=_exact, parse_int=_integer
            )
            require_plain(value)
        except (ValueError, RecursionError, NotPlainJson):
            return None
    return value if isinstance(value, dict | list) else None


def read_number(text: str) -> int | float | None:
    """The number that a text is in JSON's notation, an integer where it is written as one; None when it is none."""
    if len(text) > MAX_NUMBER_CHARS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        return _exact(text) if _NUMBER.fullmatch(text) else None
    except ValueError:
        return None


def _exact(text: str) -> float:
    if len(text) > MAX_NUMBER_CHARS:
        raise ValueError("too long for a float")
    number = float(text)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(text):
        raise ValueError("a float can't hold this number")
    return number


def _integer(text: str) -> int:
    if len(text) > MAX_NUMBER_CHARS:
        raise ValueError("too long for an integer")
    return int(text)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is not JSON")
