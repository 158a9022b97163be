"""The words after a tool's id become its arguments: `key=text`, `key:=json`, or all of them as one JSON object.

Pure. What is wrong with them is the person's to mend before anything is started. A text that the tool's schema wants as
a number or a truth value is turned into one on the call path, as it is for a model.
"""

import json
from collections.abc import Sequence
from typing import Final, NoReturn

LONGEST_ARGUMENTS: Final = 16 * 1024 * 1024
"""Bytes of JSON read from standard input: as much as may wait for an upstream that reads slowly."""


class BadWords(Exception):
    """Says which word is wrong and how it is written."""


def from_words(words: Sequence[str]) -> dict[str, object]:
    """Raises BadWords."""
    arguments: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        is_json = name.endswith(":")
        key = name.removesuffix(":")
        if not equals or not key:
            raise BadWords(f"{_shown(word)} is not an argument. Write key=text, key:=json, or --args JSON.")
        if key in arguments:
            raise BadWords(f"{_shown(key)} is given twice.")
        arguments[key] = _parse(value, f"the value of {_shown(key)}") if is_json else value
    return arguments


def from_json(text: str) -> dict[str, object]:
    """Raises BadWords."""
    value = _parse(text, "--args")
    if not isinstance(value, dict):
        raise BadWords('--args takes a JSON object, such as {"key": "value"}.')
    return value


def _parse(text: str, what: str) -> object:
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadWords(f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except (ValueError, RecursionError):
        raise BadWords(f"{what} is not JSON that can be sent: a number or the nesting is beyond all bounds.") from None
    return value


def _refuse_constant(_name: str) -> NoReturn:
    raise ValueError


def _shown(word: str) -> str:
    return repr(word if len(word) <= 60 else f"{word[:59]}…")
