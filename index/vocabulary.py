"""The words of all searchable tools: which tools have them, what each is worth there, and in which order they stand.

Ties the parts of a search together: a query is read (`query.py`), scored (`scoring.py`), put in order (`ranking.py`)
and judged (`confidence.py`) here. Tools are numbers in the order of their ids. Knows no library: postings are read by a
function that is handed in. Safe to use from several threads.
"""

import heapq
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from index.bm25f import inverse_document_frequency
from index.confidence import ceiling, is_hopeless, unfound
from index.descriptor import indexed_text
from index.lexicon import lexicon
from index.outline import Alphabet, Alphabets, outline
from index.query import Knowledge, Query
from index.ranking import Candidate, Wanted, bonus, wanted
from index.scoring import Posting, best_scores
from index.spelling import Spelling
from index.synonyms import synonyms
from index.text import Stem
from index.tool import Tool

MAX_CLOSEST_WORDS = 5
_MIN_RESEMBLANCE = 0.3  # a third of the trigrams: a hint to a person, not a correction
_FIRST = 5  # hits that an answer is judged by


class Vocabulary:
    """What a search looks up. `read` gives the posting of a term, and is called once a term and by one thread."""

    def __init__(self, tools: Sequence[Tool], stem: Stem, read: Callable[[str], Posting | None]) -> None:
        self._read = read
        self._postings: dict[str, Posting] = {}
        self._lock = threading.Lock()
        self._alphabets = Alphabets(Alphabet(), Alphabet())
        self._outlines = [
            outline([text for _, text in indexed_text(tool)], tool.bare_name, tool.server, self._alphabets, stem)
            for tool in tools
        ]
        self._rarities = _rarities([one.terms for one in self._outlines])
        self._spelling = Spelling(self._alphabets.words.words())
        self.knowledge = Knowledge(
            stem, synonyms(stem), lexicon(), lambda term: self.posting(term) is not None, self._spelling.nearest
        )

    def posting(self, term: str) -> Posting | None:
        """The tools that have a term."""
        known = self._postings.get(term)
        if known is None and term in self._alphabets.terms:
            with self._lock:
                known = self._read(term)
            if known is not None:
                self._postings[term] = known
        return known

    def best(self, query: Query, named: Collection[int], count: int) -> dict[int, float]:
        """The best `count` tools, and those that are named, with their final scores."""
        found = best_scores(query.clauses, self.posting, count)
        likely = heapq.nlargest(count, ((score, -number) for number, score in found.items()))
        asked = self.wanted(query)
        return {
            number: found.get(number, 0.0) + bonus(asked, self.candidate(number))
            for number in {*(-negative for _, negative in likely), *named}
        }

    def wanted(self, query: Query) -> Wanted:
        """The query as the rules of the ranking see it."""
        return wanted(query.said, self._alphabets)

    def candidate(self, number: int) -> Candidate:
        """The tool as the rules of the ranking see it."""

        def share(term: str) -> float:
            posting = self.posting(term)
            return posting.share(number) if posting else 0.0

        return Candidate(self._outlines[number], share, self._rarity)

    def ceiling(self, query: Query) -> float:
        """The best score that the query could have reached."""
        return ceiling(query, self.posting, len(self._outlines))

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

    def _rarity(self, letter: str) -> float:
        return self._rarities[ord(letter)]


def _rarities(outlines: Sequence[str]) -> "array[float]":
    """The inverse document frequency of each letter, at its place."""
    count = Counter(letter for letters in outlines for letter in set(letters))
    rarities = array("f", bytes(4 * (1 + max(map(ord, count), default=0))))
    for letter, holders in count.items():
        rarities[ord(letter)] = inverse_document_frequency(holders, len(outlines))
    return rarities
