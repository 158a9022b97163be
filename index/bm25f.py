"""BM25F over one scored field: how much each term of a document is worth to a query that names it.

The index is built once and never changed, so inverse document frequency and length are known when it is built and
the whole product is worked out then. A search only adds up these numbers. Pure arithmetic; knows no tool and no library.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

K1 = 1.2  # how soon more of the same word stops counting
B = 0.5  # how much a long text is held against its words; flat between 0.4 and 0.7 on public sets


def impacts(documents: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """For every document (term to summed field weight), each term's share of the score.

    A document's length is the sum of its weights: words that count little also lengthen it little.
    """
    frequency = Counter(term for document in documents for term in document)
    rarity = {term: inverse_document_frequency(count, len(documents)) for term, count in frequency.items()}
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    return [
        {term: rarity[term] * saturation(weight, length / average) for term, weight in document.items()}
        for document, length in zip(documents, lengths, strict=True)
    ]


def inverse_document_frequency(containing: int, total: int) -> float:
    """Lucene's form, which falls towards 0 for a word that every document has and never below."""
    return math.log1p((total - containing + 0.5) / (containing + 0.5))


def saturation(weight: float, relative_length: float) -> float:
    """The part of the score that grows with a term's weight, up to `K1 + 1`."""
    return weight * (K1 + 1) / (weight + K1 * (1 - B + B * relative_length))
