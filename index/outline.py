"""The words of each tool in their order, small enough to keep for 50,000 tools: one character a word.

Whether a word, or two words side by side, occur in a tool is then a search in a string, which costs well under a
microsecond. BM25F needs none of this; the rules of `ranking.py` do. Letters belong to one owner's tools: the same word
may have another letter elsewhere.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from index.text import Stem, is_stop_word, runs, term_of, words_of_run

_GAP = "\0"  # between texts: the end of one and the start of the next are no pair
_FIRST = 1
_SURROGATES = range(0xD800, 0xE000)  # left out, so that every text of letters can be written and shown
_MOST = 0x10FFFF - len(_SURROGATES)  # a million words; what comes after them gets no letter and is not found


class Alphabet:
    """A letter for each different word. Grows while tools are read, and is only looked up afterwards."""

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

    def words(self) -> Collection[str]:
        """Every word that has been given a letter, in the order of their coming."""
        return self._letters.keys()

    def by_letter(self) -> dict[str, str]:
        """The word of each letter."""
        return {letter: word for word, letter in self._letters.items()}


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


class Scribe:
    """Writes the texts of one owner's tools in letters. What has been written once costs one look-up afterwards."""

    def __init__(self, stem: Stem) -> None:
        self.alphabets = Alphabets(Alphabet(), Alphabet())
        self._stem = stem
        self._written: dict[str, tuple[str, str]] = {}

    def write(self, text: str) -> tuple[str, str]:
        """The letters of the text's words, and those of its terms, in order; stop words are left out."""
        written = self._written
        pairs = [written.get(run) or self._written_anew(run) for run in runs(text)]
        return "".join([words for words, _ in pairs]), "".join([terms for _, terms in pairs])

    def _written_anew(self, run: str) -> tuple[str, str]:
        kept = [word for word in words_of_run(run) if not is_stop_word(word)]
        pair = (
            "".join(map(self.alphabets.words.letter, kept)),
            "".join(self.alphabets.terms.letter(term_of(word, self._stem)) for word in kept),
        )
        self._written[run] = pair
        return pair


def outline(written: Sequence[tuple[str, str]], name: str, server: str) -> Outline:
    """The outline of a tool from its texts as they were written, in any order, and from the terms of its name and server."""
    return Outline(
        words=_once("".join([words for words, _ in written])),
        terms=_GAP.join([terms for _, terms in written]),
        name=_once(name),
        server=_once(server),
    )


def _once(letters: str) -> str:
    return "".join(dict.fromkeys(letters))
