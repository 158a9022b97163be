"""What a query asks for: its words with their synonyms, foreign words in English, unknown ones as what they resemble.

Laws:
1. Any text is read in bounded time: so many characters, words and corrections, and no more.
2. What the user said always counts most; everything that we add counts a part of it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from index.lexicon import NO_MEANING, Lexicon
from index.scoring import Clause, Way
from index.synonyms import MAX_PHRASE_WORDS, Phrase, Synonyms
from index.text import Stem, is_stop_word, term_of, words, words_of

MAX_QUERY_CHARS = 1_000  # whole tasks pasted as a query have about 300
MAX_QUERY_TERMS = 128  # different ones; more would only cost time
MAX_CORRECTIONS = 8  # a query with more unknown words is in another language or about something else

SYNONYM_WEIGHT = 0.4  # 0.3 to 0.6 find the same on four public sets; at 0 the vaguest loses 2 points of recall
TRANSLATION_WEIGHT = 0.9  # just below what was said itself, which may be a tool's own language
UNTRANSLATED = "untranslated"  # the origin of a word of another language that the lexicon does not have
CORRECTION_WEIGHT = 0.8  # times the closeness; 0.7 and 1 find the same


@dataclass(frozen=True, slots=True)
class Said:
    """One word of a query as it is looked up."""

    word: str
    term: str
    certainty: float = 1.0  # below 1 for a word that the user did not write in this way
    origin: str = "said"
    others: tuple[Phrase, ...] = ()  # what else the word may mean
    original: Phrase = ()  # what the user wrote instead


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What reading a query needs to know of words and of the catalogue."""

    stem: Stem
    synonyms: Synonyms
    lexicon: Lexicon
    is_known: Callable[[str], bool]  # whether any tool has the term
    nearest: Callable[[str], tuple[str, float] | None]  # the catalogue's closest word


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood: its words in order without stop words, and what is looked for."""

    said: tuple[Said, ...]
    clauses: tuple[Clause, ...]


def read(text: str, knowledge: Knowledge) -> Query:
    """Understand a query."""
    everything = list(_corrected(list(_translated(text[:MAX_QUERY_CHARS], knowledge)), knowledge))
    said = tuple(one for one in everything if not is_stop_word(one.word))
    return Query(said, tuple(_clauses(said, _ways_besides(everything, knowledge))))


def _translated(text: str, knowledge: Knowledge) -> Iterator[Said]:
    """The words of the text in order; English ones for what the lexicon knows."""

    def phrase(text: str) -> Phrase:
        return tuple(term_of(word, knowledge.stem) for word in words(text) if not is_stop_word(word))

    for meaning in knowledge.lexicon.read(text):
        written = tuple(word for stretch in meaning.said for word in words_of(stretch))
        if not meaning.english:
            yield from (Said(word, term_of(word, knowledge.stem)) for word in written)
        elif meaning.english != (NO_MEANING,):
            first, *others = meaning.english
            original = tuple(term_of(word, knowledge.stem) for word in written)
            for word in words(first):
                term = term_of(word, knowledge.stem)
                yield Said(word, term, TRANSLATION_WEIGHT, "translation", tuple(map(phrase, others)), original)


def _corrected(everything: Sequence[Said], knowledge: Knowledge) -> Iterator[Said]:
    """Words that no tool has as what they resemble; else, where others were translated, as ones that were not."""
    translated = [one for one in everything if one.origin == "translation"]
    is_latin = any(term.isascii() for one in translated for term in one.original)
    left = MAX_CORRECTIONS
    for one in everything:
        if _is_understood(one, knowledge):
            yield one
            continue
        near = knowledge.nearest(one.word) if left else None
        left -= bool(left)
        if near:
            word, closeness = near
            yield Said(word, term_of(word, knowledge.stem), CORRECTION_WEIGHT * closeness, "spelling")
        elif translated and (is_latin or not one.word.isascii()):  # Latin letters within another script are a name
            yield replace(one, origin=UNTRANSLATED)
        else:
            yield one


def _is_understood(one: Said, knowledge: Knowledge) -> bool:
    return (
        one.origin != "said"
        or is_stop_word(one.word)
        or knowledge.is_known(one.term)
        or (one.term,) in knowledge.synonyms
    )


def _ways_besides(everything: Sequence[Said], knowledge: Knowledge) -> dict[str, dict[Phrase, None]]:
    """For the first term of each known phrase in the query, what else it may be called; not what the query says too.

    Two words may also be written as one: "box plot", "boxplot".
    """
    terms = [one.term for one in everything]
    present = frozenset(terms)
    besides: dict[str, dict[Phrase, None]] = {}
    for start, one in enumerate(everything):
        for length in range(1, MAX_PHRASE_WORDS + 1):
            others = knowledge.synonyms.get(tuple(terms[start : start + length]), ())
            if length == 2 and knowledge.is_known(joined := "".join(terms[start : start + 2])):
                others = (*others, (joined,))
            new = dict.fromkeys(phrase for phrase in others if present.isdisjoint(phrase))
            if new:
                besides.setdefault(_anchor(everything[start : start + length], one), {}).update(new)
    return besides


def _anchor(phrase: Sequence[Said], first: Said) -> str:
    """The term whose clause a phrase's synonyms join: its first that is no stop word."""
    return next((one.term for one in phrase if not is_stop_word(one.word)), first.term)


def _clauses(said: Sequence[Said], besides: dict[str, dict[Phrase, None]]) -> Iterator[Clause]:
    """One clause a term. Saying a word again adds ever less."""
    count = Counter(one.term for one in said)
    first = {one.term: one for one in reversed(said)}
    for term in islice(count, MAX_QUERY_TERMS):
        one = first[term]
        repeated = 1 + math.log(count[term])
        ways = [Way((term,), repeated * one.certainty, one.origin)]
        ways += (Way(phrase, repeated * one.certainty, one.origin) for phrase in one.others)
        ways += (Way(phrase, repeated, "said") for phrase in (one.original,) if phrase)
        met = {way.phrase for way in ways}
        new = [phrase for phrase in besides.get(term, ()) if phrase not in met]
        ways += (Way(phrase, repeated * one.certainty * SYNONYM_WEIGHT, "synonym") for phrase in new)
        yield Clause(one.word, tuple(ways))
