"""Results within the size that a host can take, and the rest of them, read on."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.errors import GatewayError
from server.results import (
    FIELDS_BYTES,
    KEEP_BYTES,
    KEEP_SECONDS,
    REFERENCE_BYTES,
    REST,
    Reader,
    ResultStore,
)
from server.results import bound as bound_for
from server.ways import READ_RESULT_ID
from tests.support.hosts import text_of
from upstream_clients import JsonObject

LIMIT = 1024
HOLDER = ("session", ("coder",), "")
READER = Reader(HOLDER, lambda: "tools")
MARKER = re.compile(r"\n\[toolfold: cut at byte (\d+) of (\d+)\. Read on within 10 minutes: tool_call (\{.*\})\]\Z")


def bound(result: JsonObject, limit: int, store: ResultStore) -> JsonObject:
    return bound_for(result, limit, store, READER)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def blocks(result: JsonObject) -> list[JsonObject]:
    content = result["content"]
    assert isinstance(content, list)
    return content


def read_with(call: object) -> JsonObject:
    """The arguments of the `read_result` call that an answer gives."""
    assert isinstance(call, dict)
    assert call["id"] == READ_RESULT_ID
    args = call["args"]
    assert isinstance(args, dict)
    return args


def read_on(store: ResultStore, args: JsonObject, limit: int = LIMIT) -> str:
    """What a model gets that follows the markers to the end."""
    whole = ""
    while True:
        offset = args.get("offset", 0)
        assert isinstance(offset, int)
        text = text_of(store.read(str(args["ref"]), offset, limit, READER))
        marker = MARKER.search(text)
        if marker is None:
            return whole + text
        whole += text[: marker.start()]
        args = read_with(json.loads(marker[3]))


def read_whole(store: ResultStore, text: str) -> str:
    """The original of a text that was cut: what is shown, and what is read on."""
    marker = MARKER.search(text)
    assert marker is not None
    return text[: marker.start()] + read_on(store, read_with(json.loads(marker[3])))


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def original(store: ResultStore, replaced: object) -> object:
    """What a reference stands for."""
    assert isinstance(replaced, dict)
    assert set(replaced) == {"toolfold/replaced", "read_with"}
    return json.loads(read_on(store, read_with(replaced["read_with"])))


def fields_of(store: ResultStore, fields: JsonObject) -> JsonObject:
    """All the entries that a bounded object stands for."""
    restored: JsonObject = {}
    for name, value in fields.items():
        is_reference = isinstance(value, dict) and "toolfold/replaced" in value
        whole = original(store, value) if is_reference else value
        if is_reference and name == REST:
            assert isinstance(whole, dict)
            restored |= whole
        else:
            restored[name] = whole
    return restored


def content_of(store: ResultStore, shown: list[JsonObject]) -> list[object]:
    """All the blocks that bounded content stands for."""
    restored: list[object] = []
    for block in shown:
        text = str(block.get("text")) if isinstance(block, dict) and block.get("type") == "text" else ""
        if text.startswith('{"toolfold/replaced"'):
            whole = original(store, json.loads(text))
            restored += whole if isinstance(whole, list) and block is shown[-1] else [whole]
        else:
            restored.append({**block, "text": read_whole(store, text)} if MARKER.search(text) else block)
    return restored


def reference_in(block: JsonObject) -> JsonObject:
    replaced: JsonObject = json.loads(str(block["text"]))
    return read_with(replaced["read_with"])


def test_a_small_result_is_the_very_same_object() -> None:
    result: JsonObject = {"content": [text_block("x" * 500)], "odd": [None], "isError": True}
    assert bound(result, LIMIT, ResultStore()) is result


def test_a_text_of_exactly_the_limit_is_not_cut() -> None:
    store = ResultStore()
    result: JsonObject = {"content": [text_block("x" * LIMIT)]}
    assert bound(result, LIMIT, store) == result
    assert repr(store) == "<ResultStore of 0 results, 0 bytes>"


def test_a_longer_text_is_cut_with_a_marker_and_can_be_read_on_to_the_end() -> None:
    store, text = ResultStore(), "".join(f"line {number}\n" for number in range(1000))
    bounded = bound({"content": [{**text_block(text), "annotations": {"priority": 1}}]}, LIMIT, store)
    [block] = blocks(bounded)
    shown = str(block.pop("text"))
    assert block == {"type": "text", "annotations": {"priority": 1}}
    marker = MARKER.search(shown)
    assert marker is not None
    assert text.startswith(shown[: marker.start()])
    assert (int(marker[1]), marker[2]) == (marker.start(), "8890")
    assert LIMIT - 8 < size([{**block, "text": text[: marker.start()]}]) - len("[]") < LIMIT
    assert read_whole(store, shown) == text


@pytest.mark.parametrize("character", ["é", "語", "🙂", "\ud800"])
@pytest.mark.parametrize("before", range(4))
def test_a_text_is_cut_between_characters(character: str, before: int) -> None:
    store, text = ResultStore(), "x" * before + character * 2000
    shown = text_of(bound({"content": [text_block(text)]}, LIMIT, store))
    marker = MARKER.search(shown)
    assert marker is not None
    assert set(shown[before : marker.start()]) == {character}
    assert LIMIT - 30 < int(marker[1]) < LIMIT
    assert read_whole(store, shown) == text


@given(st.text(min_size=400, max_size=3000, alphabet=st.characters(codec="utf-8")))
def test_whatever_the_text_reading_on_gives_exactly_the_original(text: str) -> None:
    store = ResultStore()
    [block] = blocks(bound({"content": [text_block(text)]}, 300, store))
    shown = str(block["text"])
    assert (read_whole(store, shown) if MARKER.search(shown) else shown) == text


def test_the_last_part_says_where_it_ends_and_that_there_is_no_more() -> None:
    store = ResultStore()
    reference = store.keep(b"0123456789", HOLDER)
    assert store.read(reference, 8, LIMIT, READER) == {
        "content": [{"type": "text", "text": "89"}],
        "_meta": {"toolfold/totalBytes": 10},
    }
    assert store.read(reference, 2, 4, READER) == {
        "content": [
            {
                "type": "text",
                "text": "2345\n[toolfold: cut at byte 6 of 10. Read on within 10 minutes: tool_call "
                f'{{"id": "toolfold:core:read_result", "args": {{"ref": "{reference}", "offset": 6}}}}]',
            }
        ],
        "_meta": {"toolfold/totalBytes": 10, "toolfold/nextOffset": 6},
    }


def test_structured_content_is_replaced_whole_and_never_cut() -> None:
    store, structured = ResultStore(), {"rows": [{"name": "é" * 50}] * 100}
    bounded = bound({"content": [text_block("short")], "structuredContent": structured}, LIMIT, store)
    assert blocks(bounded) == [text_block("short")]
    replaced = bounded["structuredContent"]
    assert isinstance(replaced, dict)
    assert replaced["toolfold/replaced"] == "11210 bytes of JSON are kept for 10 minutes"
    assert json.loads(read_on(store, read_with(replaced["read_with"]))) == structured


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "mimeType": "image/png", "data": "QUFB" * 1000},
        {"type": "audio", "mimeType": "audio/wav", "data": "QUFB" * 1000},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "x" * 4000}},
        {"type": "unheard_of", "payload": ["x"] * 1000},
        ["not", "an", "object"] * 200,
    ],
)
def test_a_block_that_is_no_text_is_replaced_whole_and_never_cut(block: object) -> None:
    store = ResultStore()
    [replaced] = blocks(bound({"content": [block]}, LIMIT, store))
    assert replaced["type"] == "text"
    assert json.loads(read_on(store, reference_in(replaced))) == block


def test_blocks_share_the_limit_and_come_in_their_order() -> None:
    store = ResultStore()
    image = {"type": "image", "data": "A" * 900, "mimeType": "image/png"}
    first, second, third = blocks(bound({"content": [text_block("a" * 600), image, text_block("z")]}, LIMIT, store))
    assert (first, third) == (text_block("a" * 600), text_block("z"))
    assert json.loads(read_on(store, reference_in(second))) == image


def test_a_last_text_is_cut_even_where_nothing_of_it_can_be_shown() -> None:
    store = ResultStore()
    first, second = blocks(bound({"content": [text_block("a" * 5000), text_block("b" * 5000)]}, LIMIT, store))
    assert read_whole(store, str(first["text"])) == "a" * 5000
    assert str(second["text"]).startswith("\n[toolfold: cut at byte 0 of 5000.")
    assert read_whole(store, str(second["text"])) == "b" * 5000


def test_many_small_blocks_do_not_grow_by_being_bounded() -> None:
    store = ResultStore()
    content: list[object] = [text_block(f"{number:04}") for number in range(5000)]
    bounded = bound({"content": content}, LIMIT, store)
    kept = blocks(bounded)
    assert len(json.dumps(bounded)) < 3 * LIMIT
    shown = kept[:-1]
    assert shown == content[: len(shown)]
    assert json.loads(read_on(store, reference_in(kept[-1]))) == content[len(shown) :]


def test_all_else_of_a_long_result_stays_as_it_came() -> None:
    result: JsonObject = {"content": [text_block("x" * 5000)], "isError": True, "_meta": {"a": 1}, "resultType": "odd"}
    bounded = bound(result, LIMIT, ResultStore())
    assert {key: value for key, value in bounded.items() if key != "content"} == {
        key: value for key, value in result.items() if key != "content"
    }
    assert blocks(result)[0]["text"] == "x" * 5000


@pytest.mark.parametrize("content", ["x" * 5000, text_block("x" * 5000), {"x": ["y"] * 1000}])
def test_content_that_is_no_list_is_replaced_whole(content: object) -> None:
    store = ResultStore()
    [replaced] = blocks(bound({"content": content}, LIMIT, store))
    assert json.loads(read_on(store, reference_in(replaced))) == content


def test_small_content_that_is_no_list_is_left_alone() -> None:
    result: JsonObject = {"content": "odd", "structuredContent": ["x" * 5000]}
    assert bound(result, LIMIT, ResultStore())["content"] == "odd"


@pytest.mark.parametrize("field", ["annotations", "_meta", "anything"])
def test_what_stands_beside_a_text_counts(field: str) -> None:
    store = ResultStore()
    block = {**text_block("short"), field: {"x": "y" * 5000}}
    [replaced] = blocks(bound({"content": [block]}, LIMIT, store))
    assert json.loads(read_on(store, reference_in(replaced))) == block


def test_a_text_is_cut_to_the_room_that_its_annotations_leave() -> None:
    store, annotations = ResultStore(), {"x": "y" * 500}
    [block] = blocks(bound({"content": [{**text_block("z" * 5000), "annotations": annotations}]}, LIMIT, store))
    assert block["annotations"] == annotations
    assert size(block) < LIMIT + REFERENCE_BYTES
    assert read_whole(store, str(block["text"])) == "z" * 5000


@pytest.mark.parametrize("text", ["\x01" * 2000, '"' * 2000, "\n" * 2000, 'x\\"\x1f' * 500])
def test_characters_that_json_escapes_count_as_what_they_become(text: str) -> None:
    store = ResultStore()
    [block] = blocks(bound({"content": [text_block(text)]}, LIMIT, store))
    assert size(block) < LIMIT + REFERENCE_BYTES
    assert read_whole(store, str(block["text"])) == text
    part = store.read(store.keep(text.encode(), HOLDER), 0, LIMIT, READER)
    assert size(part["content"]) < LIMIT + REFERENCE_BYTES


def test_a_text_no_longer_than_its_marker_is_kept() -> None:
    first, second = blocks(bound({"content": [text_block("a" * 5000), text_block("b")]}, LIMIT, ResultStore()))
    assert str(first["text"]).startswith("aaa")
    assert second == text_block("b")


def test_what_finds_no_room_goes_into_one_block_that_refers_to_it() -> None:
    store = ResultStore()
    rest = [text_block("b" * 300), {"type": "image", "data": "A" * 300, "mimeType": "image/png"}, text_block("c")]
    first, last = blocks(bound({"content": [text_block("a" * 5000), *rest]}, LIMIT, store))
    assert read_whole(store, str(first["text"])) == "a" * 5000
    assert json.loads(read_on(store, reference_in(last))) == rest


def test_a_large_field_is_replaced_under_its_name() -> None:
    store = ResultStore()
    result: JsonObject = {
        "content": [],
        "odd": ["x" * 5000],
        "_meta": {"big": "y" * 5000, "small": 1},
        "resultType": "z",
    }
    bounded = bound(result, LIMIT, store)
    meta = bounded["_meta"]
    assert isinstance(meta, dict)
    assert original(store, bounded["odd"]) == ["x" * 5000]
    assert original(store, meta["big"]) == "y" * 5000
    assert (bounded["content"], bounded["resultType"], meta["small"]) == ([], "z", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {f"f{number}": number for number in range(2000)},
        {f"f{number}": "x" * 1000 for number in range(200)},
        {"n" * 50_000: 1},
        {REST: "mine", **{f"f{number}": number for number in range(2000)}},
        {REST: {"mine": "x" * 5000}},
    ],
)
def test_many_fields_share_a_reference_and_none_is_lost(fields: JsonObject) -> None:
    store = ResultStore()
    bounded = bound({**fields, "content": [], "_meta": fields, "isError": True}, LIMIT, store)
    meta = bounded.pop("_meta")
    assert isinstance(meta, dict)
    assert size(meta) <= FIELDS_BYTES + REFERENCE_BYTES
    assert size(bounded) <= FIELDS_BYTES + REFERENCE_BYTES
    assert fields_of(store, meta) == fields
    assert bounded["isError"] is True
    assert fields_of(store, bounded) == {**fields, "content": [], "isError": True}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**6) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=40), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.builds(
    lambda text, times, beside: {"type": "text", "text": text * times, **beside},
    st.text(max_size=300, alphabet=st.characters(exclude_categories=[])),
    st.integers(0, 20),
    st.sampled_from([{}, {"annotations": {"priority": 1}}, {"_meta": {"x": "y" * 400}}, {"_meta": {"x": "y" * 4000}}]),
)
IMAGES = st.builds(lambda size: {"type": "image", "data": "A" * size, "mimeType": "x"}, st.integers(0, 3000))
RESULTS = st.builds(
    lambda content, times, fields, more: {**fields, **more, "content": content * times},
    st.lists(TEXTS | IMAGES, max_size=5),
    st.sampled_from([1, 1, 20, 400]),
    st.dictionaries(st.text(min_size=1, max_size=5), JSON, max_size=5),
    st.fixed_dictionaries({}, optional={"structuredContent": JSON, "_meta": st.dictionaries(st.text(), JSON)}),
)


@given(RESULTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_whatever_the_result_it_is_bounded_and_nothing_is_lost(result: JsonObject) -> None:
    store = ResultStore()
    bounded = bound(result, LIMIT, store)
    meta, others = bounded.get("_meta", {}), {**bounded, "content": 0, "structuredContent": 0, "_meta": 0}
    assert isinstance(meta, dict)
    assert size(bounded["content"]) <= LIMIT + 2 * REFERENCE_BYTES
    assert size(bounded.get("structuredContent")) <= LIMIT
    assert max(size(meta), size(others)) <= FIELDS_BYTES + REFERENCE_BYTES
    assert content_of(store, blocks(bounded)) == result["content"]
    assert fields_of(store, {**bounded, "content": 0, "_meta": 0}) == {**result, "content": 0, "_meta": 0}
    assert fields_of(store, meta) == result.get("_meta", {})


def error_code(store: ResultStore, reference: str, offset: int = 0) -> str:
    with pytest.raises(GatewayError) as caught:
        store.read(reference, offset, LIMIT, READER)
    return caught.value.code


def test_a_kept_result_can_be_read_for_ten_minutes() -> None:
    clock = Clock()
    store = ResultStore(clock)
    reference = store.keep(b"whole", HOLDER)
    clock.now += KEEP_SECONDS - 1
    assert text_of(store.read(reference, 0, LIMIT, READER)) == "whole"
    clock.now += 1
    assert error_code(store, reference) == "unknown_result"
    assert repr(store) == "<ResultStore of 0 results, 0 bytes>"
    assert KEEP_SECONDS == 600


def test_the_store_drops_the_oldest_when_it_is_full() -> None:
    store = ResultStore(Clock())
    references = [store.keep(b"x" * (KEEP_BYTES // 4), HOLDER) for _ in range(5)]
    assert error_code(store, references[0]) == "unknown_result"
    assert all(store.read(reference, 0, LIMIT, READER) for reference in references[1:])
    assert repr(store) == f"<ResultStore of 4 results, {KEEP_BYTES} bytes>"


def test_the_latest_result_is_kept_whatever_its_size() -> None:
    store = ResultStore(Clock())
    earlier, latest = store.keep(b"a", HOLDER), store.keep(b"b" * (KEEP_BYTES + 1), HOLDER)
    with pytest.raises(GatewayError):
        store.read(earlier, 0, LIMIT, READER)
    assert "toolfold/nextOffset" in json.dumps(store.read(latest, 0, LIMIT, READER))


def test_references_can_not_be_guessed_from_one_another() -> None:
    store = ResultStore()
    references = {store.keep(b"same", HOLDER) for _ in range(100)}
    assert len(references) == 100
    assert min(map(len, references)) >= 16


@pytest.mark.parametrize("offset", [-1, 6])
def test_an_offset_outside_the_result_is_an_error(offset: int) -> None:
    store = ResultStore()
    assert error_code(store, store.keep(b"01234", HOLDER), offset) == "invalid_arguments"


def test_an_offset_inside_a_character_reads_from_the_next_one() -> None:
    store = ResultStore()
    assert text_of(store.read(store.keep("é!".encode(), HOLDER), 1, LIMIT, READER)) == "!"


@pytest.mark.parametrize("holder", [("", ("coder",), ""), ("session", (), ""), ("session", ("coder",), "another")])
def test_a_reference_of_another_is_one_that_never_was(holder: tuple[str, tuple[str, ...], str]) -> None:
    store = ResultStore()
    for reference in (store.keep(b"hers", HOLDER), "none"):
        with pytest.raises(GatewayError, match="There is no kept result of that reference"):
            store.read(reference, 0, LIMIT, Reader(holder, lambda: "tools"))
