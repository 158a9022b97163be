"""One owner's tools as search reads them: what each term weighs where, how long the tools are, how they are worded.

Nothing here depends on any other owner's tools, so a new listing makes one new segment and leaves the others as they
are; what depends on all of them (rarity, average length) is worked out in `vocabulary.py`. Knows no library: postings
are kept by a function that is handed in.

Laws:
1. A segment is a function of its tools alone, and never changes. Safe to use from several threads.
2. Weights are whole numbers (see `descriptor.UNITS`), so that sums over segments are exact in any order.
"""

import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from index.descriptor import UNITS, indexed_text
from index.giving_way import GiveWay, giving_way, never
from index.outline import Alphabets, Outline, Scribe, outline
from index.text import Stem
from index.tool import Tool


@dataclass(frozen=True, slots=True)
class Held:
    """The tools of one segment that have a term, by ascending number, and what it weighs in each."""

    numbers: "array[int]"
    weights: "array[float]"


Read: TypeAlias = Callable[[str], Held]
"""What is kept of a term that some tool has. Called by one thread at a time."""

Keep: TypeAlias = Callable[[Sequence[tuple[str, Mapping[int, int]]]], Read]
"""Keeps, for each term, the numbers of the tools that have it and its weight in each."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The tools of one owner in letters. `frequencies`: how many tools have each term, in the order of the terms."""

    alphabets: Alphabets
    outlines: tuple[Outline, ...]
    terms_by_letter: Mapping[str, str]
    frequencies: "array[int]"


class Segment:
    """One owner's tools, by number in the order of their ids."""

    def __init__(self, tools: Sequence[Tool], lengths: "array[int]", wording: Wording, read: Read) -> None:
        self.ids = tuple(tool.id for tool in tools)
        self.lengths = lengths
        self.wording = wording
        self.called = tuple((tool.id.casefold(), tool.bare_name.casefold()) for tool in tools)
        self._read = read
        self._held: dict[str, Held] = {}
        self._lock = threading.Lock()

    def held(self, term: str) -> Held:
        """The tools that have a term, which some must; read once."""
        known = self._held.get(term)
        if known is None:
            with self._lock:
                known = self._held[term] = self._read(term)
        return known

    def frequencies(self) -> Iterator[tuple[str, int]]:
        """How many tools have each term."""
        return zip(self.wording.alphabets.terms.words(), self.wording.frequencies, strict=True)


def segment_of(tools: Sequence[Tool], stem: Stem, keep: Keep, give_way: GiveWay = never) -> Segment:
    """The segment of one owner's tools, which are in the order of their ids."""
    scribe = Scribe(stem)
    outlines: list[Outline] = []
    lengths = array("I")
    weights_by_letter: dict[str, dict[int, int]] = defaultdict(dict)
    for number, tool in enumerate(giving_way(tools, give_way)):
        written = [(field, scribe.write(text)) for field, text in indexed_text(tool)]
        weights = _weights((UNITS[field], terms) for field, (_, terms) in written)
        lengths.append(sum(weights.values()))
        for letter, weight in weights.items():
            weights_by_letter[letter][number] = weight
        (_, name), (_, server) = scribe.write(tool.bare_name), scribe.write(tool.server)
        outlines.append(outline([letters for _, letters in written], name, server))
    terms_by_letter = scribe.alphabets.terms.by_letter()
    read = keep([(term, weights_by_letter[letter]) for letter, term in terms_by_letter.items()])
    frequencies = array("I", [len(weights_by_letter[letter]) for letter in terms_by_letter])
    return Segment(tools, lengths, Wording(scribe.alphabets, tuple(outlines), terms_by_letter, frequencies), read)


def _weights(written: Iterator[tuple[int, str]]) -> Mapping[str, int]:
    """What each letter weighs in one tool."""
    weights: dict[str, int] = {}
    get = weights.get
    for unit, letters in written:
        for letter in letters:
            weights[letter] = get(letter, 0) + unit
    return weights
