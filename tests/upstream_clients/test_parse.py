import json
import sys
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from upstream_clients import JsonObject, NotAMessage, dump, parse
from upstream_clients.framing import MAX_DEPTH, looks_like_message

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def nested(depth: int) -> bytes:
    """An object that is `depth` deep, itself included."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}", {}),
        (b' {"id": 1} \r', {"id": 1}),
        (b'{"a":"\\ud800"}', {"a": "\ud800"}),
        ('{"ä":"🙂"}'.encode(), {"ä": "🙂"}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":"NaN"}', {"a": "NaN"}),
        (b'{"a":1e308}', {"a": 1e308}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a":"' + b"[{" * 500 + b'"}', {"a": "[{" * 500}),
    ],
)
def test_what_is_a_message(line: bytes, message: JsonObject) -> None:
    assert parse(line) == message


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"a":"\xff\xfe"}', "invalid UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "invalid UTF-8"),
        (b'{"a":NaN}', "NaN or infinity"),
        (b'{"a":-Infinity}', "NaN or infinity"),
        (b'{"a":1e999}', "NaN or infinity"),
        (b'{"a":' + b"9" * 5000 + b"}", "a number too long to read"),
        (b"[]", "not a JSON object"),
        (b'"{}"', "not a JSON object"),
        (b"", "invalid JSON at character 0"),
        (b'{"a":1', "invalid JSON at character 6"),
        (b"{} {}", "invalid JSON at character 3"),
        (b'{"secret":hunter2}', "invalid JSON at character 10"),
        (nested(MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH}"),
        (nested(100_000), f"nested deeper than {MAX_DEPTH}"),
    ],
)
def test_what_is_not_a_message_is_refused_without_being_quoted(line: bytes, why: str) -> None:
    with pytest.raises(NotAMessage) as refused:
        parse(line)
    assert str(refused.value) == why


def test_a_number_that_is_too_large_becomes_the_largest_one_for_whoever_wants_that() -> None:
    assert parse(b'{"a":[1e999,-1e999,1.5]}', clamps=True) == {"a": [sys.float_info.max, -sys.float_info.max, 1.5]}
    for line in (b'{"a":NaN}', b'{"a":Infinity}'):
        with pytest.raises(NotAMessage):
            parse(line, clamps=True)


def test_the_deepest_message_that_passes() -> None:
    assert parse(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))


@settings(deadline=None)
@given(st.dictionaries(st.text(), VALUES))
@example({"a": "\ud800", "ä": "\n\u2028"})
def test_a_message_survives_being_written_and_read(message: JsonObject) -> None:
    line = dump(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert parse(line) == message


def test_text_is_written_as_it_is_unless_utf_8_cannot_say_it() -> None:
    assert dump({"a": "ä🙂"}) == '{"a":"ä🙂"}\n'.encode()
    assert dump({"a": "ä\ud800"}) == b'{"a":"\\u00e4\\ud800"}\n'


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_make_it_fail_in_another_way(line: bytes) -> None:
    with suppress(NotAMessage):
        assert isinstance(parse(line), dict)


@pytest.mark.parametrize(
    ("line", "looks"),
    [(b"{}", True), (b'\t{"broken', True), (b"Listening on stdio", False), (b"[info] {}", False), (b"42", False)],
)
def test_only_what_begins_like_an_object_is_taken_for_a_message(line: bytes, looks: bool) -> None:
    assert looks_like_message(line) is looks
