"""The search index: Whoosh, in memory, one segment an owner. The only file that imports Whoosh.

Whoosh keeps what each term weighs in each tool, as its posting weight. Whoosh's codec writes and reads the postings; its
writer above that would add a table of contents that is pickled, and columns that nothing reads, and take twice as long.
A term's postings are read into arrays once; adding up and ordering is ours (`bm25f.py`, `scoring.py`, `ranking.py`),
because Whoosh's scoring keeps lengths in one byte, lets no word's rarity fall below 1, and takes ten times as long.

Laws:
1. No Whoosh index is ever opened from disk: opening one unpickles it. What Whoosh's codec unpickles is what it has itself
   pickled into this process's memory.
2. Any text may be searched for; the answer is hits or `()`, never an exception.
3. Only tools of CATALOG exposure are in the index, so no query can find another.
4. The order depends on the tools and the query alone, not on the indexes that came before; equal scores are ordered by id.
"""
# mypy: allow-untyped-calls
# (Whoosh annotates its searching, not its storage.)

import functools
import heapq
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from index.confidence import Confidence, grade
from index.explain import Explanation, Judged, explain
from index.fingerprint import Searchable, by_owner, fingerprint_of
from index.giving_way import GiveWay, giving_way, never
from index.query import MAX_QUERY_CHARS, read
from index.segment import Held, Read, Segment, segment_of
from index.semantic import NEAREST, Near, fused, weighted
from index.synonyms import synonyms
from index.tool import Tool
from index.vocabulary import Language, Vocabulary

MAX_HITS = 60  # above any limit that the gateway grants; so many are put in order, and 30 to 200 find the same
_EXACT = 100_000.0  # above any sum: a share is at most about 25, times 1 + ln(occurrences), for 128 terms
_STEMS_KEPT = 65_536  # a catalogue of 50,000 tools has about 30,000 different words
_FIELD = "terms"
_POSTINGS_A_BLOCK = 2_048  # above the tools of a server: a term is one block; five for the most that a gateway has
_UNCOMPRESSED = 0  # compressing takes longer than it is worth: a catalogue of 50,000 tools has about 25 MB of postings
_DIGITS = 4  # posting weights are single precision: further digits would order equal tools by chance
_EDGES = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class Match:
    """A tool that was found. Scores order the hits of one answer; they mean nothing beside another answer's."""

    tool_id: str
    score: float
    confidence: Confidence


class SearchIndex:
    """The searchable tools of one catalogue. Never changes. Safe to search from several threads."""

    def __init__(self, fingerprint: str, made: "_Made | None") -> None:
        self.fingerprint = fingerprint
        self._made = made
        self._ids = tuple(chain.from_iterable(segment.ids for segment in made.segments.values())) if made else ()

    def __repr__(self) -> str:
        return f"<SearchIndex {len(self._ids)} tools, {self.fingerprint[:8]}>"

    @classmethod
    def build(cls, tools: Iterable[Tool]) -> "SearchIndex":
        """Index the CATALOG tools among these, from nothing."""
        return cls(fingerprint_of(()), None).followed_by(by_owner(tools))

    def followed_by(self, owners: Sequence[Searchable], give_way: GiveWay = never) -> "SearchIndex":
        """The index of these tools. What this one has of an owner whose tools are the same goes into it as it is.

        Takes about a quarter of a millisecond a tool that is new: call it from a worker thread.
        """
        fingerprint = fingerprint_of(owners)
        if not owners:
            return SearchIndex(fingerprint, None)
        known = self._made.segments if self._made else {}
        language = self._made.language if self._made else _language()
        segments = {
            owner.digest: known.get(owner.digest)
            or segment_of(owner.tools, language.stem, _in_whoosh(give_way), give_way)
            for owner in owners
        }
        before = self._made.vocabulary if self._made else None
        vocabulary = Vocabulary(tuple(segments.values()), language, before, give_way)
        return SearchIndex(fingerprint, _Made(language, segments, vocabulary))

    def covers(self, owner: Searchable) -> bool:
        """Whether it was built from these very tools of this owner, so that a search can find each of them."""
        return self._made is not None and owner.digest in self._made.segments

    def warm(self, give_way: GiveWay = never) -> None:
        """Spares the first searches the reading of what most searches ask for. Changes no answer."""
        if self._made is not None:
            self._made.vocabulary.warm(give_way)

    def search(self, query: str, limit: int, near: Near | None = None) -> tuple[Match, ...]:
        """The best tools for a query, at most `limit`; tools that it names exactly come first.

        Empty when none of the things that the query speaks of occurs in any of the first hits. With `near`, closeness in
        meaning changes the order, and may bring in tools of other words; how sure a hit is, its words alone decide.
        """
        return tuple(self._found(query, limit, near).values())

    def explain(
        self, query: str, limit: int, tool: Callable[[str], Tool | None], near: Near | None = None
    ) -> tuple[Explanation, ...]:
        """The same hits as `search` gives, each taken apart. `tool` gives the tool of an id, such as `Catalog.get`."""
        hits = self._found(query, limit, near)
        if self._made is None or not hits:
            return ()
        vocabulary, named = self._made.vocabulary, self._named_in(query)
        asked = read(query, vocabulary.knowledge)
        close = near(query[:MAX_QUERY_CHARS], 0, [match.tool_id for match in hits.values()]) if near else {}
        return tuple(
            explain(
                Judged(number, found, match.confidence, number in named, weighted(close.get(found.id, 0.0))),
                asked,
                vocabulary,
            )
            for number, match in hits.items()
            if (found := tool(match.tool_id)) is not None
        )

    def closest_words(self, query: str) -> tuple[str, ...]:
        """Words of the catalogue that resemble what the query speaks of and no tool has."""
        if self._made is None:
            return ()
        vocabulary = self._made.vocabulary
        return vocabulary.closest_words(read(query, vocabulary.knowledge))

    def _found(self, query: str, limit: int, near: Near | None) -> Mapping[int, Match]:
        """The hits by the tools' numbers, best first."""
        limit = min(limit, MAX_HITS)
        if limit < 1 or self._made is None:
            return {}
        vocabulary = self._made.vocabulary
        asked, named = read(query, vocabulary.knowledge), self._named_in(query)
        scores = found = vocabulary.best(asked, named, MAX_HITS)
        first = self._first(scores, named, limit)
        if not first or (not named and vocabulary.is_hopeless(asked, first)):
            return {}
        if near is not None:
            scores = self._with_meaning(query[:MAX_QUERY_CHARS], found, near)
            first = self._first(scores, named, limit)
        ceiling = vocabulary.ceiling(asked)
        return {
            number: Match(
                self._ids[number],
                round(scores[number], _DIGITS) + (_EXACT if number in named else 0.0),
                Confidence.HIGH if number in named else grade(found.get(number, 0.0), ceiling),
            )
            for number in first
        }

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

    def _named_in(self, query: str) -> dict[int, None]:
        """Tools whose id or name is the query, or stands in it and could not be a word of plain language."""
        assert self._made is not None
        called, text = self._made.vocabulary.called, query[:MAX_QUERY_CHARS]
        named = dict.fromkeys(called(text.strip().casefold()))
        for word in text.split():
            name = _EDGES.sub("", word)
            if _is_identifier(name):
                named |= dict.fromkeys(called(name.casefold()))
        return named


