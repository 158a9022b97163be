"""The search index: Whoosh, in memory, one segment an owner. The only file that imports Whoosh.

Whoosh keeps what each term weighs in each tool, as its posting weight. Whoosh's codec writes and reads the postings; its
writer above that would add a table of contents that is pickled, and columns that nothing reads, and take twice as long.
A term's postings are read into arrays once; adding up and ordering is ours (`bm25f.py`, `scoring.py`, `ranking.py`),
because Whoosh's scoring keeps lengths in one byte, lets no word's rarity fall below 1, and takes ten times as long.

Laws:
1. No Whoosh index is ever opened from disk: opening one unpickles it.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from index.confidence import Confidence, grade
from index.explain import Explanation, Judged, explain
from index.fingerprint import Searchable, by_owner, fingerprint_of
from index.giving_way import GiveWay, giving_way, never
from index.query import MAX_QUERY_CHARS, read
from index.segment import Held, Read, Segment, segment_of
from index.synonyms import synonyms
from index.tool import Tool
from index.vocabulary import Language, Vocabulary

MAX_HITS = 60  # above any limit that the gateway grants; so many are put in order, and 30 to 200 find the same
_EXACT = 100_000.0  # above any sum: a share is at most about 25, times 1 + ln(occurrences), for 128 terms
_STEMS_KEPT = 65_536  # a catalogue of 50,000 tools has about 30,000 different words
_FIELD = "terms"
_POSTINGS_A_BLOCK = 2_048  # an owner's tools: a term is one block
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

    def warm(self, give_way: GiveWay = never) -> None:
        """Spares the first searches the reading of what most searches ask for. Changes no answer."""
        if self._made is not None:
            self._made.vocabulary.warm(give_way)

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The best tools for a query, at most `limit`; tools that it names exactly come first.

        Empty when none of the things that the query speaks of occurs in any of the first hits.
        """
        return tuple(match for _, match in self._found(query, limit))

    def explain(self, query: str, limit: int, tool: Callable[[str], Tool | None]) -> tuple[Explanation, ...]:
        """The same hits as `search` gives, each taken apart. `tool` gives the tool of an id, such as `Catalog.get`."""
        if self._made is None:
            return ()
        vocabulary, named = self._made.vocabulary, self._named_in(query)
        asked = read(query, vocabulary.knowledge)
        return tuple(
            explain(Judged(number, found, match.confidence, number in named), asked, vocabulary)
            for number, match in self._found(query, limit)
            if (found := tool(match.tool_id)) is not None
        )

    def closest_words(self, query: str) -> tuple[str, ...]:
        """Words of the catalogue that resemble what the query speaks of and no tool has."""
        if self._made is None:
            return ()
        vocabulary = self._made.vocabulary
        return vocabulary.closest_words(read(query, vocabulary.knowledge))

    def _found(self, query: str, limit: int) -> Iterator[tuple[int, Match]]:
        limit = min(limit, MAX_HITS)
        if limit < 1 or self._made is None:
            return
        vocabulary = self._made.vocabulary
        asked, named = read(query, vocabulary.knowledge), self._named_in(query)
        found = vocabulary.best(asked, named, MAX_HITS)
        first = heapq.nsmallest(
            limit, found, key=lambda number: (number not in named, -round(found[number], _DIGITS), self._ids[number])
        )
        if not named and vocabulary.is_hopeless(asked, first):
            return
        ceiling = vocabulary.ceiling(asked)
        for number in first:
            is_named = number in named
            score = round(found[number], _DIGITS) + (_EXACT if is_named else 0.0)
            yield (
                number,
                Match(self._ids[number], score, Confidence.HIGH if is_named else grade(found[number], ceiling)),
            )

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

    def keep(postings: Sequence[tuple[str, Mapping[int, int]]]) -> Read:
        codec, storage, field = W3Codec(_POSTINGS_A_BLOCK, _UNCOMPRESSED), RamStorage(), KEYWORD()
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
