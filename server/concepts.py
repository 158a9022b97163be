"""What a sentence of a definition speaks of: concepts, by the words of fifteen languages in `words/concepts.tsv`.

A line has a concept, a language and its forms, divided by commas. A form may have several words; one that ends in "-"
stands for every word that begins so. Forms of UNSPACED_LANGUAGES are found anywhere. At one place the longest form
is taken. The concept "-" has forms that mean nothing, so that their words are not taken for something else. Knows no rule.

Law: the time is linear in the text.
"""

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, TypeAlias

from server.clean import visible

LONGEST_ENDING: Final = 8
"""Letters that may follow a form that ends in "-"."""

SHORTEST_STEM: Final = 2
NEGATED_WORDS: Final = 10
"""How far "not" reaches, where no stop ends it before."""

HUSHED_WORDS: Final = 4
"""How far "not" reaches a word for telling, so that nothing is to be told."""

MOST_KNOWN_WORDS: Final = 16384
"""Different words whose lookup is remembered."""

_CYRILLIC: Final = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
_CYRILLIC_CAPITALS: Final = "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
_GREEK: Final = "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
_LATIN: Final = "aeopcyxijshdqw" + "ABEKMHOPCTYXIJS" + "oABEZHIKMNOPTYX"
LOOK_ALIKE: Final = _CYRILLIC + _CYRILLIC_CAPITALS + _GREEK
_FOLDED: Final = str.maketrans(LOOK_ALIKE + "\u2019", _LATIN + "'")

UNSPACED_LANGUAGES: Final = frozenset({"zh", "ja", "ko", "ar", "hi"})
"""Of which forms are found anywhere: they put no spaces between words, or write small words together with the next."""

_UNSPACED: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0600-\u06ff\u0900-\u097f"
_HAS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_SAYS_NOT_LAST: Final = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_WORD: Final = re.compile(rf"[^\W{_UNSPACED}]+|[,;:()\u2014]")
_CLAUSE: Final = re.compile(r"[,\u3001\uff0c;:()]")
_STOPS: Final = frozenset(";:()\u2014")
_TURNS: Final = frozenset({"but", "then", "because", "since", "sondern", "mais", "sino", "mas", "ma", "\u043do"})
"""Words after which "not" has ended."""


def as_read(text: str) -> str:
    """In small letters of one alphabet, without accents and what is unseen."""
    if text.isascii():
        return text.lower()
    seen = visible(unicodedata.normalize("NFKC", text)).translate(_FOLDED).lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", seen)))


def words_of(sentence: str) -> list[str]:
    """Words and stops; of scripts without spaces nothing."""
    return _WORD.findall(sentence)


@dataclass(frozen=True, slots=True)
class Said:
    """The concepts of one sentence, as bits: those that it affirms, and those that it denies."""

    affirmed: int = 0
    denied: int = 0


@dataclass(frozen=True, slots=True)
class _Forms:
    """What may begin with a word: the bits of the word alone, and what follows it in longer forms, the longest first."""

    alone: int
    longer: Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]
    open_ended: tuple[tuple[tuple[str, ...], int], ...]


_NOTHING: Final = _Forms(0, {}, ())


