"""Finds text that is written in a code within a text: base64, hexadecimal, percent signs, escapes, rot13. Pure.

Law: the time is linear in the text.
"""

import base64
import binascii
import codecs
import functools
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from server.concepts import word_list

FEWEST_WORDS: Final = 4
"""Of what is decoded. Examples of honest tools say "hello", or are data."""

SHORTEST_RUN: Final = 24
"""Characters without a space: what is decoded has at least so many."""

_RUNS: Final = re.compile(
    r"(?P<hex>(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){16,}(?![0-9A-Za-z]))"
    r"|(?P<percent>(?:%[0-9A-Fa-f]{2}){12,})"
    r"|(?P<escape>(?:(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}) ?){8,})"
    r"|(?P<base64>(?<![0-9A-Za-z+/_-])[0-9A-Za-z+/_-]{24,}={0,2})"
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_SPACED: Final = re.compile(r"[a-z']+")


def decoded(text: str) -> Iterator[str]:
    """What parts of the text turn into, where that is words."""
    if max(map(len, text.split()), default=0) >= SHORTEST_RUN:
        for found in _RUNS.finditer(text):
            plain = _plain(found.lastgroup or "", found[0])
            if len(plain.split()) >= FEWEST_WORDS and plain.isprintable():
                yield plain
    if sum(word in text for word in _rotated()) > 1:
        words = frozenset(_SPACED.findall(text))
        if len(words & _rotated()) > max(1, len(words & word_list("coded")) // 2):
            yield codecs.encode(text, "rot13")


def _plain(code: str, run: str) -> str:
    try:
        match code:
            case "hex":
                return bytes.fromhex(run).decode()
            case "percent":
                return unquote(run, errors="strict")
            case "escape":
                return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), run)
            case _:
                padded = run.rstrip("=").translate(str.maketrans("-_", "+/"))
                return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except (ValueError, binascii.Error):
        return ""


@functools.cache
def _rotated() -> frozenset[str]:
    """Small words in rot13, but for those so short that they are abbreviations."""
    return frozenset(codecs.encode(word, "rot13") for word in word_list("coded") if len(word) > 2)
