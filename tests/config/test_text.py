import itertools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config.text import MAX_DEPTH, MAX_JSON5_CHARS, BadText, Parsed, parse

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
GAPS = ("", " ", "\n", '// it\'s "a" comment\n', "/* one\n * two, } ] */", "/**/", "/* // */ ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2]}', {"a": [1, 2]}),
        ('{"a": 1, /* b */ "c": "//d", // e\n}', {"a": 1, "c": "//d"}),
        ('{"a": ["/*", "*/", ",]",],}', {"a": ["/*", "*/", ",]"]}),
        ('{"a": "\\"// \\\\"} // "', {"a": '"// \\'}),
        ("{a: 'b', c: 0x10, d: +.5, 'e': 'it\\'s',}", {"a": "b", "c": 16, "d": 0.5, "e": "it's"}),
        ("[1, // one\n 2, // two\n]", [1, 2]),
        ("{'url': 'http://a/b'} // c", {"url": "http://a/b"}),
    ],
)
def test_json_json_with_comments_and_json5_are_read(text: str, value: object) -> None:
    assert parse(text) == Parsed(value, ())


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1 "b": 2}', 1, 9),
        ('{\n  "a": tru\n}', 2, 11),
        ('{\n  "a": [1, 2\n', 3, 1),
        ('{"a": 1}\n}', 2, 1),
        ("{\n  // one\n  a: b,\n}", 3, 6),
        ('{"a": "x\ny"}', 1, 9),
        ('{"a": /* never closed', 1, 22),
    ],
)
def test_an_error_names_line_and_column_in_the_file_as_written(text: str, line: int, column: int) -> None:
    with pytest.raises(BadText) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.fix


def test_a_large_file_is_not_given_to_the_slow_parser() -> None:
    with pytest.raises(BadText) as caught:
        parse("{\n" + " " * MAX_JSON5_CHARS + "\n a: 1}")
    assert (caught.value.line, caught.value.column) == (3, 2)


def test_a_large_file_with_comments_is_read() -> None:
    text = "// comment\n" + json.dumps({str(number): "x" * 80 for number in range(5000)})
    value = parse(text).value
    assert isinstance(value, dict)
    assert len(value) == 5000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "9" * 5000,
        "[1,] // " + "9" * 5000 + "\n" + "9" * 5000,
        "{a: " + "9" * 5000 + "}",
        "// only a comment",
    ],
)
def test_text_that_holds_nothing_usable_is_refused(text: str) -> None:
    with pytest.raises(BadText):
        parse(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ("{a:", "}"), ("/**/[", "]")])
def test_deep_text_is_refused(depth: int, opening: str, closing: str) -> None:
    with pytest.raises(BadText):
        parse(opening * depth + "1" + closing * depth)


def test_text_at_the_depth_limit_is_read_in_every_dialect() -> None:
    for opening, closing in (("[", "]"), ("/**/[", "]"), ("{a:", "}")):
        parse(opening * (MAX_DEPTH - 1) + "{}" + closing * (MAX_DEPTH - 1))


def test_keys_given_twice_are_reported_with_their_place_and_the_last_value_counts() -> None:
    text = '{"a": {"b": 1, "b": 2, "c": [{"d": 1, "d": 1, "d": 1}]}, "e": 1, // comment\n "e": 3}'
    parsed = parse(text)
    assert parsed.value == {"a": {"b": 2, "c": [{"d": 1}]}, "e": 3}
    assert sorted(parsed.duplicates) == ["a.b", "a.c[0].d", "e"]


def test_a_duplicate_inside_a_replaced_object_is_not_reported_twice() -> None:
    assert parse('{"a": {"b": 1, "b": 2}, "a": 1}').duplicates == ("a",)


def test_an_error_quotes_nothing_of_the_file() -> None:
    with pytest.raises(BadText) as caught:
        parse('{"env": {"TOKEN": "sk-hunter2-hunter2" hunter2}}')
    assert "hunter" not in f"{caught.value} {caught.value.fix} {caught.value.__cause__}"


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_every_json_value_comes_out_as_it_went_in(value: object) -> None:
    assert parse(json.dumps(value)).value == value


@given(VALUES, st.lists(st.sampled_from(GAPS), min_size=1))
@settings(max_examples=60, deadline=None)
def test_comments_between_tokens_change_nothing(value: object, gaps: list[str]) -> None:
    lines = json.dumps([value, "//", "/*"], indent=1, ensure_ascii=False).split("\n")
    text = "\n".join(f"{gap}{line.lstrip()}" for gap, line in zip(itertools.cycle(gaps), lines, strict=False))
    assert parse(text).value == [value, "//", "/*"]


def test_numbers_that_are_none_are_read_as_json5_has_them() -> None:
    value = parse("[NaN, Infinity]").value
    assert isinstance(value, list)
    assert math.isnan(value[0])
    assert value[1] == math.inf
