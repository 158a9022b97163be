"""Regular expressions that came with a schema. The only file that imports re2.

Python's `re` backtracks: `^(a+)+$` against forty letters never ends. RE2 is linear in the text, whatever the pattern.
It has no look-around and no back-references; such a pattern is not checked at all (the upstream still may), and
whoever compiled it is told. It never runs on `re` instead.
"""

import re
from typing import Protocol

import re2

# Longer patterns are word lists in disguise; compiling them is the cost that RE2 does not bound well.
MAX_PATTERN_CHARS = 1_000
# Instructions of the compiled program: the slowest of RE2's engines needs all of them for each byte.
MAX_PROGRAM = 5_000
# RE2's own memory for one pattern, its cache of states included; the library keeps up to 128 patterns.
MAX_MEMORY_BYTES = 1 << 20
# Bytes times instructions that pass for one step (3 µs): measured 10 ns for each in the slowest engine, mostly far less.
WORK_PER_STEP = 1_000

# JSON Schema writes patterns as ECMAScript does, where \u00e9 is a character; RE2 writes that \x{00e9}.
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


class _Regexp(Protocol):
    """What of re2's compiled pattern is used here; the library has no types of its own."""

    @property
    def programsize(self) -> int: ...

    def search(self, text: bytes) -> object: ...


class Pattern:
    """One compiled pattern."""

    __slots__ = ("_regexp", "_size")

    def __init__(self, regexp: _Regexp) -> None:
        self._regexp = regexp
        self._size = regexp.programsize

    def cost(self, text: str) -> int:
        """The steps that a search in this text is worth."""
        return 1 + len(text) * self._size // WORK_PER_STEP

    def is_in(self, text: str) -> bool:
        """Whether any part of the text matches, as JSON Schema asks."""
        return self._regexp.search(text.encode("utf-8", "surrogatepass")) is not None

    def __repr__(self) -> str:
        return f"<Pattern of {self._size} instructions>"


def compile_pattern(pattern: str) -> Pattern | None:
    """The pattern, or None when it can't be checked in linear time."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return None
    options = re2.Options()
    options.log_errors = False  # else a bad pattern is written to our stderr
    options.never_capture = True
    options.max_mem = MAX_MEMORY_BYTES
    try:
        regexp: _Regexp = re2.compile(_ESCAPE.sub(_escape, pattern).encode(), options)
    except (re2.error, UnicodeEncodeError):
        return None
    return Pattern(regexp) if regexp.programsize <= MAX_PROGRAM else None


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    return match[0] if code is None else f"\\x{{{code}}}"
