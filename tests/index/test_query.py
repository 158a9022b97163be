from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh.lang.porter2 import stem as porter2

from index.lexicon import lexicon
from index.query import MAX_QUERY_TERMS, Knowledge, read
from index.scoring import Way
from index.spelling import Spelling
from index.synonyms import synonyms
from index.text import Stem

WORDS = ("repository", "calendar", "create", "issue", "pull", "request")
stem: Stem = porter2
SYNONYMS = synonyms(stem)


def knowledge(*known: str) -> Knowledge:
    terms: Callable[[str], bool] = {stem(word) for word in known}.__contains__
    return Knowledge(stem, SYNONYMS, lexicon(), terms, Spelling(known).nearest)


def ways(query: str, *known: str) -> dict[str, dict[str, float]]:
    """For each word of the query the ways to say it, with their weights."""
    clauses = read(query, knowledge(*(known or WORDS))).clauses
    return {clause.word: {" ".join(way.phrase): round(way.weight, 2) for way in clause.ways} for clause in clauses}


def test_a_word_is_looked_for_as_it_is_said_and_less_so_in_other_words() -> None:
    found = ways("delete the repository")
    assert found["delete"] | {"delet": 1.0, "remov": 0.4, "destroy": 0.4} == found["delete"]
    assert found["repository"] == {"repositori": 1.0, "repo": 0.4}


def test_a_phrase_has_synonyms_and_a_synonym_may_be_a_phrase() -> None:
    assert ways("open pull request")["pull"]["pr"] == 0.4
    assert ways("open pr")["pr"] == {"pr": 1.0, "pull request": 0.4, "merg request": 0.4, "mr": 0.4, "prs": 0.4}


def test_what_the_query_says_itself_is_no_synonym() -> None:
    assert "pull request" not in ways("merge pr, the pull request")["pr"]


def test_a_phrase_with_stop_words_is_understood_but_never_looked_for() -> None:
    assert "disabl" in ways("turn off logging")["turn"]
    assert "enabl" in ways("turn on logging")["turn"]
    assert "turn" not in " ".join(ways("enable logging")["enable"])


def test_saying_a_word_again_adds_ever_less() -> None:
    assert [ways("issue " * count)["issue"]["issu"] for count in (1, 2, 3)] == [1.0, 1.69, 2.1]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("repositry", "repository"), ("calender", "calendar"), ("isue", "issue"), ("requesst", "request")],
)
def test_an_unknown_word_is_taken_for_the_closest_one(written: str, meant: str) -> None:
    (clause,) = read(written, knowledge(*WORDS)).clauses
    assert clause.word == meant
    assert clause.ways[0].origin == "spelling"
    assert 0.4 < clause.ways[0].weight < 0.8


@pytest.mark.parametrize("word", ["weather", "cat", "quixotic", "якорь", "pul", "repo"])
def test_a_word_that_resembles_none_or_has_synonyms_stays_as_it_is(word: str) -> None:
    (clause,) = read(word, knowledge(*WORDS)).clauses
    assert clause.ways[0] == Way((stem(word),), 1.0, "said")


def test_of_equally_close_words_the_first_of_the_alphabet_is_taken() -> None:
    assert Spelling(["beards", "heards", "boards"]).nearest("xeards") == ("beards", 2 / 3)


def test_a_foreign_word_is_looked_for_in_english_and_as_it_is() -> None:
    found = ways("Календарь")["calendar"]
    assert found | {"calendar": 0.9, "календарь": 1.0, "schedul": 0.36} == found
    assert (
        ways("プルリクエスト")["pull"] | {"pull": 0.9, "プル ルリ リク クエ エス スト": 1.0}
        == ways("プルリクエスト")["pull"]
    )


def test_a_foreign_word_of_several_meanings_is_looked_for_in_all() -> None:
    assert ways("задачу")["issue"] | {"issu": 0.9, "task": 0.9} == ways("задачу")["issue"]


def test_a_query_asks_for_a_bounded_number_of_things() -> None:
    assert len(read(" ".join(f"{n}x" for n in range(900)), knowledge()).clauses) == MAX_QUERY_TERMS


@settings(deadline=None)
@given(st.text(st.characters()) | st.text("aeiot repository", max_size=200))
def test_any_text_is_read(text: str) -> None:
    query = read(text, knowledge(*WORDS))
    assert all(way.weight > 0 for clause in query.clauses for way in clause.ways)


def test_every_synonym_is_mutual_unless_it_holds_a_stop_word() -> None:
    for phrase, others in SYNONYMS.items():
        for other in others:
            assert other in SYNONYMS
            assert phrase != other
