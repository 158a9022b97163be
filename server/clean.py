"""Text of an upstream, made fit for what we render of it: hits, instructions, errors, tables, logs. Never used on results.

What a reader can't see is taken out: terminal sequences as a whole, controls, bidi marks, zero-width and tag characters,
selectors that can carry hidden bytes, and letters that are drawn as nothing.
"""

import json
import re
import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Control, format (zero-width, bidi, tag), private, surrogate and line-separator characters."""

_SPACES: Final = re.compile(r"\s+")

_BLANK: Final = frozenset(
    chr(code)
    for first, last in (
        (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Of other categories and seen as little: joiners, fillers, variation selectors."""

TERMINAL: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and moves of the cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links and other texts
    r"|\x1b[ -/]*[0-~]"
)
"""A terminal's escape sequences. One that does not end is taken to the end of its line. Linear in the text."""


def one_line(text: str, limit: int) -> str:
    """The text on one line without unseen characters, cut at a word near `limit` characters with an ellipsis."""
    head = text[: limit * 4]  # descriptions of many kilobytes are cut before the work
    flat = " ".join(head.split())
    if not (flat.isascii() and flat.isprintable()):
        kept = "".join(c if _is_seen(c) else " " * c.isspace() for c in TERMINAL.sub("", head))
        flat = _SPACES.sub(" ", kept).strip()
    if len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip(" ,;:.") + "…"


def paragraphs(text: str, limit: int) -> str:
    """The text with its line breaks, without other unseen characters, at most `limit` characters."""
    kept = visible(text[: limit + 1])
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def visible(text: str) -> str:
    """The whole text with its line breaks and tabs, without other unseen characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in TERMINAL.sub("", text) if c in "\n\t" or _is_seen(c))


def escaped(text: str) -> str:
    """The text with its line breaks, and what nobody sees in JSON's escapes: for who has to judge it."""
    return "".join(c if c == "\n" or _is_seen(c) else json.dumps(c)[1:-1] for c in text)


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _BLANK
