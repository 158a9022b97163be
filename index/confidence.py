"""How far an answer can be trusted: each hit by its score against the best that the query could have reached, and
whether anything that was asked for was found at all.

Scores of different queries cannot be compared, but shares of their own ceilings can. Measured, no cut-off separates
right answers from wrong ones, so a hit is graded and never left out for its grade.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from index.bm25f import burden, inverse_document_frequency, shares
from index.descriptor import WEIGHTS
from index.query import UNTRANSLATED, Query
from index.scoring import Clause, Lookup, way_scores

HIGH_SHARE = 0.65
MEDIUM_SHARE = 0.35
"""Shares of the ceiling. Between 0.6 and 0.7, and with 0.35 below, recall rises from band to band on each of five sets of
queries, and none of 40 queries that no tool serves reaches the highest."""

CERTAIN_CORRECTION = 0.45  # what one wrong letter of seven leaves; a word taken for another more vaguely was not found
_UNSEEN_WEIGHT = WEIGHTS["name"] + WEIGHTS["first sentence"]  # where a tool made for the purpose would have the word

# What is done to a thing rather than what the thing is: a tool that shares only this with a query is no answer to it.
_ACTION_TEXT = """
    add all anything append apply ask assign assist available best browse build buy calculate call cancel change check choose
    clear click close come complete compose compute connect convert copy create current delete describe detail disable
    display do does edit enable end enter execute fetch fill filter find fix follow full generate get give go good help
    import include insert know latest let list load locate look make manage many mark modify move much multiple name new
    now number obtain one open out over perform please post prepare provide push put read receive recent record remove
    rename replace report request reserve reset resolve return run save say search see select send set several share
    show some something specific start stop submit suggest take tell test top track try turn two type update upload use using
    verify view way write
"""
_ACTIONS = frozenset(_ACTION_TEXT.split())


class Confidence(StrEnum):
    """How sure a hit is: of those first in their answer, more are right the higher it is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


def grade(score: float, ceiling: float) -> Confidence:
    """The confidence of a score under a ceiling."""
    share = score / ceiling if ceiling else 0.0
    if share >= HIGH_SHARE:
        return Confidence.HIGH
    return Confidence.MEDIUM if share >= MEDIUM_SHARE else Confidence.LOW


def ceiling(query: Query, lookup: Lookup, tools: int) -> float:
    """The best score that the query could have reached: each word as good as its best tool has it.

    A word that no tool has, be it taken for another or not, counts like one that a single tool has in its name and
    first sentence.
    """
    (unseen,) = shares(inverse_document_frequency(0, tools), (_UNSEEN_WEIGHT,), (burden(1.0),))
    return sum(_most(clause, lookup) or unseen for clause in query.clauses)


def is_hopeless(query: Query, first: Sequence[int], lookup: Lookup) -> bool:
    """Whether no object word of the query occurs in any of the first hits. A query of verbs alone is not hopeless."""
    objects = [clause for clause in query.clauses if _is_object(clause)]
    return bool(objects) and not any(_occurs(clause, number, lookup) for clause in objects for number in first)


def unfound(query: Query, lookup: Lookup) -> Iterable[str]:
    """The object words of the query that no tool has in any way."""
    return (clause.word for clause in query.clauses if _is_object(clause) and not _most(clause, lookup))


def _is_object(clause: Clause) -> bool:
    """A corrected word may have been any: that it resembles a verb says nothing. Nor does a word that we can't read."""
    first = clause.ways[0]
    term = first.phrase[0]
    if first.origin == UNTRANSLATED:
        return False
    return first.origin == "spelling" or _ACTIONS.isdisjoint((clause.word, term, f"{term}e"))


def _most(clause: Clause, lookup: Lookup) -> float:
    """What the clause is worth where it is met best, as it was said or as what that means."""
    postings = (
        (way.weight, [lookup(term) for term in way.phrase])
        for way in clause.ways
        if way.origin in ("said", "translation")
    )
    known = ((weight, [posting.most for posting in found if posting]) for weight, found in postings if all(found))
    return max((weight * sum(shares) / len(shares) for weight, shares in known if shares), default=0.0)


def _occurs(clause: Clause, number: int, lookup: Lookup) -> bool:
    first = clause.ways[0]
    is_certain = first.origin != "spelling" or first.weight >= CERTAIN_CORRECTION
    return is_certain and any(True for _ in way_scores(clause, number, lookup))