class Concepts:
    """The concepts of one table. Bits that the caller gives besides words (`extra`) follow those of the table."""

    def __init__(self, rows: Sequence[tuple[str, str, Sequence[str]]], extra: Sequence[str] = ()) -> None:
        names = dict.fromkeys([concept for concept, _, _ in rows if concept != "-"])
        self.bits: Mapping[str, int] = {name: 1 << place for place, name in enumerate((*names, *extra))}
        english: _Drafts = defaultdict(dict)
        foreign: _Drafts = defaultdict(dict)
        self._anywhere: dict[str, int] = {}
        for concept, language, forms in rows:
            bit = self.bits.get(concept, 0)
            for form in map(as_read, _spelt_out(forms)):
                if language in UNSPACED_LANGUAGES:
                    self._anywhere[form] = self._anywhere.get(form, 0) | bit
                    continue
                first, *rest = _words(form)
                for spaced in (
                    (english,) if language == "en" else (foreign, english) if language == "ru" else (foreign,)
                ):
                    spaced[first][tuple(rest)] = spaced[first].get(tuple(rest), 0) | bit
        self._english_drafts = english
        self._english = functools.lru_cache(MOST_KNOWN_WORDS)(_Spaced(english))
        self._foreign = functools.lru_cache(MOST_KNOWN_WORDS)(_Spaced(foreign))
        self._unspaced = re.compile("|".join(map(re.escape, sorted(self._anywhere, key=len, reverse=True))))
        self._not = self.bits["not"]
        self._tell = self.bits["tell"]
        self._verbs = (
            self.bits["carry"] | self.bits["read"] | self.bits["tell"] | self.bits["obey"] | self.bits["force"]
        )

    def anchors(self, bits: int) -> Mapping[str, tuple[frozenset[str], ...]]:
        """The words of each English form with any of these bits, by the longest of them."""
        found: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        for first, rests in self._english_drafts.items():
            for rest, own in rests.items():
                if own & bits:
                    found[max((first, *rest), key=len)].append(frozenset((first, *rest)))
        return {anchor: tuple(forms) for anchor, forms in found.items()}

    def mask(self, names: str) -> int:
        """The bits of concepts that are divided by "|"."""
        return functools.reduce(int.__or__, (self.bits[name] for name in names.split("|")))

    def said(self, sentence: str, words: Sequence[str]) -> Said:
        """What a sentence says, of which `words` are what `words_of` makes."""
        affirmed, denied = self._in_words(words)
        if not sentence.isascii() and _HAS_UNSPACED.search(sentence):
            more, less = self._in_script(sentence)
            affirmed, denied = affirmed | more, denied | less
        return Said(affirmed, denied)

    def _in_words(self, words: Sequence[str]) -> tuple[int, int]:
        forms = self._foreign if _is_foreign(words) else self._english
        affirmed = denied = place = 0
        ends = turn = -1  # where "not" ends at the latest; a place where a new verb ends it
        while place < len(words):
            word = words[place]
            length, bits = _at(forms(word), words, place)
            if not bits:
                if word == ",":
                    turn = place + 2
                elif word in _STOPS or word in _TURNS:
                    ends = -1
            elif place < ends and not (place < turn and bits & self._verbs):
                denied |= bits if ends - place > NEGATED_WORDS - HUSHED_WORDS else bits & ~self._tell
            else:
                affirmed |= bits
                if bits & self._verbs and place < turn:
                    ends = -1
            if bits & self._not:
                ends = place + length + NEGATED_WORDS
            place += length
        return affirmed, denied

    def _in_script(self, sentence: str) -> tuple[int, int]:
        says_not_last = bool(_SAYS_NOT_LAST.search(sentence))
        affirmed = denied = 0
        for clause in _CLAUSE.split(sentence):
            is_denied, met, after = False, 0, 0
            for found in self._unspaced.finditer(clause):
                bits = self._anywhere[found[0]]
                is_denied = is_denied or bool(bits & self._not)
                met, after = (met, after | bits) if is_denied else (met | bits, after)
            if is_denied and says_not_last:
                met, after = 0, met | after
            affirmed, denied = affirmed | met, denied | after
        return affirmed, denied


class _Spaced:
    """Forms of languages that put spaces between words, by their first word."""

    def __init__(self, drafts: "_Drafts") -> None:
        self._drafts = drafts

    def __call__(self, word: str) -> _Forms:
        """What may begin with the word."""
        stems = (word[:end] + "-" for end in range(len(word), max(SHORTEST_STEM, len(word) - LONGEST_ENDING) - 1, -1))
        drafts = [self._drafts[first] for first in (word, *stems) if first in self._drafts]
        if not drafts:
            return _NOTHING
        alone = next((draft[()] for draft in drafts if () in draft), 0)
        forms = sorted(
            ((rest, bits) for draft in drafts for rest, bits in draft.items() if rest), key=lambda form: -len(form[0])
        )
        longer: defaultdict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        for form in forms:
            longer[form[0][0]].append(form)
        open_ended = tuple(form for form in forms if form[0][0].endswith("-"))
        return _Forms(alone, {second: tuple(found) for second, found in longer.items()}, open_ended)


_Drafts: TypeAlias = defaultdict[str, dict[tuple[str, ...], int]]


def _at(forms: _Forms, words: Sequence[str], place: int) -> tuple[int, int]:
    """How many words a form takes here, and what it means."""
    if forms.longer and place + 1 < len(words):
        for rest, bits in (*forms.longer.get(words[place + 1], ()), *forms.open_ended):
            if len(rest) == 1 and rest[0] == words[place + 1]:
                return 2, bits
            if place + len(rest) < len(words) and _met(rest, words[place + 1 : place + 1 + len(rest)]):
                return 1 + len(rest), bits
    return 1, forms.alone


def may_be_foreign(words: Set[str]) -> bool:
    """Whether a text in which these words are may hold a sentence that is not in English."""
    return not word_list("not english").isdisjoint(words)


def _is_foreign(words: Sequence[str]) -> bool:
    """Whether more small words are of another language than of English."""
    different = frozenset(words)
    return len(word_list("foreign") & different) > len(word_list("english") & different)


def _spelt_out(forms: Iterable[str]) -> Iterator[str]:
    """Each form with one of the words that a stroke divides."""
    for form in forms:
        for words in product(*(piece.split("/") for piece in form.split())):
            yield " ".join(words)


def _words(form: str) -> list[str]:
    return [
        word
        for piece in form.split()
        for word in ([piece] if piece.endswith("-") else re.findall(rf"[^\W{_UNSPACED}]+", piece))
    ]


def _met(rest: Sequence[str], words: Sequence[str]) -> bool:
    return all(
        word.startswith(form[:-1]) if form.endswith("-") else word == form
        for form, word in zip(rest, words, strict=True)
    )


def table(name: str) -> Iterator[list[str]]:
    """The lines of a table of this package, but for empty ones and remarks, cut into their columns. Nothing is imported for
    it: listings are judged while another thread imports the SDK."""
    text = Path(__file__).with_name("words").joinpath(name).read_text(encoding="utf-8")
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """One of the lists of `words/lists.tsv`."""
    return next(frozenset(words.split(" ")) for of, words in table("lists.tsv") if of == name)
