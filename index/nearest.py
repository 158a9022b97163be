"""Which names a mistaken reference was probably meant to be. Bounded however large the catalogue is.

A first look compares the letter pairs of names as bit sets, some tens of nanoseconds each; only the best of these are
compared letter by letter.
"""

import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from index.ids import bare_name
from index.text import words

MAX_CANDIDATES = 3  # more would be a listing, and the way to a listing is search
_COMPARED = 128  # letter-by-letter comparisons for one reference: under 10 ms
_BITS = 256  # names have about 20 letter pairs, so chance meetings stay few
_GOOD_ENOUGH = 0.6  # difflib's own measure of "close"
_MIN_CONTAINED_CHARS = 4  # a shorter name stands inside almost any text
_OWNER_BONUS = 0.15  # a tool of the owner that was named beats a slightly closer name elsewhere
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Name:
    """A tool's name, prepared for comparison."""

    id: str
    owner: str
    letters: str
    outline: int


def prepare(tool_id: str, owner: str, name: str) -> Name:
    """Work out once what every later comparison needs."""
    letters = _letters(name)
    return Name(tool_id, _letters(owner), letters, _outline(letters))


def nearest(reference: str, names: Iterable[Name]) -> tuple[str, ...]:
    """Up to three ids that the reference is close to, the closest first."""
    asked = bare_name(reference)
    wanted = _letters(asked)
    outline = _outline(wanted)
    if not outline:
        return ()
    likely = heapq.nlargest(_COMPARED, names, key=lambda name: _overlap(outline, name.outline))
    matcher = SequenceMatcher(None, "", wanted, autojunk=False)
    asked_words = frozenset(words(asked))
    close = [(_closeness(name, matcher, wanted, asked_words), name) for name in likely]
    everything = _letters(reference)
    rated = sorted(
        (-closeness - (_OWNER_BONUS if name.owner in everything else 0.0), name.id)
        for closeness, name in close
        if closeness >= _GOOD_ENOUGH
    )
    return tuple(tool_id for _, tool_id in rated[:MAX_CANDIDATES])


def _closeness(name: Name, matcher: "SequenceMatcher[str]", wanted: str, asked: frozenset[str]) -> float:
    matcher.set_seq1(name.letters)
    closeness = matcher.ratio()
    if len(name.letters) >= _MIN_CONTAINED_CHARS and wanted.endswith(name.letters):
        closeness = max(closeness, 0.9)  # `time__get_current_time`: how hosts write owner and name
    own = frozenset(words(name.id.rpartition(":")[2]))
    shared = len(own & asked) / (len(own | asked) or 1)
    return max(closeness, 0.9 * shared)  # `event_create`: the same words, turned round


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


def _outline(letters: str) -> int:
    bits = 0
    for first, second in zip(letters, letters[1:] or letters, strict=False):
        bits |= 1 << ((ord(first) * 31 + ord(second)) % _BITS)
    return bits


def _overlap(one: int, other: int) -> float:
    return 2 * (one & other).bit_count() / ((one.bit_count() + other.bit_count()) or 1)
