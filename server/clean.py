"""Text of an upstream, made fit for what we render of it: hits, instructions, errors, tables. Never used on results."""

import re
import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Control, format (zero-width, bidi, tag), private, surrogate and line-separator characters."""

_SPACES: Final = re.compile(r"\s+")


def one_line(text: str, limit: int) -> str:
    """The text on one line without unseen characters, cut at a word near `limit` characters with an ellipsis."""
    head = text[: limit * 4]  # descriptions of many kilobytes are cut before the work
    if head.isascii():
        flat = " ".join(head.split())
        clean = flat if flat.isprintable() else " ".join("".join(c for c in flat if c.isprintable()).split())
    else:
        kept = "".join(c if unicodedata.category(c) not in _UNSEEN else " " * c.isspace() for c in head)
        clean = _SPACES.sub(" ", kept).strip()
    if len(clean) <= limit:
        return clean
    cut = clean[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip(" ,;:.") + "…"


def paragraphs(text: str, limit: int) -> str:
    """The text with its line breaks, without other unseen characters, at most `limit` characters."""
    kept = "".join(c for c in text[: limit + 1] if c in "\n\t" or unicodedata.category(c) not in _UNSEEN)
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"
