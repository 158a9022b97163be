"""What words of ten languages mean in English, as far as the trade needs it: `words/lexicon.tsv`, for a person to correct.

A line has an English word or phrase and its forms in each language, divided by commas. A form that ends in "-" stands
for every word that begins so (and is not much longer); in Korean it is the stem of a verb. Chinese, Japanese and Korean
forms are found anywhere in a stretch of letters, a single Korean syllable only at its start. Infinitives of Spanish and
Portuguese, dictionary forms of Japanese verbs and bare words of Arabic stand for their inflected ones (`inflection.py`).
The line "*" has words that carry no meaning of their own: they only tell the language. The line "=" has words that are
English as well, so that they do not even tell that.

Laws:
1. A meaning is offered besides what was said, never instead of it.
2. A text in Latin letters is taken for another language only if more of it points there than to English.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate, pairwise, takewhile
from typing import TypeAlias

from index.inflection import ANY_LANGUAGE, is_ending, readings, spellings
from index.text import MAX_WORD_CHARS, Stretch, fold, is_stop_word, stretches

NO_MEANING = "*"
_ALSO_ENGLISH = "="
MAX_ENDING_CHARS = 3  # of a word that begins with a short form; after a longer form, as many as the form has
MIN_COMPOUND_CHARS = 4  # a rest that short is an ending, not the second half of a compound
MAX_FORM_CHARS = 16  # of a form in a script without spaces

_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "ko"})
_INFLECTED = frozenset({"hi"})  # every word takes endings here, so that no form says so itself
_CERTAIN, _BORROWED = 2, 1  # how much a word tells of the language of a text
_LINKS = ("", "s", "es", "n", "en")  # between the halves of a German compound


@dataclass(frozen=True, slots=True)
class Meaning:
    """A part of a query and what it means in English, the likeliest first. Empty: not known. NO_MEANING: nothing."""

    said: tuple[Stretch, ...]
    english: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """Words to be met one after the other; those of `open_ended` may go on."""

    words: tuple[str, ...]
    open_ended: tuple[bool, ...]
    language: str
    english: str


@dataclass(frozen=True, slots=True)
class _Found:
    """Forms of one language that were met at one place, all of the same length."""

    language: str
    length: int  # in words
    english: tuple[str, ...]
    rest: str  # what follows the form within the last word


_Forms: TypeAlias = Mapping[str, Sequence[_Form]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All forms: of languages with spaces by their first word, of the others as they are."""

    spaced: _Forms
    unspaced: Mapping[str, Mapping[str, tuple[str, ...]]]  # form: language: meanings
    english: frozenset[str]  # words that tell of no other language

    def read(self, text: str) -> Iterator[Meaning]:
        """The text part by part, with what each part means."""
        parts = tuple(stretches(text))
        kana = any("\u3040" <= letter <= "\u30ff" for letter in text)
        language = self._latin_language(parts)
        place = 0
        while place < len(parts):
            if parts[place].unspaced:
                together = tuple(takewhile(lambda part: part.unspaced, parts[place:]))
                yield from self._unspaced_meanings(together, ("ja", "zh", "ko") if kana else ("zh", "ja", "ko"))
                place += len(together)
                continue
            found = self._best_at(parts, place, language)
            if found is None:
                yield from self._unknown(parts[place], language)
                place += 1
                continue
            yield Meaning(parts[place : place + found.length], found.english)
            yield from self._second_half(found)
            place += found.length

    def _best_at(self, parts: Sequence[Stretch], place: int, language: str) -> _Found | None:
        """The longest form here: in Latin letters of the text's own language, else of any."""
        if parts[place].text.isascii():
            return self._found_at(parts, place).get(language) if language else None
        found = self._found_at(parts, place)
        return max(found.values(), key=lambda one: one.length, default=None)

    def _latin_language(self, parts: Sequence[Stretch]) -> str:
        """The language that most of the words in Latin letters belong to, most exactly; empty for English."""
        votes, english_here, meanings, rests = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        english = 0
        for place, part in enumerate(parts):
            if part.unspaced or not part.text.isascii():
                continue
            points = self._points_to_english(part.text)
            english += points
            for language, found in self._found_at(parts, place, inflected=False).items():
                votes[language] += 0 if points else _CERTAIN
                english_here[language] += points
                meanings[language] += found.english != (NO_MEANING,)
                rests[language] += len(found.rest)

        def rank(vote: tuple[str, int]) -> tuple[int, int, int, str]:
            return vote[1], meanings[vote[0]], -rests[vote[0]], vote[0]

        language, count = max(votes.items(), key=rank, default=("", 0))
        return language if count > english - english_here[language] and meanings[language] else ""

    def _points_to_english(self, word: str) -> int:
        """A word of the trade says less than one such as "the": other languages borrow it."""
        if is_stop_word(word):
            return _CERTAIN
        return _BORROWED if word in self.english or word.removesuffix("s") in self.english else 0

    def _found_at(self, parts: Sequence[Stretch], place: int, *, inflected: bool = True) -> dict[str, _Found]:
        """For each language the longest forms that begin here."""
        best: dict[str, tuple[tuple[int, bool, int], dict[str, None], str]] = {}
        word = parts[place].text
        for first, only in readings(word) if inflected else ((word, ANY_LANGUAGE),):
            for end in range(len(first), 0, -1):
                for form in self.spaced.get(first[:end], ()):
                    if only not in (ANY_LANGUAGE, form.language):
                        continue
                    rest = _met(form, (first, *(part.text for part in parts[place + 1 : place + len(form.words)])))
                    if rest is None:
                        continue
                    rank = (len(form.words), only == ANY_LANGUAGE, end)
                    known = best.get(form.language)
                    if known is None or rank > known[0]:
                        best[form.language] = (rank, {form.english: None}, rest)
                    elif rank == known[0]:
                        known[1][form.english] = None
        return {
            language: _Found(language, rank[0], tuple(english), rest)
            for language, (rank, english, rest) in best.items()
        }

    def _second_half(self, found: _Found) -> Iterator[Meaning]:
        """What the rest of a compound means: Kalender-eintrag."""
        if len(found.rest) < MIN_COMPOUND_CHARS or found.length > 1:
            return
        for link in _LINKS:
            half = Stretch(found.rest.removeprefix(link))
            second = self._found_at((half,), 0).get(found.language) if half.text else None
            if second is not None:
                yield Meaning((half,), second.english)
                return

    def _unknown(self, part: Stretch, language: str) -> Iterator[Meaning]:
        """A word that no form begins; the second half of a German compound may be known all the same."""
        longest = min(len(part.text), MAX_WORD_CHARS) if language == "de" else 0
        for start in range(MIN_COMPOUND_CHARS, longest - MIN_COMPOUND_CHARS + 1):
            half = Stretch(part.text[start:])
            found = self._found_at((half,), 0, inflected=False).get(language)
            if found is not None and len(found.rest) <= MAX_ENDING_CHARS and found.english != (NO_MEANING,):
                yield Meaning((Stretch(part.text[:start]),), ())
                yield Meaning((half,), found.english)
                return
        yield Meaning((part,), ())

    def _unspaced_meanings(self, parts: Sequence[Stretch], languages: Sequence[str]) -> Iterator[Meaning]:
        """The longest form at each place, also over spaces; what lies between forms has no meaning that we know."""
        text = "".join(part.text for part in parts)
        starts = frozenset(accumulate((len(part.text) for part in parts), initial=0))
        unknown = place = 0
        while place < len(text):
            form, english = self._longest_form(text, place, languages, starts)
            if not form:
                place += 1
                continue
            yield from _between(text, unknown, place, starts)
            end = place + len(form)
            yield Meaning(tuple(_pieces(text, place, end, starts)), english)
            unknown = place = end
        yield from _between(text, unknown, len(text), starts)

    def _longest_form(
        self, text: str, place: int, languages: Sequence[str], starts: frozenset[int]
    ) -> tuple[str, tuple[str, ...]]:
        is_start = place in starts
        for end in range(min(len(text), place + MAX_FORM_CHARS), place, -1):
            meanings = self.unspaced.get(text[place:end])
            if meanings and (is_start or _may_stand_inside(text[place:end], place, starts)):
                return text[place:end], next(meanings[language] for language in languages if language in meanings)
        return "", ()


