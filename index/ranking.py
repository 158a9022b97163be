"""The order of the best tools: small bonuses on top of BM25F, each a plain function of the query and one tool.

Measured on four public sets with 300 queries each; every constant was taken from the middle of the range in which the
results stay within half a point. Bonuses for a verb, an object, coverage of the query or parameters were tried there
and do not pay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

from index.outline import Alphabets, Outline
from index.query import Said

AS_WRITTEN = 0.3  # of a term's share; the range tried was 0 to 0.3: +0.4 NDCG
SIDE_BY_SIDE = 0.4  # of the smaller share of a pair of terms; 0.4 and 0.6 find the same, at 0 recall loses 0.8
NAME_COVERED = 1.0  # for a name of which the query says every word; flat from 0.5 to 3
SERVER_NAMED = 1.0  # about as much as a common word; 0 to 2 find the same there, where few queries name a server


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words of a query in the letters of one owner's tools."""

    as_written: Mapping[str, str]  # letter of a word that the user wrote: its term
    pairs: Mapping[str, tuple[str, str]]  # two letters: the two terms
    terms: frozenset[str]  # letters


Share: TypeAlias = Callable[[str], float]
"""A term's share of the score of the tool that is judged."""

Rarity: TypeAlias = Callable[[str], float]
"""The inverse document frequency of a term's letter."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that is judged."""

    outline: Outline
    share: Share
    rarity: Rarity


Rule: TypeAlias = Callable[[Wanted, Candidate], float]


def wanted(said: Sequence[Said], alphabets: Alphabets) -> Wanted:
    """The words of a query as the rules need them."""
    letters = [alphabets.terms.known(one.term) for one in said]
    return Wanted(
        as_written={letter: one.term for one in said if (letter := alphabets.words.known(one.word))},
        pairs={
            first + second: (one.term, other.term)
            for (first, one), (second, other) in pairwise(zip(letters, said, strict=True))
            if first and second
        },
        terms=frozenset(filter(None, letters)),
    )


def as_written(asked: Wanted, candidate: Candidate) -> float:
    """The tool has a word in the very form that the user wrote ("listings", not "list")."""
    present = candidate.outline.words
    terms = {term for letter, term in asked.as_written.items() if letter in present}
    return AS_WRITTEN * sum(map(candidate.share, terms))


def side_by_side(asked: Wanted, candidate: Candidate) -> float:
    """Two words that follow each other in the query do so in the tool ("pull request")."""
    present = candidate.outline.terms
    return SIDE_BY_SIDE * sum(
        min(candidate.share(first), candidate.share(second))
        for letters, (first, second) in asked.pairs.items()
        if letters in present
    )


def name_covered(asked: Wanted, candidate: Candidate) -> float:
    """How much of the tool's name the query says, rare words counting more."""
    name, rarity = candidate.outline.name, candidate.rarity
    said = [letter for letter in name if letter in asked.terms]
    return NAME_COVERED * sum(map(rarity, said)) / sum(map(rarity, name)) if said else 0.0


def server_named(asked: Wanted, candidate: Candidate) -> float:
    """The query says the whole name of the tool's server."""
    server = candidate.outline.server
    return SERVER_NAMED if server and asked.terms.issuperset(server) else 0.0


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "as written": as_written,
        "side by side": side_by_side,
        "name": name_covered,
        "server": server_named,
    }
)


def bonus(asked: Wanted, candidate: Candidate) -> float:
    """What all rules add to the tool's score."""
    return sum(rule(asked, candidate) for rule in RULES.values())
