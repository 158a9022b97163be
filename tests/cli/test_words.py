"""The words after a tool's id."""

import pytest

from server.cli.words import BadWords, from_json, from_words


def test_texts_stay_texts_and_json_is_parsed() -> None:
    words = ["path=/tmp/a=b", "n=5", "empty=", 'deep:={"a": [1, null]}', "on:=true", "at.once=1", "url=http://x:=1"]
    assert from_words(words) == {
        "path": "/tmp/a=b", "n": "5", "empty": "", "deep": {"a": [1, None]}, "on": True, "at.once": "1", "url": "http://x:=1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["zone", "=x", ":=1", "n:=", "n:=x", "n:=NaN", "n:=" + "[" * 100_000, "n:=" + "9" * 5000]
)
def test_a_word_that_is_no_argument_is_refused(word: str) -> None:
    with pytest.raises(BadWords):
        from_words([word])


def test_a_key_that_is_given_twice_is_refused() -> None:
    with pytest.raises(BadWords, match="'a' is given twice"):
        from_words(["a=1", "a:=1"])


@pytest.mark.parametrize("text", ["[1]", "null", '"a"', "{", "", '{"a": Infinity}'])
def test_only_an_object_is_taken_as_all_arguments(text: str) -> None:
    with pytest.raises(BadWords):
        from_json(text)


def test_an_object_is_taken_as_it_is() -> None:
    assert from_json('{"a": {"b": 1}}') == {"a": {"b": 1}}
