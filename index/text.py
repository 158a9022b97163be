"""How text becomes words: Unicode folding, identifiers taken apart, scripts without spaces cut into pairs.

Tools and queries pass through the same functions, so what is folded here is folded on both sides. Knows no schema,
no weight and no library; the stemmer is handed in.

Laws:
1. A word is never empty, holds no white space and no punctuation, and has at most MAX_WORD_CHARS characters.
2. Any string is accepted, also one with lone surrogates; they separate words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import TypeAlias

MAX_WORD_CHARS = 40  # longer runs are data (hashes, base64), not words; the longest names of real tools have 30

Stem: TypeAlias = Callable[[str], str]

# Letters and digits. The vowel signs of Indian scripts are marks to `re`, yet inside words.
_RUN = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u0966-\u0dff])+")
# Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic: people leave them out when they search.
_OPTIONAL_MARKS = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_PIECE = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
# Thai to Khmer, Kana, Han, Hangul: written without spaces, or with spaces that say little.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+"
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


def words(text: str) -> Iterator[str]:
    """The words of a text in order: `getUserById` gives get, user, by, id and getuserbyid."""
    for run in _RUN.finditer(_fold(text)):
        yield from _words_of_run(run.group())


def terms(text: str, stem: Stem) -> Iterator[str]:
    """The words that are indexed and looked up: without stop words, plain English-looking ones stemmed."""
    for word in words(text):
        if word not in _STOP_WORDS:
            yield stem(word) if word.isascii() and word.isalpha() else word


def _fold(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _OPTIONAL_MARKS.sub("", decomposed))


def _words_of_run(run: str) -> Iterator[str]:
    if run.islower() and run.isascii() and run.isalpha():  # most words by far
        yield run[:MAX_WORD_CHARS]
        return
    pieces = _PIECE.findall(run)
    for piece in pieces:
        yield from _words_of_piece(piece)
    if len(pieces) > 1 and run.isascii():
        yield run.lower()[:MAX_WORD_CHARS]


def _words_of_piece(piece: str) -> Iterator[str]:
    if piece.isascii():
        yield piece.lower()[:MAX_WORD_CHARS]
        return
    end = 0
    for unspaced in _UNSPACED.finditer(piece):
        if unspaced.start() > end:
            yield piece[end : unspaced.start()].casefold()[:MAX_WORD_CHARS]
        yield from _pairs(unspaced.group())
        end = unspaced.end()
    if end < len(piece):
        yield piece[end:].casefold()[:MAX_WORD_CHARS]


def _pairs(text: str) -> Iterator[str]:
    if len(text) == 1:
        yield text
    for start in range(len(text) - 1):
        yield text[start : start + 2]
