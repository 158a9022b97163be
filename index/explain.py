"""Why a tool was found: which word scored what in which field, and which rules added to it. For people, not for ranking.

Works on what a search worked on, and adds up to its scores. A share is divided among the fields of its word by the
weight that the word has in each.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from index.confidence import Confidence
from index.descriptor import WEIGHTS, indexed_text
from index.query import Query
from index.ranking import RULES
from index.scoring import Way, way_scores
from index.synonyms import Phrase
from index.text import Stem, terms
from index.tool import Tool
from index.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class WordScore:
    """What one word of the query brought: in which words of the tool it was met, and where they stand."""

    word: str
    met_as: str
    origin: str  # "said", "synonym", "translation", "untranslated" or "spelling"
    fields: Mapping[str, float]

    @property
    def score(self) -> float:
        """What it brought in all."""
        return sum(self.fields.values())


@dataclass(frozen=True, slots=True)
class Explanation:
    """A hit, taken apart. `named` means that the query names the tool, which puts it first whatever its score.

    `unmet` are the words of the query that the tool does not have in any way.
    """

    tool_id: str
    confidence: Confidence
    named: bool
    ceiling: float
    words: tuple[WordScore, ...]
    bonuses: Mapping[str, float]
    unmet: tuple[str, ...]

    @property
    def score(self) -> float:
        """The score that the hit was ordered by among those that are not named."""
        return sum(word.score for word in self.words) + sum(self.bonuses.values())


@dataclass(frozen=True, slots=True)
class Judged:
    """A hit as the search gave it. `meaning` is what its closeness in meaning added."""

    number: int
    tool: Tool
    confidence: Confidence
    named: bool
    meaning: float = 0.0


def explain(hit: Judged, query: Query, vocabulary: Vocabulary) -> Explanation:
    """Take one hit apart."""
    weights = field_weights(hit.tool, vocabulary.knowledge.stem)
    words, unmet = [], []
    for clause in query.clauses:
        ways = tuple(way_scores(clause, hit.number, vocabulary.posting))
        if ways:
            way, score = max(ways, key=lambda one: one[1])
            words.append(_word_score(clause.word, way, score, weights))
        else:
            unmet.append(clause.word)
    asked, candidate = vocabulary.judged(query, hit.number, {})
    bonuses = {name: amount for name, rule in RULES.items() if (amount := rule(asked, candidate))}
    if hit.meaning:
        bonuses["meaning"] = hit.meaning
    ceiling = vocabulary.ceiling(query)
    return Explanation(hit.tool.id, hit.confidence, hit.named, ceiling, tuple(words), bonuses, tuple(unmet))


def field_weights(tool: Tool, stem: Stem) -> Mapping[str, Mapping[str, float]]:
    """For each term of a tool the weight that it has in each field."""
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for field, text in indexed_text(tool):
        for term in terms(text, stem):
            weights[term][field] += WEIGHTS[field]
    return weights


def _word_score(word: str, way: Way, score: float, weights: Mapping[str, Mapping[str, float]]) -> WordScore:
    fields = _summed(way.phrase, weights)
    whole = sum(fields.values())
    return WordScore(
        word,
        " ".join(way.phrase),
        way.origin,
        {field: score * weight / whole for field, weight in sorted(fields.items(), key=lambda one: -one[1])},
    )


def _summed(phrase: Phrase, weights: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    fields: dict[str, float] = defaultdict(float)
    for term in phrase:
        for field, weight in weights[term].items():
            fields[field] += weight
    return fields
