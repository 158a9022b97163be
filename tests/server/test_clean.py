"""Text of an upstream, made fit for one line of ours."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.clean import one_line, paragraphs, visible

UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def test_line_breaks_and_runs_of_spaces_become_one_space() -> None:
    assert one_line("  Reads\n\n a\tfile.\r\nThen \u2028more ", 100) == "Reads a file. Then more"


def test_what_a_reader_can_not_see_is_taken_out() -> None:
    hidden = "safe\u200b\u202e\ufeff\x1b[31m\U000e0041\ud800\ue000text\x00"
    assert one_line(hidden, 100) == "safetext"


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[8m",
        "\x1b[38;5;1m",
        "\x9b31m",
        "\x1b]0;title\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1bPq\x1b\\",
        "\x1b(B",
        "\x1bc",
    ],
)
def test_a_sequence_for_terminals_is_taken_out_whole(sequence: str) -> None:
    assert one_line(f"a{sequence}b", 100) == "ab"
    assert paragraphs(f"a\n{sequence}b", 100) == "a\nb"
    assert visible(f"a{sequence}b") == "ab"


def test_letters_that_are_drawn_as_nothing_and_selectors_are_taken_out() -> None:
    assert one_line("a\u3164\u115f\u2800\U000e0101\ufe01\u034fb", 100) == "ab"


def test_letters_of_every_script_stay() -> None:
    assert one_line("Über naïve 日本語 🙂", 100) == "Über naïve 日本語 🙂"


def test_a_long_text_is_cut_at_a_word_and_says_so() -> None:
    assert one_line("one two three four", 12) == "one two…"
    assert one_line("x" * 50, 12) == "x" * 11 + "…"
    assert one_line("ends here. And more", 12) == "ends here…"


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_one_line_is_bounded_and_clean_whatever_comes_in(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert not any(unicodedata.category(character) in UNSEEN for character in line)
    assert line == line.strip()


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert one_line(one_line(text, 60), 60) == one_line(text, 60)


def test_paragraphs_keep_their_line_breaks() -> None:
    assert paragraphs("One.\n\n\tTwo.\u200b\x07", 100) == "One.\n\n\tTwo."
    assert paragraphs("x" * 50, 10) == "x" * 9 + "…"


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_paragraphs_are_bounded_and_clean_whatever_comes_in(text: str, limit: int) -> None:
    clean = paragraphs(text, limit)
    assert len(clean) <= limit
    assert not any(unicodedata.category(character) in UNSEEN for character in clean if character not in "\n\t")
