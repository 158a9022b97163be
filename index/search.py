"""The search index: Whoosh, in memory, built once from a catalogue and never changed. The only file that imports Whoosh.

Whoosh keeps each term's finished share of the score as its posting weight (see `bm25f.py`). A term's posting is read
into arrays the first time that it is asked for; adding up and ordering is ours (`scoring.py`, `ranking.py`), because
Whoosh's scoring keeps lengths in one byte, lets no word's rarity fall below 1, and takes ten times as long.

Laws:
1. No Whoosh index is ever opened from disk: opening one unpickles it.
2. Any text may be searched for; the answer is hits or `()`, never an exception.
3. Only tools of CATALOG exposure are in the index, so no query can find another.
4. The order depends on the tools and the query alone; equal scores are ordered by id.
"""
# mypy: allow-untyped-calls
# (Whoosh annotates its searching, not its storage.)

import functools
import heapq
import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from index.bm25f import impacts
from index.confidence import Confidence, grade
from index.descriptor import WEIGHTS, indexed_text
from index.explain import Explanation, Judged, explain
from index.fingerprint import fingerprint_of, searchable
from index.query import MAX_QUERY_CHARS, Query, read
from index.scoring import Posting
from index.semantic import NEAREST, Near, fused, weighted
from index.text import Stem, terms
from index.tool import Tool
from index.vocabulary import Vocabulary

MAX_HITS = 60  # above any limit that the gateway grants; so many are put in order, and 30 to 200 find the same
_EXACT = 100_000.0  # above any sum: a share is at most about 25, times 1 + ln(occurrences), for 128 terms
_STEMS_KEPT = 65_536  # a catalogue of 50,000 tools has about 30,000 different words
_FIELD = "terms"
_DIGITS = 4  # posting weights are single precision: further digits would order equal tools by chance
_EDGES = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class Match:
    """A tool that was found. Scores order the hits of one answer; they mean nothing beside another answer's."""

    tool_id: str
    score: float
    confidence: Confidence


