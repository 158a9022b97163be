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
import threading
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from index.bm25f import impacts, inverse_document_frequency
from index.descriptor import WEIGHTS, indexed_text
from index.fingerprint import fingerprint_of, searchable
from index.lexicon import lexicon
from index.outline import Alphabet, Alphabets, Outline, outline
from index.query import MAX_QUERY_CHARS, Knowledge, Query, read
from index.ranking import Candidate, bonus, wanted
from index.scoring import Posting, best_scores
from index.spelling import Spelling
from index.synonyms import synonyms
from index.text import Stem, terms
from index.tool import Tool

if TYPE_CHECKING:
    from whoosh.reading import IndexReader

MAX_HITS = 60  # above any limit that the gateway grants; so many are put in order, and 30 to 200 find the same
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

    def __init__(self, tools: Sequence[Tool], vocabulary: "_Vocabulary | None") -> None:
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
        return cls(found, _Vocabulary.of(found) if found else None)

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The best tools for a query, at most `limit`; tools that it names exactly come first."""
        limit = min(limit, MAX_HITS)
        if limit < 1 or self._vocabulary is None:
            return ()
        text = query[:MAX_QUERY_CHARS]
        named = self._named_in(text)
        found = self._vocabulary.best(read(text, self._vocabulary.knowledge), named)
        matches = (
            Match(self._ids[number], round(score, _SCORE_DIGITS) + (_EXACT if number in named else 0.0))
            for number, score in found.items()
        )
        return tuple(heapq.nsmallest(limit, matches, key=lambda match: (-match.score, match.tool_id)))

    def _named_in(self, text: str) -> dict[int, None]:
        """Tools whose id or name is the query, or stands in it and could not be a word of plain language."""
        whole = text.strip().casefold()
        named = dict.fromkeys(self._exact.get(whole, ()))
        for word in text.split():
            name = _EDGES.sub("", word)
            if _is_identifier(name):
                named |= dict.fromkeys(self._exact.get(name.casefold(), ()))
        return named


class _Vocabulary:
    """The terms of all tools: which tools have them, what each is worth there, and in which order they stand."""

    def __init__(self, reader: "IndexReader", stem: Stem, outlines: Sequence[Outline], alphabets: Alphabets) -> None:
        self._reader = reader
        self._outlines = outlines
        self._alphabets = alphabets
        self._read: dict[str, Posting] = {}
        self._lock = threading.Lock()  # Whoosh's readers share their position in the posting file
        self._rarity = _rarities(outlines)
        spelling = Spelling(alphabets.words.words())
        self.knowledge = Knowledge(
            stem, synonyms(stem), lexicon(), lambda term: self.posting(term) is not None, spelling.nearest
        )

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "_Vocabulary":
        from whoosh.analysis.filters import DelimitedAttributeFilter
        from whoosh.analysis.tokenizers import SpaceSeparatedTokenizer
        from whoosh.fields import TEXT, Schema
        from whoosh.filedb.filestore import RamStorage
        from whoosh.lang.porter2 import stem as porter2

        stem = functools.lru_cache(_STEMS_KEPT)(porter2)
        analyzer = SpaceSeparatedTokenizer() | DelimitedAttributeFilter()
        index = RamStorage().create_index(Schema(**{_FIELD: TEXT(analyzer=analyzer, phrase=False)}))
        writer = index.writer()
        for shares in impacts([_document(tool, stem) for tool in tools]):
            # The analyzer's own notation: a term holds neither a space nor a caret.
            writer.add_document(**{_FIELD: " ".join(f"{term}^{share:.7g}" for term, share in shares.items())})
        writer.commit()
        alphabets = Alphabets(Alphabet(), Alphabet())
        outlines = [
            outline([text for _, text in indexed_text(tool)], tool.name, tool.owner, alphabets, stem) for tool in tools
        ]
        return cls(index.reader(), stem, outlines, alphabets)

    def posting(self, term: str) -> Posting | None:
        """The tools that have a term."""
        known = self._read.get(term)
        if known is None:
            with self._lock:
                known = self._from_whoosh(term)
            if known is not None:
                self._read[term] = known
        return known

    def best(self, query: Query, named: Iterable[int]) -> dict[int, float]:
        """The numbers of the best tools, and of those that are named, with their scores."""
        found = best_scores(query.clauses, self.posting, MAX_HITS)
        likely = heapq.nlargest(MAX_HITS, ((score, -number) for number, score in found.items()))
        asked = wanted(query.said, self._alphabets)
        return {
            number: found.get(number, 0.0) + bonus(asked, self._candidate(number))
            for number in {*(-negative for _, negative in likely), *named}
        }

    def _candidate(self, number: int) -> Candidate:
        def share(term: str) -> float:
            posting = self.posting(term)
            return posting.share(number) if posting else 0.0

        return Candidate(self._outlines[number], share, self._rarity)

    def _from_whoosh(self, term: str) -> Posting | None:
        from whoosh.reading import TermNotFound

        numbers, shares = array("I"), array("f")
        try:
            matcher = self._reader.postings(_FIELD, term)
        except TermNotFound:
            return None
        while matcher.is_active():
            numbers.append(matcher.id())
            shares.append(matcher.weight())
            matcher.next()
        return Posting(numbers, shares, max(shares))


def _document(tool: Tool, stem: Stem) -> Mapping[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for field, text in indexed_text(tool):
        for term in terms(text, stem):
            weights[term] += WEIGHTS[field]
    return weights


def _rarities(outlines: Sequence[Outline]) -> "functools._lru_cache_wrapper[float]":
    """The inverse document frequency of the letters of names."""
    count: dict[str, int] = defaultdict(int)
    for one in outlines:
        for letter in set(one.terms):
            count[letter] += 1
    return functools.cache(lambda letter: inverse_document_frequency(count.get(letter, 0), len(outlines)))


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
