"""Each rule of the ranking alone, then the order that they make together."""

from array import array
from collections.abc import Sequence

import pytest
from whoosh.lang.porter2 import stem

from index.outline import Alphabet, Scribe, outline
from index.query import Said
from index.ranking import Candidate, Wanted, as_written, bonus, name_covered, server_named, side_by_side, wanted
from index.scoring import Posting
from index.text import is_stop_word, term_of, words


def judged(query: str, texts: Sequence[str], name: str = "", server: str = "") -> tuple[Wanted, Candidate]:
    """A query and a tool, in which every term has a share of 2 and names consist of equally rare words."""
    scribe = Scribe(stem)
    written, (_, named), (_, owned) = [scribe.write(text) for text in texts], scribe.write(name), scribe.write(server)
    tool = outline(written, named, owned)
    said = [Said(word, term_of(word, stem)) for word in words(query) if not is_stop_word(word)]
    return wanted(said, scribe.alphabets), Candidate(tool, lambda _term: 2.0, lambda _letter: 1.0)


@pytest.mark.parametrize(("query", "count"), [("listings", 1), ("listing", 0), ("a listings channel", 2), ("other", 0)])
def test_a_word_in_the_form_that_the_user_wrote_counts_more(query: str, count: int) -> None:
    assert as_written(*judged(query, ["Listings of a channel"])) == pytest.approx(0.3 * 2 * count)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("pull request", 1),
        ("pulls requested", 1),  # it is the terms that stand side by side
        ("request pull", 0),
        ("pull a request", 1),  # stop words do not separate
        ("pull new request", 0),
        ("merge pull request", 2),
        ("request list", 0),  # the end of one text and the start of the next are no pair
    ],
)
def test_words_that_stand_side_by_side_count_more(query: str, count: int) -> None:
    assert side_by_side(*judged(query, ["Merge a pull request", "list"])) == pytest.approx(0.4 * 2 * count)


@pytest.mark.parametrize(("query", "part"), [("issue", 0.5), ("create issues", 1.0), ("create", 0.5), ("delete", 0.0)])
def test_a_name_counts_by_how_much_of_it_is_said(query: str, part: float) -> None:
    assert name_covered(*judged(query, ["create_issue"], name="create_issue")) == pytest.approx(part)


@pytest.mark.parametrize(("query", "expected"), [("jira cloud", 1.0), ("jira", 0.0), ("issue", 0.0)])
def test_a_server_counts_when_its_whole_name_is_said(query: str, expected: float) -> None:
    assert server_named(*judged(query, ["jira cloud"], server="jira-cloud")) == expected


def test_a_tool_without_a_name_or_server_gets_nothing_for_them() -> None:
    assert bonus(*judged("anything", [], name="", server="")) == 0.0


def test_a_share_is_that_of_the_tool_or_nothing() -> None:
    posting = Posting(array("I", [2, 5]), array("f", [0.5, 1.5]), 1.5)
    assert [posting.share(number) for number in range(7)] == [0, 0, 0.5, 0, 0, 1.5, 0]


def test_an_alphabet_skips_what_is_no_character() -> None:
    alphabet = Alphabet()
    letters = [alphabet.letter(f"word{n}") for n in range(60_000)]
    assert len(set(letters)) == 60_000
    assert all(letter.encode() for letter in letters)
    assert alphabet.letter("word7") == alphabet.known("word7") == letters[7]
    assert alphabet.known("never") == ""