class SearchIndex:
    """The searchable tools of one catalogue. Safe to search from several threads."""

    def __init__(self, tools: Sequence[Tool], vocabulary: Vocabulary | None) -> None:
        self.fingerprint = fingerprint_of(tools)
        self._ids = tuple(tool.id for tool in tools)
        self._exact = _exact_words(tools)
        self._vocabulary = vocabulary

    def __repr__(self) -> str:
        return f"<SearchIndex {len(self._ids)} tools, {self.fingerprint[:8]}>"

    @classmethod
    def build(cls, tools: Sequence[Tool]) -> "SearchIndex":
        """Index the CATALOG tools among these. Takes up to a millisecond a tool: call it from a worker thread."""
        found = searchable(tools)
        if not found:
            return cls(found, None)
        from whoosh.lang.porter2 import stem as porter2

        stem = functools.lru_cache(_STEMS_KEPT)(porter2)
        return cls(found, Vocabulary(found, stem, _in_whoosh(found, stem)))

    def search(self, query: str, limit: int, near: Near | None = None) -> tuple[Match, ...]:
        """The best tools for a query, at most `limit`; tools that it names exactly come first.

        Empty when none of the things that the query speaks of occurs in any of the first hits. With `near`, closeness in
        meaning changes the order, and may bring in tools of other words; how sure a hit is, its words alone decide.
        """
        limit = min(limit, MAX_HITS)
        if limit < 1 or self._vocabulary is None:
            return ()
        asked, named = self._read(query), self._named_in(query[:MAX_QUERY_CHARS])
        found = self._vocabulary.best(asked, named, MAX_HITS)
        first = self._first(found, named, limit)
        if not first or (not named and self._vocabulary.is_hopeless(asked, first)):
            return ()
        scores = found
        if near is not None:
            scores = self._with_meaning(query[:MAX_QUERY_CHARS], found, near)
            first = self._first(scores, named, limit)
        ceiling = self._vocabulary.ceiling(asked)
        return tuple(
            Match(
                self._ids[number],
                round(scores[number], _DIGITS) + (_EXACT if number in named else 0.0),
                Confidence.HIGH if number in named else grade(found.get(number, 0.0), ceiling),
            )
            for number in first
        )

    def explain(
        self, query: str, limit: int, tool: Callable[[str], Tool | None], near: Near | None = None
    ) -> tuple[Explanation, ...]:
        """The same hits as `search` gives, each taken apart. `tool` gives the tool of an id, such as `Catalog.get`."""
        matches = self.search(query, limit, near)
        if self._vocabulary is None or not matches:
            return ()
        query = query[:MAX_QUERY_CHARS]
        named, asked = self._named_in(query), self._read(query)
        close = near(query, 0, [match.tool_id for match in matches]) if near else {}
        numbers = [bisect_left(self._ids, match.tool_id) for match in matches]
        return tuple(
            explain(
                Judged(number, found, match.confidence, number in named, weighted(close.get(found.id, 0.0))),
                asked,
                self._vocabulary,
            )
            for number, match in zip(numbers, matches, strict=True)
            if (found := tool(match.tool_id)) is not None
        )

    def closest_words(self, query: str) -> tuple[str, ...]:
        """Words of the catalogue that resemble what the query speaks of and no tool has."""
        return self._vocabulary.closest_words(self._read(query)) if self._vocabulary else ()

    def _read(self, query: str) -> Query:
        assert self._vocabulary is not None
        return read(query, self._vocabulary.knowledge)

    def _first(self, scores: Mapping[int, float], named: Collection[int], limit: int) -> list[int]:
        return heapq.nsmallest(
            limit, scores, key=lambda number: (number not in named, -round(scores[number], _DIGITS), self._ids[number])
        )

    def _with_meaning(self, query: str, found: Mapping[int, float], near: Near) -> dict[int, float]:
        """The scores with closeness added; a tool that is near and has gone from the catalogue, or come, is left out."""
        scores = {self._ids[number]: score for number, score in found.items()}
        both = fused(scores, near(query, NEAREST, tuple(scores)))
        placed = ((bisect_left(self._ids, tool_id), tool_id, score) for tool_id, score in both.items())
        return {number: score for number, tool_id, score in placed if self._ids[number : number + 1] == (tool_id,)}

    def _named_in(self, text: str) -> dict[int, None]:
        """Tools whose id or name is the query, or stands in it and could not be a word of plain language."""
        whole = text.strip().casefold()
        named = dict.fromkeys(self._exact.get(whole, ()))
        for word in text.split():
            name = _EDGES.sub("", word)
            if _is_identifier(name):
                named |= dict.fromkeys(self._exact.get(name.casefold(), ()))
        return named


def _in_whoosh(tools: Sequence[Tool], stem: Stem) -> Callable[[str], Posting | None]:
    """Put every tool's terms and shares into a Whoosh index; the answer reads a term's posting from it."""
    from whoosh.analysis.filters import DelimitedAttributeFilter
    from whoosh.analysis.tokenizers import SpaceSeparatedTokenizer
    from whoosh.fields import TEXT, Schema
    from whoosh.filedb.filestore import RamStorage
    from whoosh.reading import TermNotFound

    analyzer = SpaceSeparatedTokenizer() | DelimitedAttributeFilter()
    index = RamStorage().create_index(Schema(**{_FIELD: TEXT(analyzer=analyzer, phrase=False)}))
    writer = index.writer()
    for shares in impacts([_document(tool, stem) for tool in tools]):
        # The analyzer's own notation: a term holds neither a space nor a caret.
        writer.add_document(**{_FIELD: " ".join(f"{term}^{share:.7g}" for term, share in shares.items())})
    writer.commit()
    reader = index.reader()

    def posting(term: str) -> Posting | None:
        numbers, shares = array("I"), array("f")
        try:
            matcher = reader.postings(_FIELD, term)
        except TermNotFound:
            return None
        while matcher.is_active():
            numbers.append(matcher.id())
            shares.append(matcher.weight())
            matcher.next()
        return Posting(numbers, shares, max(shares))

    return posting


def _document(tool: Tool, stem: Stem) -> Mapping[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for field, text in indexed_text(tool):
        for term in terms(text, stem):
            weights[term] += WEIGHTS[field]
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
