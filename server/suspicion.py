"""Whether the definition of a tool speaks to the model behind the reader's back. Pure; knows one definition at a time.

Every text of a definition is looked through: titles, descriptions, parameters' names and texts, values, annotations. What
may not be seen is looked for in the text as it is, phrases in the text as a reader would take it. A hint for a person,
never the boundary: policy, pins and limits are that. The rules are this file and those beside it.

Laws
1. Any definition that may enter the catalogue is answered, in time linear in its text; nothing raises.
2. What is too long to be looked through is suspicious for that.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from server.clean import visible
from server.suspicion_phrases import PHRASES, WORDS
from server.suspicion_words import ADDRESSES, OTHER_TOOLS, PUSHES, Phrase

MOST_CHARACTERS: Final = 64 * 1024
"""Of all texts of one definition. The largest of a real server has 20 KiB."""

SHORT: Final = 60
"""Characters. A plain text below this hides nothing: it can only say something."""

SHORTEST_PHRASE: Final = 10
LONGEST_SENTENCE: Final = 600
"""A longer one is looked at in pieces. Each pattern looks a bounded way ahead, so that the work stays linear."""

_UNREAD: Final = frozenset({"$schema", "$id", "$ref", "pattern", "icons", "_meta"})
"""Never rendered, or meant to hold odd characters."""

_RULES: Final = ("suspicion.py", "suspicion_phrases.py", "suspicion_words.py", "clean.py")
"""All that decides here."""

_PARTS: Final = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "annotations"})
"""Named when something stands out there. Names of the upstream's are not: what is said here goes to the model, too."""

_FAR: Final = re.compile(r"(?<![^\S\n])[^\S\n]{60,}+(?=\S)|(?<!\s)[^\S\n]*+(?:\n[^\S\n]*+){12,}+(?=\S)")
"""Room that pushes what follows out of sight. Real texts indent by up to 24 and leave a few lines empty."""

_COMMENT: Final = re.compile(
    r"<!--(?=[^>]{0,40}[A-Za-z]{3})|\[//\]: ?#|<[^>\n]{0,80}(?:display: ?none|visibility: ?hidden|font-size: ?0)",
    re.IGNORECASE,
)

_TERMINAL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BIDI: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SELECTORS: Final = re.compile("[\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{2}")
_TAGS: Final = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]")
"""Except in a flag, which is written with them."""

_ZERO_WIDTH: Final = re.compile(
    "[\u200b\u2060-\u2064\u206a-\u206f\u180e\u3164\uffa0]|(?<=[\x00-\x7f])[\u200c\u200d\ufeff]|[\u200c\u200d](?=[A-Za-z])"
)
"""Joiners have their place in other scripts and between emoji, and a byte order mark at the start."""

_PRIVATE: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")

_CYRILLIC: Final = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
_CYRILLIC_CAPITALS: Final = "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
_GREEK: Final = "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
_LATIN: Final = "aeopcyxijshdqw" + "ABEKMHOPCTYXIJS" + "oABEZHIKMNOPTYX"
_LOOK_ALIKE: Final = _CYRILLIC + _CYRILLIC_CAPITALS + _GREEK
_FOLDED: Final = str.maketrans(_LOOK_ALIKE, _LATIN)

_MIXED: Final = re.compile(f"[A-Za-z][{_LOOK_ALIKE}]|[{_LOOK_ALIKE}][A-Za-z]")
_STYLED: Final = re.compile("[\U0001d400-\U0001d7ff\uff21-\uff5a\u24b6-\u24e9]{4}")
"""Letters of mathematics, full width or in circles, so many in a row that they write a word."""

UNSEEN: Final = (
    (_TAGS, "holds tag characters, which nobody sees"),
    (_BIDI, "holds marks that change the order of what is seen"),
    (_ZERO_WIDTH, "holds characters without width, which nobody sees"),
    (_SELECTORS, "holds selectors, which nobody sees"),
    (_TERMINAL, "holds control characters"),
    (_PRIVATE, "holds characters of no agreed meaning"),
    (_MIXED, "mixes alphabets within a word"),
    (_STYLED, "writes words in letters that look like others"),
    (_FAR, "goes on far out of sight"),
    (_COMMENT, "holds a comment or a style that hides text"),
)
"""What hides text, and how that is said."""

UNSEEN_ASCII: Final = tuple((pattern, what) for pattern, what in UNSEEN if pattern in (_TERMINAL, _FAR, _COMMENT))

NOT_IN_GREETINGS: Final = tuple(one for one in PHRASES if one.meaning not in (ADDRESSES, OTHER_TOOLS, PUSHES))

_SENTENCE: Final = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?:[-*\u2022#]|\d+[.)])\s")
_WORD: Final = re.compile(r"[a-z]{2,}")


def suspicion(definition: Mapping[str, object]) -> str:
    """Why a person should look at this tool before a model does; empty where nothing stands out."""
    left = MOST_CHARACTERS
    for part, value in definition.items():
        for text in () if part in _UNREAD else _texts(value):
            left -= len(text)
            if left < 0:
                return "its texts are too long to be looked through"
            if found := _hidden_in(text) or _said_in(_as_read(text)):
                return f"its {part if part in _PARTS else 'definition'} {found}"
    return ""


def suspicion_of_greeting(text: str) -> str:
    """The same of what a server says to the model when it is met, as it may: how its tools are used, and when."""
    found = _hidden_in(text) or _said_in(_as_read(text), NOT_IN_GREETINGS)
    return f"it {found}" if found else ""


def rules_mark() -> str:
    """Another word with every change of the rules."""
    folder = Path(__file__).parent
    return sha256(b"".join((folder / name).read_bytes() for name in _RULES)).hexdigest()[:16]


def _texts(part: object) -> Iterator[str]:
    """Every text and every property's name."""
    pending = [part]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            kept = {str(key): inner for key, inner in value.items() if not (key in _UNREAD and isinstance(inner, str))}
            pending += kept.values()
            yield from (key.replace("_", " ") for key in kept)


def _hidden_in(text: str) -> str:
    if text.isascii() and text.isprintable() and len(text) < SHORT and "<" not in text:
        return ""
    return next((what for pattern, what in (UNSEEN_ASCII if text.isascii() else UNSEEN) if pattern.search(text)), "")


def _as_read(text: str) -> str:
    """In small letters of one alphabet, without what is unseen."""
    if text.isascii():
        return text.lower()
    return visible(unicodedata.normalize("NFKC", text)).translate(_FOLDED).lower()


def _said_in(text: str, phrases: Sequence[Phrase] = PHRASES) -> str:
    if len(text) < SHORTEST_PHRASE or WORDS.isdisjoint(_WORD.findall(text)):
        return ""
    for sentence in _pieces(text):
        words = frozenset(_WORD.findall(sentence))
        for phrase in phrases:
            if not phrase.words.isdisjoint(words) and phrase.is_said_in(sentence):
                return phrase.meaning
    return ""


def _pieces(text: str) -> Iterator[str]:
    """The sentences, each on one line; of a long one, pieces that overlap by a half."""
    for sentence in _SENTENCE.split(text):
        flat = " ".join(sentence.split())
        for start in range(0, max(1, len(flat) - LONGEST_SENTENCE // 2), LONGEST_SENTENCE // 2):
            yield flat[start : start + LONGEST_SENTENCE]
