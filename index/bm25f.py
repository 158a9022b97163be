"""BM25F over one scored field: how much each term of a document is worth to a query that names it.

What belongs to one document (weights,
length) and what belongs to all of them (rarity, average length) meet only here, so that either can change alone.
Pure arithmetic; knows no tool and no library.
"""

import math
from collections.abc import Iterable

K1 = 1.2  # how soon more of the same word stops counting
B = 0.5  # how much a long text is held against its words; flat between 0.4 and 0.7 on public sets


def inverse_document_frequency(containing: int, total: int) -> float:
    """Lucene's form, which falls towards 0 for a word that every document has and never below."""
    return math.log1p((total - containing + 0.5) / (containing + 0.5))


def burden(relative_length: float) -> float:
    """What a document's length, in average lengths, holds against each of its terms."""
    return K1 * (1 - B + B * relative_length)


def shares(rarity: float, weights: Iterable[float], burdens: Iterable[float]) -> list[float]:
    """A term's share of the score of each document: it grows with the weight there, up to `K1 + 1` times its rarity.

    A weight and the burden of its document are of one unit.
    """
    most = rarity * (K1 + 1)
    return [most * weight / (weight + burden) for weight, burden in zip(weights, burdens, strict=True)]
