"""What words of ten languages mean in English, as far as the trade needs it: `words/lexicon.tsv`, for a person to correct.

A line has an English word or phrase and its forms in each language, divided by commas. A form that ends in "-" stands
for every word that begins so (and is not much longer). Chinese, Japanese and Korean forms are found anywhere in a
stretch of letters. The line "*" has words that
carry no meaning of their own: they only tell the language. The line "=" has words that are English as well, so that
they do not even tell that.

Laws:
1. A meaning is offered besides what was said, never instead of it.
2. A text in Latin letters is taken for another language only if more of it points there than to English.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TypeAlias

from index.text import Stretch, fold, is_stop_word, stretches

NO_MEANING = "*"
_ALSO_ENGLISH = "="
MAX_ENDING_CHARS = 3  # of a word that begins with a short form; after a longer form, as many as the form has
MIN_COMPOUND_CHARS = 4  # a rest that short is an ending, not the second half of a compound
MAX_FORM_CHARS = 16  # of a form in a script without spaces

_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "ko"})
_INFLECTED = frozenset({"hi"})  # every word takes endings here, so that no form says so itself
_ARABIC_PREFIXES = ("", "ال", "وال", "بال", "لل", "و", "ب", "ل")  # the, and the, with the, to the, and, with, to
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
            part = parts[place]
            if part.unspaced:
                yield from self._unspaced_meanings(part.text, ("ja", "zh", "ko") if kana else ("zh", "ja", "ko"))
                place += 1
                continue
            found = self._best_at(parts, place, language)
            if found is None:
                yield Meaning((part,), ())
                place += 1
                continue
            yield Meaning(parts[place : place + found.length], found.english)
            yield from self._second_half(found)
            place += found.length

    def _best_at(self, parts: Sequence[Stretch], place: int, language: str) -> _Found | None:
        """The longest form here: in Latin letters of the text's own language, else of any."""
        found = self._found_at(parts, place)
        if parts[place].text.isascii():
            return found.get(language)
        return max(found.values(), key=lambda one: one.length, default=None)

    def _latin_language(self, parts: Sequence[Stretch]) -> str:
        """The language that most of the words in Latin letters belong to; empty for English."""
        votes, english_here, has_meaning = Counter[str](), Counter[str](), set[str]()
        stop_words = 0
        for place, part in enumerate(parts):
            if part.unspaced or not part.text.isascii():
                continue
            is_stop = is_stop_word(part.text)
            stop_words += is_stop
            for language, found in self._found_at(parts, place).items():
                votes[language] += not is_stop and part.text not in self.english
                english_here[language] += is_stop
                if found.english != (NO_MEANING,):
                    has_meaning.add(language)
        language, count = max(votes.items(), key=lambda vote: (vote[1], vote[0]), default=("", 0))
        return language if count > stop_words - english_here[language] and language in has_meaning else ""

    def _found_at(self, parts: Sequence[Stretch], place: int) -> dict[str, _Found]:
        """For each language the longest forms that begin here."""
        best: dict[str, tuple[tuple[int, int], dict[str, None], str]] = {}
        for first in _without_prefix(parts[place].text):
            for end in range(len(first), 0, -1):
                for form in self.spaced.get(first[:end], ()):
                    rest = _met(form, (first, *(part.text for part in parts[place + 1 : place + len(form.words)])))
                    if rest is None:
                        continue
                    rank = (len(form.words), end)
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

    def _unspaced_meanings(self, text: str, languages: Sequence[str]) -> Iterator[Meaning]:
        """The longest form at each place; what lies between forms has no meaning that we know."""
        unknown = place = 0
        while place < len(text):
            form, english = self._longest_form(text, place, languages)
            if not form:
                place += 1
                continue
            if place > unknown:
                yield Meaning((Stretch(text[unknown:place], unspaced=True),), ())
            yield Meaning((Stretch(form, unspaced=True),), english)
            place += len(form)
            unknown = place
        if unknown < len(text):
            yield Meaning((Stretch(text[unknown:], unspaced=True),), ())

    def _longest_form(self, text: str, place: int, languages: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        for end in range(min(len(text), place + MAX_FORM_CHARS), place, -1):
            meanings = self.unspaced.get(text[place:end])
            if meanings:
                return text[place:end], next(meanings[language] for language in languages if language in meanings)
        return "", ()


@functools.cache
def lexicon() -> Lexicon:
    """The lexicon that comes with the package. Read once: it never changes."""
    return read_lexicon(resources.files("index").joinpath("words/lexicon.tsv").read_text("utf-8"))


def read_lexicon(text: str) -> Lexicon:
    """A lexicon from lines of cells: English, then one cell a language as the first line names them."""
    header, *lines = text.splitlines()
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
                if language in _UNSPACED_LANGUAGES and any(part.unspaced for part in stretches(form)):
                    known = unspaced[fold(form.strip().replace(" ", ""))]
                    known[language] = tuple(dict.fromkeys((*known.get(language, ()), meaning)))
                else:
                    _add(spaced, form, language, meaning)
    return Lexicon(dict(spaced), dict(unspaced), frozenset(english))


def _add(spaced: dict[str, list[_Form]], text: str, language: str, meaning: str) -> None:
    words: list[str] = []
    open_ended: list[bool] = []
    for written in text.split():
        parts = [part.text for part in stretches(written)]
        may_go_on = written.endswith("-") or language in _INFLECTED
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


def _without_prefix(word: str) -> Iterator[str]:
    """The word, and what is left of an Arabic one without what is written together with it."""
    if word.isascii() or not "\u0600" <= word[0] <= "\u06ff":
        yield word
        return
    yield from dict.fromkeys(word.removeprefix(prefix) for prefix in _ARABIC_PREFIXES if len(word) > len(prefix) + 1)