@dataclass(frozen=True, slots=True)
class _Made:
    """What an index of at least one tool is made of; the segments by their owners' digests, in the order of the ids."""

    language: Language
    segments: Mapping[str, Segment]
    vocabulary: Vocabulary


def _language() -> Language:
    from whoosh.lang.porter2 import stem as porter2

    stem = functools.lru_cache(_STEMS_KEPT)(porter2)
    return Language(stem, synonyms(stem))


def _in_whoosh(give_way: GiveWay) -> Callable[[Sequence[tuple[str, Mapping[int, int]]]], Read]:
    """Keeps postings in a segment of Whoosh's own, which lives in memory and nowhere else."""
    from whoosh.codec.whoosh3 import W3Codec
    from whoosh.fields import KEYWORD
    from whoosh.filedb.filestore import RamStorage
    from whoosh.filedb.structfile import BufferFile

    class Memory(RamStorage):
        """Gives out its files as they are; Whoosh's own hands a copy to whoever reads, and that would stay as well."""

        def open_file(self, name: str, **_: object) -> BufferFile:
            return BufferFile(self.files[name], name)

    def keep(postings: Sequence[tuple[str, Mapping[int, int]]]) -> Read:
        codec, storage, field = W3Codec(_POSTINGS_A_BLOCK, _UNCOMPRESSED), Memory(), KEYWORD()
        segment = codec.new_segment(storage, _FIELD)
        writer = codec.field_writer(storage, segment)
        writer.add_postings({_FIELD: field}, None, _in_order(postings, give_way))
        give_way()
        writer.close()
        give_way()
        reader = codec.terms_reader(storage, segment)

        def held(term: str) -> Held:
            numbers, weights = array("I"), array("f")
            matcher = reader.matcher(_FIELD, term.encode(), field.format)
            while matcher.is_active():
                numbers.append(matcher.id())
                weights.append(matcher.weight())
                matcher.next()
            return Held(numbers, weights)

        return held

    return keep


def _in_order(
    postings: Iterable[tuple[str, Mapping[int, int]]], give_way: GiveWay
) -> Iterator[tuple[str, bytes, int, int, bytes]]:
    """What Whoosh writes: field, term, tool, weight and nothing besides, term by term."""
    for term, weights in giving_way(sorted((term.encode(), weights) for term, weights in postings), give_way):
        for number, weight in weights.items():
            yield _FIELD, term, number, weight, b""


def _is_identifier(word: str) -> bool:
    """Whether a word of a sentence is written as only an identifier is: with a joint, a digit or an inner capital."""
    return not word.isalpha() or (any(letter.isupper() for letter in word[1:]) and not word.isupper())
