"""What tools mean, beside the words that they have: how closeness in meaning is added to a score, and of what text.

Pure: the model is elsewhere. Who can tell how close a query is to tools hands in a function.

Laws:
1. Nothing here decides whether an answer is empty or how sure a hit is: closeness says which tool is nearest, however far.
2. Scores are added, not ranks: a rank forgets that the first hit may be far ahead of the second.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from index.descriptor import MAX_DESCRIPTION_CHARS
from index.text import words
from index.tool import Tool

WEIGHT = 30.0
"""Of a closeness of 1; tools that have to do with a query differ by some 0.2. Chosen on one half of the queries of four
public sets: 20 to 40 find the same within 0.3 NDCG on that half, and on the other."""

NEAREST = 20
"""Tools that are looked at for their meaning alone. With 60 nothing more is found, with none 0.25 NDCG are lost."""

MEANT_CHARS = 1_000  # of a tool's text; later sentences are about details

Near: TypeAlias = Callable[[str, int, Sequence[str]], Mapping[str, float]]
"""For a query: the closeness (a cosine) of so many nearest tools, and of the tools of these ids, by id."""


def meaning_text(tool: Tool) -> str:
    """The text of a tool whose meaning is compared."""
    return f"{' '.join(words(tool.name))}: {tool.description[:MAX_DESCRIPTION_CHARS].strip()}"[:MEANT_CHARS]


def weighted(closeness: float) -> float:
    """What a closeness adds to a score. What is turned away from a query is no worse than what has nothing to do with it."""
    return WEIGHT * max(0.0, closeness)


def fused(scores: Mapping[str, float], closeness: Mapping[str, float]) -> dict[str, float]:
    """The scores of words with the closeness added; a tool that has no word of the query starts from nothing."""
    return {
        tool_id: scores.get(tool_id, 0.0) + weighted(closeness.get(tool_id, 0.0)) for tool_id in {**scores, **closeness}
    }
