"""How text becomes words: Unicode folding, identifiers taken apart, scripts without spaces cut into pairs.

Tools and queries pass through the same functions, so what is folded here is folded on both sides. Knows no schema,
no weight and no library; the stemmer is handed in.

Laws:
1. A word is never empty, holds no white space and no punctuation, and has at most MAX_WORD_CHARS characters.
2. Any string is accepted, also one with lone surrogates; they separate words.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

MAX_WORD_CHARS = 40  # longer runs are data (hashes, base64), not words; the longest names of real tools have 30

Stem: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Folded letters between spaces: one word, or a stretch of a script that puts no spaces between words."""

    text: str
    unspaced: bool = False


# Vowel signs and tone marks are marks to `re`, yet inside words: the scripts of India and Sri Lanka, Thai, Lao, Burmese,
# Khmer.
_MARKS = (
    r"\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    r"\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d"
    r"\u17b4-\u17d3"
)
_RUN = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
# A letter and the marks on it: what a pair of letters is made of.
_CLUSTER = re.compile(rf".[{_MARKS}]*")
# Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic; the dot below Hindi letters; joiners: people leave
# them out when they search.
_OPTIONAL_MARKS = re.compile(r"[\u093c\u200c\u200d\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]+")
# One letter written in two ways: the Arabic feminine and final ya, the Persian kaf and ya, the Hindi nasal;
# letters of Latin that have no accent to lose, and would else cut a word in two.
_SAME_LETTER = str.maketrans(
    {"ة": "ه", "ى": "ي", "ک": "ك", "ی": "ي", "ँ": "ं"}
    | {
        "ß": "ss",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "Œ": "Oe",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
    }
    | {"ı": "i", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th"}
)
_PIECE = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
# Thai to Khmer, Kana, Han, Hangul: written without spaces, or with spaces that say little.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+"
)
# Words that say how a request is put, not what it asks for. What names an action or a state ("get", "up", "all",
# "off", "not") stays. The last line is what a word's apostrophe cuts off.
_STOP_WORD_TEXT = """
    a about also am an and any are as at be because been being both but by can could did do does doing each few for
    from had has have having he her here him his how i if in into is it its itself just like many me might more much
    must my myself need of on or other our please shall she should since so some such than that the their them then
    there these they this those though through to too upon us very want wants was we were what when where whether
    which while who whom whose why will with within would you your
    d ll m re s t ve
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())

_KNOWN_RUNS = 32_768  # a catalogue of 50,000 tools has about 30,000 different words
_KNOWN_CHARS = 64  # a longer run is no word that comes again; it must not fill the memory


def words(text: str) -> Iterator[str]:
    """The words of a text in order: `getUserById` gives get, user, by, id and getuserbyid."""
    for run in runs(text):
        yield from words_of_run(run)


def runs(text: str) -> list[str]:
    """The text's runs of letters and digits in order: what stands between spaces and signs, folded."""
    return _RUN.findall(fold(text))


def words_of_run(run: str) -> tuple[str, ...]:
    """The words of one run in order."""
    return _known_words(run) if len(run) <= _KNOWN_CHARS else _words_of_run(run)


def _words_of_run(run: str) -> tuple[str, ...]:
    return tuple(word for stretch in _stretches_of_run(run) for word in words_of(stretch))


_known_words = functools.lru_cache(_KNOWN_RUNS)(_words_of_run)
"""A pure memo: the texts of a catalogue say the same few thousand words again and again."""


def stretches(text: str) -> Iterator[Stretch]:
    """The words of a text in order, with what is written without spaces still in one piece."""
    for run in runs(text):
        yield from _stretches_of_run(run)


def words_of(stretch: Stretch) -> Iterator[str]:
    """A word, or the pairs of letters of what is written without spaces: also a word of two letters is found in it."""
    if not stretch.unspaced:
        yield stretch.text[:MAX_WORD_CHARS]
        return
    letters = _CLUSTER.findall(stretch.text)
    if len(letters) == 1:
        yield stretch.text[:MAX_WORD_CHARS]
    for first, second in pairwise(letters):
        yield f"{first}{second}"[:MAX_WORD_CHARS]


def terms(text: str, stem: Stem) -> Iterator[str]:
    """The words that are indexed and looked up: without stop words, plain English-looking ones stemmed."""
    return (term_of(word, stem) for word in words(text) if not is_stop_word(word))


def term_of(word: str, stem: Stem) -> str:
    """The term that a word is indexed as."""
    return stem(word) if word.isascii() and word.isalpha() else word


def is_stop_word(word: str) -> bool:
    """Whether the word says how a request is put, not what it asks for."""
    return word in _STOP_WORDS


def fold(text: str) -> str:
    """The text with one spelling for what people spell in several ways. Case is left, it shows where words join."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _OPTIONAL_MARKS.sub("", decomposed)).translate(_SAME_LETTER)


def _stretches_of_run(run: str) -> Iterator[Stretch]:
    if run.islower() and run.isascii() and run.isalpha():  # most words by far
        yield Stretch(run)
        return
    pieces = _PIECE.findall(run)
    for piece in pieces:
        if piece.isascii():
            yield Stretch(piece.lower())
        else:
            yield from _stretches_of_piece(piece)
    if len(pieces) > 1 and run.isascii():
        yield Stretch(run.lower())


def _stretches_of_piece(piece: str) -> Iterator[Stretch]:
    end = 0
    for unspaced in _UNSPACED.finditer(piece):
        if unspaced.start() > end:
            yield Stretch(piece[end : unspaced.start()].casefold())
        yield Stretch(unspaced.group(), unspaced=True)
        end = unspaced.end()
    if end < len(piece):
        yield Stretch(piece[end:].casefold())
