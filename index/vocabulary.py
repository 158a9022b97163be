"""The words of all searchable tools: which tools have them, what each is worth there, and in which order they stand.

Puts the segments of all owners together and knows what depends on all of them: how rare a word is, how long a tool is
beside the others. Ties the parts of a search together: a query is read (`query.py`), scored (`scoring.py`), put in order
(`ranking.py`) and judged (`confidence.py`) here. Tools are numbers, segment by segment. Safe to use from several threads.
"""

import heapq
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

from index.bm25f import burden, inverse_document_frequency, shares
from index.confidence import ceiling, is_hopeless, unfound
from index.descriptor import UNITS_OF_WEIGHT
from index.giving_way import GiveWay, giving_way, never
from index.lexicon import lexicon
from index.query import Knowledge, Query
from index.ranking import Candidate, Wanted, bonus, wanted
from index.scoring import Posting, best_scores
from index.segment import Segment
from index.spelling import Spelling
from index.synonyms import Synonyms
from index.text import Stem

MAX_CLOSEST_WORDS = 5
_MIN_RESEMBLANCE = 0.3  # a third of the trigrams: a hint to a person, not a correction
_FIRST = 5  # hits that an answer is judged by
_MOST_WARMED = 500  # terms, those of most tools: what takes longest to read; two seconds with 50,000 tools


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of English before any tool: how words are stemmed, and which stand for each other."""

    stem: Stem
    synonyms: Synonyms


@dataclass(slots=True)
class _Holders:
    """Of one term: how many tools have it, and in which segments they are."""

    tools: int = 0
    segments: "array[int]" = field(default_factory=lambda: array("I"))


class Vocabulary:
    """What a search looks up. `before` only saves work: the answers are those of one that is made from nothing."""

    def __init__(
        self,
        segments: Sequence[Segment],
        language: Language,
        before: "Vocabulary | None" = None,
        give_way: GiveWay = never,
    ) -> None:
        self._segments = segments
        self._starts = tuple(accumulate((len(segment.ids) for segment in segments), initial=0))
        self._burdens = _burdens(segments, give_way)
        self._holders = _holders(segments, give_way)
        self._named = _named(segments, self._starts, give_way)
        self._rarities: dict[str, float] = {}
        self._postings: dict[str, Posting] = {}
        known: Spelling | None = before._spelling if before else None
        self._spelling: Spelling = Spelling(_words(segments, give_way), known, give_way)
        self.knowledge = Knowledge(
            language.stem, language.synonyms, lexicon(), self._holders.__contains__, self._spelling.nearest
        )

    @property
    def tools(self) -> int:
        """How many there are."""
        return self._starts[-1]

    def posting(self, term: str) -> Posting | None:
        """The tools that have a term."""
        known = self._postings.get(term)
        if known is None and term in self._holders:
            known = self._postings[term] = self._posting(term)
        return known

    def warm(self, give_way: GiveWay) -> None:
        """Reads the postings that searches ask for most, so that the first of them need not wait for that."""
        holders = self._holders
        every = giving_way(holders, give_way)
        for term in heapq.nlargest(_MOST_WARMED, every, key=lambda term: (holders[term].tools, term)):
            if term not in self._postings:
                self._postings[term] = self._posting(term, give_way)

    def called(self, text: str) -> Sequence[int]:
        """The tools that have this id or name, both without regard to case."""
        return self._named.get(text, ())

    def best(self, query: Query, named: Collection[int], count: int) -> dict[int, float]:
        """The best `count` tools, and those that are named, with their final scores."""
        found = best_scores(query.clauses, self.posting, count)
        likely = heapq.nlargest(count, ((score, -number) for number, score in found.items()))
        asked: dict[int, Wanted] = {}
        return {
            number: found.get(number, 0.0) + bonus(*self.judged(query, number, asked))
            for number in {*(-negative for _, negative in likely), *named}
        }

    def judged(self, query: Query, number: int, asked: dict[int, Wanted]) -> tuple[Wanted, Candidate]:
        """The query and a tool as the rules of the ranking see them. `asked` keeps what segments share."""
        place = bisect_right(self._starts, number) - 1
        wording = self._segments[place].wording
        if place not in asked:
            asked[place] = wanted(query.said, wording.alphabets)

        def share(term: str) -> float:
            posting = self.posting(term)
            return posting.share(number) if posting else 0.0

        def rarity(letter: str) -> float:
            return self._rarity(wording.terms_by_letter[letter])

        return asked[place], Candidate(wording.outlines[number - self._starts[place]], share, rarity)

    def ceiling(self, query: Query) -> float:
        """The best score that the query could have reached."""
        return ceiling(query, self.posting, self.tools)

    def is_hopeless(self, query: Query, hits: Sequence[int]) -> bool:
        """Whether nothing that the query speaks of occurs in the first of these hits."""
        return is_hopeless(query, hits[:_FIRST], self.posting)

    def closest_words(self, query: Query) -> tuple[str, ...]:
        """Words that resemble those of the query that no tool has, closest first."""
        found = (
            (-closeness, word)
            for lost in unfound(query, self.posting)
            for word, closeness in self._spelling.closest(lost, MAX_CLOSEST_WORDS)
            if closeness >= _MIN_RESEMBLANCE
        )
        return tuple(islice(dict.fromkeys(word for _, word in sorted(found)), MAX_CLOSEST_WORDS))

    def _posting(self, term: str, give_way: GiveWay = never) -> Posting:
        rarity = self._rarity(term)
        numbers, worth = array("I"), array("f")
        for place in self._holders[term].segments:
            give_way()
            start, burdens, held = self._starts[place], self._burdens[place], self._segments[place].held(term)
            numbers.extend([start + number for number in held.numbers])
            worth.extend(shares(rarity, held.weights, [burdens[number] for number in held.numbers]))
        return Posting(numbers, worth, max(worth))

    def _rarity(self, term: str) -> float:
        known = self._rarities.get(term)
        if known is None:
            known = self._rarities[term] = inverse_document_frequency(self._holders[term].tools, self.tools)
        return known


def _burdens(segments: Sequence[Segment], give_way: GiveWay) -> list["array[float]"]:
    """What the length of each tool holds against its words, in units of weight."""
    lengths = [segment.lengths for segment in segments]
    average = sum(map(sum, lengths)) / sum(map(len, lengths))
    return [
        array("d", [UNITS_OF_WEIGHT * burden(length / average) for length in some])
        for some in giving_way(lengths, give_way)
    ]


def _holders(segments: Sequence[Segment], give_way: GiveWay) -> dict[str, _Holders]:
    holders: dict[str, _Holders] = defaultdict(_Holders)
    for place, segment in enumerate(giving_way(segments, give_way)):
        for term, count in segment.frequencies():
            its = holders[term]
            its.tools += count
            its.segments.append(place)
    return dict(holders)


def _named(segments: Sequence[Segment], starts: Sequence[int], give_way: GiveWay) -> dict[str, list[int]]:
    """The tools that an id or a name stands for, however its letters are cased."""
    named: dict[str, list[int]] = defaultdict(list)
    for start, segment in zip(starts, giving_way(segments, give_way), strict=False):
        for number, called in enumerate(segment.called):
            for text in called:
                named[text].append(start + number)
    return dict(named)


def _words(segments: Iterable[Segment], give_way: GiveWay) -> set[str]:
    """The words of all tools as they are written."""
    found: set[str] = set()
    for segment in giving_way(segments, give_way):
        found.update(segment.wording.alphabets.words.words())
    return found
