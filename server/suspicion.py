"""Whether the definition of a tool speaks to the model behind the reader's back. Pure; knows one definition at a time.

Every text of a definition is looked through: titles, descriptions, parameters' names and texts, values, annotations. What
may not be seen is looked for in the text as it is, phrases in the text as a reader would take it. A hint for a person,
never the boundary: policy, pins and limits are that. The rules are this file and those beside it.

Laws
1. Any definition that may enter the catalogue is answered, in time linear in its text; nothing raises.
2. What is too long to be looked through is suspicious for that.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from hashlib import sha256
from pathlib import Path
from typing import Final

from server.concepts import LOOK_ALIKE, Said, as_read
from server.encoded import SHORTEST_RUN, decoded
from server.suspicion_phrases import PHRASES, WORDS
from server.suspicion_score import amounts_to
from server.suspicion_signs import LONGEST_SENTENCE, Reader, Text, pieces
from server.suspicion_words import ADDRESSES, OTHER_TOOLS, PUSHES

MOST_CHARACTERS: Final = 64 * 1024
"""Of all texts of one definition. The largest of a real server has 20 KiB."""

SHORT: Final = 60
"""Characters. A plain text below this hides nothing: it can only say something."""

FEWEST_STROKES: Final = 4
"""Underscores of a name that is a sentence. Names of real tools have up to four words."""

SHORTEST_ORDER: Final = 24
"""Of a text in ASCII in which concepts may meet; other scripts say more in fewer characters."""

MOST_KNOWN_TEXTS: Final = 8192
"""Short texts whose look is remembered: schemas say the same few words again and again."""

CODED: Final = "holds text in a code"

_UNREAD: Final = frozenset({"$schema", "$id", "$ref", "pattern", "icons", "_meta"})
"""Never rendered, or meant to hold odd characters."""

_RULES: Final = ("suspicion*.py", "concepts.py", "encoded.py", "clean.py", "words/*.tsv")
"""All that decides here, in this package."""

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

_MIXED: Final = re.compile(f"[A-Za-z][{LOOK_ALIKE}]|[{LOOK_ALIKE}][A-Za-z]")
_STYLED: Final = re.compile("[\U0001d400-\U0001d7ff\uff21-\uff5a\u24b6-\u24e9]{4}")
"""Letters of mathematics, full width or in circles, so many in a row that they write a word."""

_WORD: Final = re.compile(r"[a-z]{2,}")

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


def suspicion(definition: Mapping[str, object], others: Set[str] = frozenset()) -> str:
    """Why a person should look at this tool before a model does; empty where nothing stands out.

    `others` are the names of tools that only other servers have, in small letters.
    """
    texts = []
    left = MOST_CHARACTERS
    for part, text in all_texts(definition):
        left -= len(text)
        if left < 0:
            return "its texts are too long to be looked through"
        found, plain = _looked_at(text) if len(text) < SHORT else _looked_at.__wrapped__(text)
        if found:
            return _sentence(part, found)
        if plain:
            texts.append((part, plain))
    worst = amounts_to(read(definition, texts, others))
    return _sentence(texts[worst[0]][0], worst[1]) if worst else ""


def read(definition: Mapping[str, object], texts: Iterable[tuple[str, str]], others: Set[str]) -> Iterator[list[Said]]:
    """What each text of a definition says, given as it is read and with the part that it is in."""
    description = definition.get("description")
    first = next(pieces(as_read(description[:LONGEST_SENTENCE])), "") if isinstance(description, str) else ""
    reader = Reader(str(definition.get("name")), first, frozenset(_parameters(definition.get("inputSchema"))), others)
    return (reader(Text(text, part != "description")) for part, text in texts)


@functools.lru_cache(MOST_KNOWN_TEXTS)
def _looked_at(text: str) -> tuple[str, str]:
    """What is wrong with the text as it stands, and how it is read, if it may say something."""
    if found := _hidden_in(text) or _coded_in(text):
        return found, ""
    plain = as_read(text)
    return "", plain if _may_say(plain) else ""


def _may_say(text: str) -> bool:
    return len(text) >= SHORTEST_ORDER or not text.isascii() or not WORDS.isdisjoint(_WORD.findall(text))


def all_texts(definition: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((part, _spelt(text)) for part, value in definition.items() if part not in _UNREAD for text in _texts(value))


def _spelt(text: str) -> str:
    """With spaces where a name is a sentence."""
    return text.replace("_", " ") if text.count("_") >= FEWEST_STROKES and " " not in text else text


def _sentence(part: str, found: str) -> str:
    return f"its {part if part in _PARTS else 'definition'} {found}"


def _parameters(part: object) -> Iterator[str]:
    """The names of all parameters, in small letters."""
    pending = [part]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
            properties = value.get("properties")
            if isinstance(properties, dict):
                yield from (str(name).lower() for name in properties)


def suspicion_of_greeting(text: str) -> str:
    """The same of what a server says to the model when it is met, as it may: how its tools are used, and when."""
    found = _hidden_in(text) or _coded_in(text) or _unfit_in_greeting(as_read(text))
    return f"it {found}" if found else ""


def rules_mark() -> str:
    """Another word with every change of the rules."""
    folder = Path(__file__).parent
    files = sorted(path for pattern in _RULES for path in folder.glob(pattern))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


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


def _coded_in(text: str) -> str:
    return CODED if len(text) >= SHORTEST_RUN and any(decoded(text)) else ""


def _unfit_in_greeting(text: str) -> str:
    for sentence in pieces(text):
        words = frozenset(_WORD.findall(sentence))
        for phrase in NOT_IN_GREETINGS:
            if not phrase.words.isdisjoint(words) and phrase.is_said_in(sentence):
                return phrase.meaning
    return ""
