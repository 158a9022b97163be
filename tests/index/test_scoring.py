import math
from array import array
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.bm25f import burden, inverse_document_frequency, shares
from index.scoring import Clause, Posting, Way, best_scores, clause_score, way_scores

DOCUMENTS = ({"read": 2.5, "file": 3.5}, {"write": 2.5, "file": 2.5, "path": 1.0}, {"list": 2.5, "event": 0.5})


def postings(documents: list[dict[str, float]]) -> dict[str, Posting]:
    """What the index holds of documents whose terms have these shares."""
    terms = sorted({term for document in documents for term in document})
    return {
        term: Posting(
            array("I", [number for number, document in enumerate(documents) if term in document]),
            array("f", [document[term] for document in documents if term in document]),
            max(document.get(term, 0.0) for document in documents),
        )
        for term in terms
    }


def said(*terms: str) -> list[Clause]:
    return [Clause(term, (Way((term,), 1.0, "said"),)) for term in terms]


def test_a_share_is_bm25f_with_field_weights_and_weighted_lengths() -> None:
    """The formula once more, written out: Lucene's rarity, k1 = 1.2, b = 0.5."""
    average = (6 + 6 + 3) / 3
    for document in DOCUMENTS:
        for term, weight in document.items():
            holders = sum(term in other for other in DOCUMENTS)
            rarity = math.log(1 + (3 - holders + 0.5) / (holders + 0.5))
            length = 1.2 * (1 - 0.5 + 0.5 * sum(document.values()) / average)
            held_against_it = burden(sum(document.values()) / average)
            (share,) = shares(inverse_document_frequency(holders, 3), [weight], [held_against_it])
            assert share == pytest.approx(rarity * weight * 2.2 / (weight + length))


def test_what_is_asked_for_adds_up() -> None:
    lookup = postings([{"read": 2.0, "file": 1.0}, {"file": 1.5}, {"event": 3.0}]).get
    assert best_scores(said("read", "file", "nothing"), lookup, 8) == {0: 3.0, 1: 1.5}


def test_the_best_way_to_say_a_thing_counts_and_not_the_sum() -> None:
    lookup = postings([{"delete": 2.0, "remove": 4.0}, {"remove": 4.0}, {"delete": 1.0}]).get
    clause = Clause("delete", (Way(("delete",), 1.0, "said"), Way(("remove",), 0.25, "synonym")))
    assert best_scores([clause], lookup, 8) == {0: 2.0, 1: 1.0, 2: 1.0}
    assert list(way_scores(clause, 0, lookup)) == [(clause.ways[0], 2.0), (clause.ways[1], 1.0)]


def test_a_phrase_counts_only_where_all_of_its_words_are() -> None:
    lookup = postings([{"pull": 2.0, "request": 4.0}, {"request": 4.0}]).get
    assert best_scores([Clause("pr", (Way(("pull", "request"), 0.5, "synonym"),))], lookup, 8) == {0: 1.5}
    assert best_scores([Clause("mr", (Way(("merge", "request"), 0.5, "synonym"),))], lookup, 8) == {}


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32).map(Random))
def test_following_only_the_best_finds_what_adding_everything_up_finds(random: Random) -> None:
    rare, common = [f"rare{n}" for n in range(6)], [f"common{n}" for n in range(3)]
    documents = [
        {term: random.uniform(3, 6) for term in rare if random.random() < 0.05}
        | {term: random.uniform(0, 0.3) for term in common if random.random() < 0.9}
        for _ in range(300)
    ]
    lookup = postings(documents).get
    clauses = [
        *said(*rare, "common0"),
        Clause("c", (Way(("common1",), 1.0, "said"), Way(("common0", "common2"), 0.5, "synonym"))),
    ]
    whole = {number: sum(clause_score(clause, number, lookup) for clause in clauses) for number in range(300)}
    found = best_scores(clauses, lookup, 5)
    best = sorted(whole, key=lambda number: (-whole[number], number))[:5]
    assert sorted(found, key=lambda number: (-round(found[number], 4), number))[:5] == best
    assert {number: found[number] for number in best} == pytest.approx({number: whole[number] for number in best})
