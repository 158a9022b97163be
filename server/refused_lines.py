"""Whose request a line was that cannot be taken: the id in it, so that its sender does not wait in vain. Pure."""

import json
import re
from typing import Final

_BEFORE: Final = rb'\s*+"(?:jsonrpc|method)"\s*+:\s*+"[^"\\]{0,200}+"\s*+,'
_ID_FIRST: Final = re.compile(
    rb"\s*+\{(?:" + _BEFORE + rb'){0,2}+\s*+"id"\s*+:\s*+("[^"\\]{1,200}+"|-?\d{1,18}+)\s*+[,}]'
)
"""An id that stands before everything that has parts: such a one is the message's own, whatever comes behind it."""


def request_id(line: bytes) -> str | int | None:
    """The id of the request that this line was meant to be; None where it cannot be told, and for what is no request."""
    if b'"method"' not in line:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(line)
        return _as_id(json.loads(found[1].decode("utf-8", "replace"))) if found else None
    return _as_id(message.get("id")) if isinstance(message, dict) else None


def _as_id(value: object) -> str | int | None:
    return value if type(value) in (str, int) and isinstance(value, (str, int)) else None
