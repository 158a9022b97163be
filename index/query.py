"""What a query asks for: its words with their synonyms, and unknown words as what they were probably meant to be.

Laws:
1. Any text is read in bounded time: so many characters, words and corrections, and no more.
2. What the user said always counts most; everything that we add counts a part of it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from index.scoring import Clause, Way
from index.synonyms import MAX_PHRASE_WORDS, Phrase, Synonyms
from index.text import Stem, is_stop_word, term_of, words

MAX_QUERY_CHARS = 1_000  # whole tasks pasted as a query have about 300
MAX_QUERY_TERMS = 128  # different ones; more would only cost time
MAX_CORRECTIONS = 8  # a query with more unknown words is in another language or about something else

SYNONYM_WEIGHT = 0.4  # 0.3 to 0.6 find the same on four public sets; at 0 the vaguest loses 2 points of recall
CORRECTION_WEIGHT = 0.8  # times the closeness; 0.7 and 1 find the same


@dataclass(frozen=True, slots=True)
class Said:
    """One word of a query as it is looked up."""

    word: str
    term: str
    certainty: float = 1.0  # below 1 for a word that the user did not write in this way
    origin: str = "said"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What reading a query needs to know of words and of the catalogue."""

    stem: Stem
    synonyms: Synonyms
    is_known: Callable[[str], bool]  # whether any tool has the term
    nearest: Callable[[str], tuple[str, float] | None]  # the catalogue's closest word


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood: its words in order without stop words, and what is looked for."""

    said: tuple[Said, ...]
    clauses: tuple[Clause, ...]


def read(text: str, knowledge: Knowledge) -> Query:
    """Understand a query."""
    everything = [
        Said(word, term_of(word, knowledge.stem)) for word in islice(words(text[:MAX_QUERY_CHARS]), MAX_QUERY_CHARS)
    ]
    everything = list(_corrected(everything, knowledge))
    said = tuple(one for one in everything if not is_stop_word(one.word))
    return Query(said, tuple(_clauses(said, _ways_besides(everything, knowledge.synonyms))))


def _corrected(everything: Sequence[Said], knowledge: Knowledge) -> Iterator[Said]:
    left = MAX_CORRECTIONS
    for one in everything:
        if left and not _is_understood(one, knowledge):
            left -= 1
            if near := knowledge.nearest(one.word):
                word, closeness = near
                yield Said(word, term_of(word, knowledge.stem), CORRECTION_WEIGHT * closeness, "spelling")
                continue
        yield one


def _is_understood(one: Said, knowledge: Knowledge) -> bool:
    return is_stop_word(one.word) or knowledge.is_known(one.term) or (one.term,) in knowledge.synonyms


def _ways_besides(everything: Sequence[Said], synonyms: Synonyms) -> dict[str, dict[Phrase, None]]:
    """For the first term of each known phrase in the query, what else it may be called; not what the query says too."""
    terms = [one.term for one in everything]
    present = frozenset(terms)
    besides: dict[str, dict[Phrase, None]] = {}
    for start, one in enumerate(everything):
        for length in range(1, MAX_PHRASE_WORDS + 1):
            others = synonyms.get(tuple(terms[start : start + length]), ())
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
        weight = one.certainty * (1 + math.log(count[term]))
        others = (Way(phrase, weight * SYNONYM_WEIGHT, "synonym") for phrase in besides.get(term, ()))
        yield Clause(one.word, (Way((term,), weight, one.origin), *others))