def _may_stand_inside(form: str, place: int, starts: frozenset[int]) -> bool:
    """Whether a form may be met within a stretch: in one piece, and not as a single syllable of Korean."""
    if len(form) == 1:
        return not "\uac00" <= form <= "\ud7af"
    return starts.isdisjoint(range(place + 1, place + len(form)))


def _pieces(text: str, start: int, end: int, starts: frozenset[int]) -> Iterator[Stretch]:
    """A part of the text, divided where the user put spaces."""
    places = [start, *(place for place in range(start + 1, end) if place in starts), end]
    return (Stretch(text[first:last], unspaced=True) for first, last in pairwise(places) if last > first)


def _between(text: str, start: int, end: int, starts: frozenset[int]) -> Iterator[Meaning]:
    """What stands between forms: unknown, but for endings and for single letters, which no tool has by themselves."""
    for piece in _pieces(text, start, end, starts):
        is_whole = start in starts and start + len(piece.text) in starts
        follows = start not in starts
        mere = (follows and is_ending(piece.text)) or (len(piece.text) == 1 and not is_whole)
        yield Meaning((piece,), (NO_MEANING,) if mere else ())
        start += len(piece.text)


@functools.cache
def lexicon() -> Lexicon:
    """The lexicon that comes with the package. Read once: it never changes."""
    return read_lexicon(resources.files("index").joinpath("words/lexicon.tsv").read_text("utf-8"))


