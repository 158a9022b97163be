"""The words of each tool in their order, small enough to keep for 50,000 tools: one character a word.

Whether a word, or two words side by side, occur in a tool is then a search in a string, which costs well under a
microsecond. BM25F needs none of this; the rules of `ranking.py` do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from index.text import Stem, is_stop_word, term_of, words

_GAP = "\0"  # between texts: the end of one and the start of the next are no pair
_FIRST = 1
_SURROGATES = range(0xD800, 0xE000)  # left out, so that every text of letters can be written and shown
_MOST = 0x10FFFF - len(_SURROGATES)  # a million words; what comes after them gets no letter and no bonus


class Alphabet:
    """A letter for each different word. Grows while an index is built, and is only read afterwards."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, word: str) -> str:
        """The word's letter, given to it now if it has none."""
        known = self._letters.get(word)
        if known is None:
            number = len(self._letters) + _FIRST
            known = "" if number > _MOST else chr(number if number < _SURROGATES.start else number + len(_SURROGATES))
            self._letters[word] = known
        return known

    def known(self, word: str) -> str:
        """The word's letter; empty when no tool has the word."""
        return self._letters.get(word, "")

    def __contains__(self, word: str) -> bool:
        return word in self._letters

    def words(self) -> Iterable[str]:
        """Every word that has been given a letter, in the order of their coming."""
        return self._letters.keys()


@dataclass(frozen=True, slots=True)
class Outline:
    """One tool: its words as they are written, and its terms (stemmed), in order; then the terms of name and server."""

    words: str
    terms: str
    name: str
    server: str


@dataclass(frozen=True, slots=True)
class Alphabets:
    """The letters of words as written, and those of terms."""

    words: Alphabet
    terms: Alphabet


def outline(texts: Sequence[str], name: str, server: str, alphabets: Alphabets, stem: Stem) -> Outline:
    """The outline of a tool from its indexed texts, in any order, and from its name and server."""
    kept = [[word for word in words(text) if not is_stop_word(word)] for text in texts]
    letter_of_term, letter_of_word = alphabets.terms.letter, alphabets.words.letter
    return Outline(
        words="".join(dict.fromkeys(letter_of_word(word) for part in kept for word in part)),
        terms=_GAP.join("".join(letter_of_term(term_of(word, stem)) for word in part) for part in kept),
        name=_letters(name, alphabets.terms, stem),
        server=_letters(server, alphabets.terms, stem),
    )


def _letters(text: str, terms: Alphabet, stem: Stem) -> str:
    return "".join(dict.fromkeys(terms.letter(term_of(word, stem)) for word in words(text) if not is_stop_word(word)))
