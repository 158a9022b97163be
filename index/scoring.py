"""From what a query asks for to the tools that have it, with their BM25F scores. Pure arithmetic; knows no library.

A clause asks for one thing in several ways. A tool gets what the best of these ways is worth to it, never the sum:
saying "remove, delete" in a description is not twice as much as saying "delete".
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from index.synonyms import Phrase


@dataclass(frozen=True, slots=True)
class Posting:
    """The tools that have a term, by ascending number, and the term's share of the score of each."""

    numbers: "array[int]"
    shares: "array[float]"
    most: float  # the largest share

    def share(self, number: int) -> float:
        """The term's share of one tool's score; 0 when the tool does not have it."""
        place = bisect_left(self.numbers, number)
        return self.shares[place] if place < len(self.numbers) and self.numbers[place] == number else 0.0


Lookup: TypeAlias = Callable[[str], Posting | None]
"""The posting of a term; None when no tool has it."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask for something: words that a tool must all have, and what they count."""

    phrase: Phrase
    weight: float
    origin: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that a query asks for, in the ways it may be said; `word` is the one that was said."""

    word: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause whose words have been looked up: the weight and the postings of each way that some tool can answer."""

    ways: list[tuple[float, list[Posting]]]
    most: float  # what it can be worth to any tool
    length: int  # how many tools have to be looked at to know what it is worth to each


def best_scores(clauses: Sequence[Clause], lookup: Lookup, count: int) -> dict[int, float]:
    """The scores of the best `count` tools, and of some that are not among them.

    What is worth most is added up first. When all that is left to add could not bring a new tool among the best, only
    those are followed further that could still stay there: the answer is the same, and common words cost little.
    """
    parts = sorted((_part(clause, lookup) for clause in clauses), key=lambda part: -part.most)
    left = sum(part.most for part in parts)
    total: dict[int, float] = {}
    for place, part in enumerate(parts):
        if _is_long(parts[place:], len(total), count) and (least := sorted(total.values())[-count]) > left:
            followed = {number: score for number, score in total.items() if score + left >= least}
            if _is_cheaper(len(followed), parts[place:]):
                return _followed(followed, parts[place:])
        left -= part.most
        found = _scores(part)
        get = total.get
        for number, score in found.items():
            total[number] = get(number, 0.0) + score
    return total


def way_scores(clause: Clause, number: int, lookup: Lookup) -> Iterator[tuple[Way, float]]:
    """What each way of a clause is worth to one tool that has it."""
    for way in clause.ways:
        if score := way.weight * _share(_postings(way, lookup), number):
            yield way, score


def clause_score(clause: Clause, number: int, lookup: Lookup) -> float:
    """What one clause is worth to one tool."""
    return max((score for _, score in way_scores(clause, number, lookup)), default=0.0)


def _part(clause: Clause, lookup: Lookup) -> _Part:
    ways = [(way.weight, postings) for way in clause.ways if (postings := _postings(way, lookup))]
    return _Part(
        ways,
        max((weight * max(posting.most for posting in postings) for weight, postings in ways), default=0.0),
        sum(min(len(posting.numbers) for posting in postings) for _, postings in ways),
    )


def _postings(way: Way, lookup: Lookup) -> list[Posting]:
    """The postings of all words of a way; none when one of them occurs nowhere."""
    postings = [posting for term in way.phrase if (posting := lookup(term)) is not None]
    return postings if len(postings) == len(way.phrase) else []


def _scores(part: _Part) -> dict[int, float]:
    """What a part is worth to each tool that has it in any way."""
    best: dict[int, float] = {}
    get = best.get
    for weight, postings in part.ways:
        for number, share in _shares(postings):
            score = weight * share
            if score > get(number, 0.0):
                best[number] = score
    return best


def _shares(postings: Sequence[Posting]) -> Iterable[tuple[int, float]]:
    """The tools that are in all postings, with the mean of their shares."""
    if len(postings) == 1:
        return zip(postings[0].numbers, postings[0].shares, strict=True)
    rarest = min(postings, key=lambda posting: len(posting.numbers))
    found = ((number, _share(postings, number)) for number in rarest.numbers)
    return ((number, share) for number, share in found if share)


def _share(postings: Sequence[Posting], number: int) -> float:
    """The mean share of a tool that is in all postings, else 0."""
    shares = [posting.share(number) for posting in postings]
    return sum(shares) / len(shares) if shares and all(shares) else 0.0


def _is_long(parts: Sequence[_Part], found: int, count: int) -> bool:
    """Whether so much is left to walk that asking for the way round is worth sorting what has been found."""
    return found > 4 * count and sum(part.length for part in parts) > 2 * found


def _is_cheaper(followed: int, parts: Sequence[_Part]) -> bool:
    """Whether looking up every followed tool is less work than walking the postings; a look-up costs about ten steps."""
    return 10 * followed * sum(len(part.ways) for part in parts) < sum(part.length for part in parts)


def _followed(found: dict[int, float], parts: Sequence[_Part]) -> dict[int, float]:
    for part in parts:
        for number in found:
            found[number] += max(weight * _share(postings, number) for weight, postings in part.ways or [(0.0, [])])
    return found