def read_lexicon(text: str) -> Lexicon:
    """A lexicon from lines of cells: English, then one cell a language as the first line names them."""
    header, *lines = fold(text).splitlines()
    languages = header.split("\t")[1:]
    spaced: dict[str, list[_Form]] = defaultdict(list)
    unspaced: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    english: set[str] = set()
    for line in lines:
        meaning, *cells = line.split("\t")
        if meaning == _ALSO_ENGLISH:
            english.update(part.text for cell in cells for part in stretches(cell))
            continue
        english.update(part.text for part in stretches(meaning))
        for language, cell in zip(languages, cells, strict=True):
            for form in cell.split(","):
                for spelling in spellings(form.strip(), language):
                    if language in _UNSPACED_LANGUAGES and not spelling.isascii():
                        known = unspaced[spelling.replace(" ", "")]
                        known[language] = tuple(dict.fromkeys((*known.get(language, ()), meaning)))
                    else:
                        _add(spaced, spelling, language, meaning)
    return Lexicon(dict(spaced), dict(unspaced), frozenset(english))


def _add(spaced: dict[str, list[_Form]], text: str, language: str, meaning: str) -> None:
    words: list[str] = []
    open_ended: list[bool] = []
    for written in text.split():
        bare = written.removesuffix("-")
        parts = [bare.casefold()] if bare.isalpha() else [part.text for part in stretches(bare)]
        may_go_on = bare != written or language in _INFLECTED
        words += parts
        open_ended += [False] * (len(parts) - 1) + [may_go_on and meaning != NO_MEANING]
    spaced[words[0]].append(_Form(tuple(words), tuple(open_ended), language, meaning))


def _met(form: _Form, words: Iterable[str]) -> str | None:
    """What the last word has beyond the form, when the words are what the form says; None when they are not."""
    rest: str | None = None
    met = 0
    for wanted, may_go_on, word in zip(form.words, form.open_ended, words, strict=False):
        rest = word[len(wanted) :]
        if not word.startswith(wanted) or (rest and not may_go_on) or len(rest) > max(MAX_ENDING_CHARS, len(wanted)):
            return None
        met += 1
    return rest if met == len(form.words) else None
