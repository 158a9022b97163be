"""Queries with the ids that serve them, and how well an answer of the index serves each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from index import Confidence, Match

HITS = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the ids that serve it, and whether one of them is enough."""

    query: str
    gold: frozenset[str]
    any_is_enough: bool

    def recall(self, ids: Sequence[str]) -> float:
        """The part of the ids that the first hits have."""
        if not self.gold:
            return 0.0
        found = self.gold.intersection(ids[:HITS])
        return float(bool(found)) if self.any_is_enough else len(found) / len(self.gold)


@dataclass(frozen=True, slots=True)
class Answered:
    """A query and its answer: the confidence of the first hit (None: empty), and recall with and without the empty rule."""

    asked: Asked
    ids: tuple[str, ...]
    confidence: Confidence | None
    recall: float
    recall_unjudged: float


def bare(matches: Iterable[Match]) -> tuple[str, ...]:
    """The ids as the sets write them."""
    return tuple(match.tool_id.removeprefix("mcp:") for match in matches)


def mean(values: Iterable[float]) -> float:
    """In percent."""
    known = list(values)
    return 100 * sum(known) / len(known) if known else float("nan")
