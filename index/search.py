"""The search index: Whoosh, in memory, built once from a catalogue and never changed. The only file that imports Whoosh.

Whoosh keeps each term's finished share of the score as its posting weight (see `bm25f.py`), adds the shares up and
finds the best. Its own scoring stays unused: it keeps lengths in one byte and lets no word's rarity fall below 1.

Laws:
1. No Whoosh index is ever opened from disk: opening one unpickles it.
2. Any text may be searched for; the answer is hits or `()`, never an exception.
3. Only tools of CATALOG exposure are in the index, so no query can find another.
4. The order depends on the tools and the query alone; equal scores are ordered by id.
"""
# mypy: allow-untyped-calls
# (Whoosh annotates its searching, not its storage.)

import functools
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from index.bm25f import impacts, query_weights
from index.descriptor import weighted_text
from index.fingerprint import fingerprint_of, searchable
from index.text import Stem, terms
from index.tool import Tool

if TYPE_CHECKING:
    from whoosh.searching import Searcher

MAX_QUERY_CHARS = 1_000  # whole tasks pasted as a query have about 300
MAX_QUERY_TERMS = 128  # different ones; more would only cost time
MAX_HITS = 100  # above any limit that the gateway grants
_EXACT = 100_000.0  # above any sum: a share is at most about 25, times 1 + ln(occurrences), for 128 terms
_STEMS_KEPT = 65_536  # a catalogue of 50,000 tools has about 30,000 different words
_FIELD = "terms"
_SCORE_DIGITS = 4  # posting weights are single precision: further digits would order equal tools by chance
_EDGES = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class Match:
    """A tool that was found. Scores order the hits of one answer; they mean nothing beside another answer's."""

    tool_id: str
    score: float


class SearchIndex:
    """The searchable tools of one catalogue. Safe to search from several threads."""

    def __init__(self, tools: Sequence[Tool], postings: "_Postings | None") -> None:
        self.fingerprint = fingerprint_of(tools)
        self._ids = tuple(tool.id for tool in tools)
        self._exact = _exact_words(tools)
        self._postings = postings

    def __repr__(self) -> str:
        return f"<SearchIndex {len(self._ids)} tools, {self.fingerprint[:8]}>"

    @classmethod
    def build(cls, tools: Sequence[Tool]) -> "SearchIndex":
        """Index the CATALOG tools among these. Takes up to a millisecond a tool: call it from a worker thread."""
        found = searchable(tools)
        return cls(found, _Postings.of(found) if found else None)

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The best tools for a query, at most `limit`; tools that it names exactly come first."""
        limit = min(limit, MAX_HITS)
        if limit < 1 or self._postings is None:
            return ()
        text = query[:MAX_QUERY_CHARS]
        named = self._named_in(text)
        scores = dict.fromkeys(islice(named, limit), 0.0) | self._postings.best(text, limit + len(named))
        matches = (
            Match(self._ids[number], round(score, _SCORE_DIGITS) + (_EXACT if number in named else 0.0))
            for number, score in scores.items()
        )
        return tuple(sorted(matches, key=lambda match: (-match.score, match.tool_id))[:limit])

    def _named_in(self, text: str) -> dict[int, None]:
        """Tools whose id or name is the query, or stands in it and could not be a word of plain language."""
        whole = text.strip().casefold()
        named = dict.fromkeys(self._exact.get(whole, ()))
        for word in text.split():
            name = _EDGES.sub("", word)
            if _is_identifier(name):
                named |= dict.fromkeys(self._exact.get(name.casefold(), ()))
        return named


class _Postings:
    """What Whoosh holds: for each term, the tools that have it and its share of their score."""

    def __init__(self, searcher: "Searcher", stem: Stem) -> None:
        self._searcher = searcher
        self._stem = stem
        self._lock = threading.Lock()  # Whoosh's readers share their position in the posting file

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "_Postings":
        from whoosh.analysis.filters import DelimitedAttributeFilter
        from whoosh.analysis.tokenizers import SpaceSeparatedTokenizer
        from whoosh.fields import TEXT, Schema
        from whoosh.filedb.filestore import RamStorage
        from whoosh.lang.porter2 import stem as porter2
        from whoosh.scoring import Frequency

        stem = functools.lru_cache(_STEMS_KEPT)(porter2)
        analyzer = SpaceSeparatedTokenizer() | DelimitedAttributeFilter()
        index = RamStorage().create_index(Schema(**{_FIELD: TEXT(analyzer=analyzer, phrase=False)}))
        writer = index.writer()
        for shares in impacts([_document(tool, stem) for tool in tools]):
            # The analyzer's own notation: a term holds neither a space nor a caret.
            writer.add_document(**{_FIELD: " ".join(f"{term}^{share:.7g}" for term, share in shares.items())})
        writer.commit()
        return cls(index.searcher(weighting=Frequency()), stem)

    def best(self, text: str, limit: int) -> dict[int, float]:
        """The numbers of the best tools, with their scores."""
        from whoosh.query.compound import Or
        from whoosh.query.terms import Term

        weights = query_weights(tuple(islice(terms(text, self._stem), MAX_QUERY_CHARS)))
        clauses = [Term(_FIELD, term, boost=weight) for term, weight in islice(weights.items(), MAX_QUERY_TERMS)]
        if not clauses:
            return {}
        with self._lock:
            found = self._searcher.search(Or(clauses), limit=limit)
            return {number: score or 0.0 for number, score in found.items()}


def _document(tool: Tool, stem: Stem) -> Mapping[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for weight, text in weighted_text(tool):
        for term in terms(text, stem):
            weights[term] += weight
    return weights


def _exact_words(tools: Iterable[Tool]) -> Mapping[str, Sequence[int]]:
    """The numbers of the tools that an id or a name stands for, however its letters are cased."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, tool in enumerate(tools):
        numbers[tool.id.casefold()].append(number)
        numbers[tool.name.casefold()].append(number)
    return numbers


def _is_identifier(word: str) -> bool:
    """Whether a word of a sentence is written as only an identifier is: with a joint, a digit or an inner capital."""
    return not word.isalpha() or (any(letter.isupper() for letter in word[1:]) and not word.isupper())
