"""Calling a tool: by its id or its name, with arguments as they are, repaired or refused."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from index import signature
from server.access import OWNER
from server.face import ToolRequest, read_request
from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject

WATER: JsonObject = {
    "name": "water",
    "description": "Waters plants.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "plant": {"type": "string"},
            "litres": {"type": "number"},
            "mode": {"enum": ["drip", "flood"]},
            "bed": {"type": "object", "properties": {"row": {"type": "integer"}}, "additionalProperties": False},
        },
        "required": ["plant"],
        "additionalProperties": False,
    },
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Opened]:
    raw = {"do": "raw"}
    garden = entry(log=str(log), tools=[WATER], does=dict.fromkeys(("water", "open"), raw))
    servers = {
        "garden": garden,
        "shed": entry(does=dict.fromkeys(("open", "lock"), raw)),
        "barn": entry(does={"open": raw}),
    }
    servers |= {"yard": entry(does={"open": raw})}
    async with gateway(tmp_path_factory.mktemp("calling"), servers) as opened:
        yield opened


def sent(result: JsonObject) -> JsonObject:
    """What the upstream got, from a tool that says so."""
    params: JsonObject = json.loads(text_of(result))
    return params


def meta(result: JsonObject) -> JsonObject:
    found = result["_meta"]
    assert isinstance(found, dict)
    return found


async def test_a_tool_is_called_by_its_exact_id(opened: Opened) -> None:
    result = await opened.call("mcp:garden:water", {"plant": "fern", "litres": 0.5})
    params = sent(result)
    assert (params["name"], params["arguments"]) == ("water", {"plant": "fern", "litres": 0.5})
    assert result["_meta"] == {"toolfold/tool": "mcp:garden:water"}


async def test_a_tool_is_called_by_its_bare_name_where_it_is_unique(opened: Opened) -> None:
    result = await opened.call("lock", {"door": 1})
    assert sent(result)["arguments"] == {"door": 1}
    assert result["_meta"] == {"toolfold/tool": "mcp:shed:lock"}


async def test_a_name_that_several_have_is_answered_with_three_candidates(opened: Opened, log: Path) -> None:
    before = len(received(log))
    assert error_of(await opened.call("open")) == {
        "code": "ambiguous_tool",
        "message": "'open' names several tools.",
        "hint": "Use one of these ids: mcp:barn:open, mcp:garden:open, mcp:shed:open.",
    }
    assert len(received(log)) == before


async def test_a_name_with_a_slip_is_answered_with_what_may_be_meant(opened: Opened) -> None:
    error = error_of(await opened.call("mcp:garden:watre", {"plant": "x"}))
    assert (error["code"], error["message"]) == ("unknown_tool", "There is no tool 'mcp:garden:watre'.")
    assert str(error["hint"]).startswith("Did you mean mcp:garden:water")


async def test_a_name_like_no_other_is_answered_with_how_to_find_one(opened: Opened) -> None:
    assert error_of(await opened.call("zyzzyva")) == {
        "code": "unknown_tool",
        "message": "There is no tool 'zyzzyva'.",
        "hint": "Find its id with tool_search.",
    }


async def test_a_catalogue_tool_that_is_called_as_if_it_were_published_is_answered_with_its_id(
    opened: Opened, log: Path
) -> None:
    before = len(received(log))
    assert error_of(await opened.ask("water", {"plant": "fern"})) == {
        "code": "not_published",
        "message": "'water' is not called by its own name here.",
        "hint": 'Call tool_call with {"id": "mcp:garden:water", "args": {}}, args filled in.',
    }
    assert error_of(await opened.ask("mcp:garden:water"))["code"] == "not_published"
    assert error_of(await opened.ask("open"))["code"] == "ambiguous_tool"
    assert error_of(await opened.ask("zyzzyva"))["code"] == "unknown_tool"
    assert len(received(log)) == before


@pytest.mark.parametrize("key", ["id", "tool_id", "tool", "name"])
async def test_the_id_may_come_under_the_names_that_models_know(opened: Opened, key: str) -> None:
    assert sent(await opened.ask("tool_call", {key: "lock", "args": {}}))["name"] == "lock"


async def test_a_call_without_an_id_says_what_is_missing(opened: Opened) -> None:
    assert error_of(await opened.ask("tool_call", {"args": {"plant": "x"}})) == {
        "code": "invalid_arguments",
        "message": "There is no 'id'.",
        "hint": '{"id": "mcp:github:create_issue"}',
    }


@pytest.mark.parametrize(
    ("given", "expected", "repairs"),
    [
        ({"args": {"plant": "fern"}}, {"plant": "fern"}, None),
        ({"args": '{"plant": "fern"}'}, {"plant": "fern"}, ["`args` read as the arguments object"]),
        ({"arguments": {"plant": "fern"}}, {"plant": "fern"}, ["`arguments` read as the arguments object"]),
        ({"input": {"plant": "fern"}}, {"plant": "fern"}, ["`input` read as the arguments object"]),
        ({"parameters": {"plant": "fern"}}, {"plant": "fern"}, ["`parameters` read as the arguments object"]),
        (
            {"plant": "fern", "litres": 1},
            {"plant": "fern", "litres": 1},
            ["the arguments beside `id` taken into the arguments object"],
        ),
    ],
)
async def test_arguments_in_another_form_are_repaired_and_the_repair_is_told(
    opened: Opened, given: JsonObject, expected: JsonObject, repairs: list[str] | None
) -> None:
    result = await opened.ask("tool_call", {"id": "mcp:garden:water", **given})
    assert sent(result)["arguments"] == expected
    assert meta(result).get("toolfold/repairs") == repairs


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"plant": "fern", "litres": "2.5"}, {"plant": "fern", "litres": 2.5}),
        ({"plant": "fern", "bed.row": 3}, {"plant": "fern", "bed": {"row": 3}}),
        ({"plant": "fern", "bed": {"row": "3"}}, {"plant": "fern", "bed": {"row": 3}}),
        ({"plant": "fern", "bed": '{"row": 3}'}, {"plant": "fern", "bed": {"row": 3}}),
    ],
)
async def test_values_in_another_form_are_repaired_and_the_repair_is_told(
    opened: Opened, given: JsonObject, expected: JsonObject
) -> None:
    result = await opened.call("mcp:garden:water", given)
    assert sent(result)["arguments"] == expected
    repairs = meta(result)["toolfold/repairs"]
    assert isinstance(repairs, list)
    assert len(repairs) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ["/plant", "plant: string"]),
        ({"plants": "s3cret"}, ["plants", '"plant"']),
        ({"plant": "fern", "mode": "drop"}, ["/mode", '"drip"', '"flood"']),
        ({"plant": "fern", "litres": "s3cret"}, ["/litres", "number"]),
        ({"plant": "fern", "bed": {"rows": 1}}, ["/bed/rows", '"row"']),
        ({"plant": ["s3cret"]}, ["/plant", "string"]),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_with_what_would_fit_and_the_upstream_is_not_called(
    opened: Opened, log: Path, given: JsonObject, said: list[str]
) -> None:
    before = len(received(log))
    result = await opened.call("mcp:garden:water", given)
    error = error_of(result)
    assert error["code"] == "invalid_arguments"
    assert [part for part in said if part not in text_of(result)] == []
    schema = WATER["inputSchema"]
    assert isinstance(schema, dict)
    assert f"\nExpected: {signature(schema)}\n" in text_of(result)
    assert "s3cret" not in json.dumps(result)
    assert len(received(log)) == before


@pytest.mark.parametrize("args", [[1], "no json", 5, '["a"]'])
async def test_arguments_that_can_not_be_placed_are_an_error_and_never_dropped(
    opened: Opened, log: Path, args: object
) -> None:
    before = len(received(log))
    assert error_of(await opened.call("mcp:garden:open", args))["code"] == "invalid_arguments"
    assert len(received(log)) == before


async def test_arguments_beside_the_object_are_never_dropped(opened: Opened) -> None:
    result = await opened.call("mcp:garden:water", {"plant": "fern"}, colour="green")
    assert error_of(result)["code"] == "invalid_arguments"
    assert "colour" in text_of(result)


@pytest.mark.parametrize(
    "doubled",
    [
        {"id": "mcp:garden:water", "args": {"plant": "fern"}},
        {"name": "water", "arguments": {"plant": "fern"}},
    ],
)
async def test_an_envelope_within_the_arguments_that_names_the_same_tool_is_opened(
    opened: Opened, doubled: JsonObject
) -> None:
    result = await opened.call("mcp:garden:water", doubled)
    assert sent(result)["arguments"] == {"plant": "fern"}
    assert meta(result)["toolfold/repairs"] == ["the arguments taken out of a second envelope"]


async def test_one_call_is_one_message_upstream(opened: Opened, log: Path) -> None:
    before = len(received(log))
    await opened.call("mcp:garden:open", {"a": 1})
    [message] = received(log)[before:]
    assert message["method"] == "tools/call"
    assert message["params"] == {"name": "open", "arguments": {"a": 1}, "_meta": {"progressToken": message["id"]}}


async def test_of_the_hosts_meta_only_its_trace_goes_upstream(opened: Opened) -> None:
    params = {
        "name": "tool_call",
        "arguments": {"id": "mcp:garden:open"},
        "_meta": {"progressToken": "host", "traceparent": "00-1-2-01", "tracestate": "a=b", "secret": 1},
    }
    result = await opened.face.call_tool(read_request(params, OWNER))
    upstream = sent(result)["_meta"]
    assert isinstance(upstream, dict)
    assert isinstance(upstream.pop("progressToken"), int)
    assert upstream == {"traceparent": "00-1-2-01", "tracestate": "a=b"}


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "x", "arguments": []}, {"name": "x", "arguments": "{}"}])
def test_a_broken_request_is_the_protocols_to_refuse(params: JsonObject) -> None:
    with pytest.raises(ValueError, match=r"name|arguments"):
        read_request(params, OWNER)


def test_a_request_without_arguments_has_none() -> None:
    assert read_request({"name": "x", "arguments": None, "_meta": 5}, OWNER) == ToolRequest("x", {}, {}, OWNER)


async def test_reading_on_repairs_and_refuses_arguments_as_any_call_does(opened: Opened) -> None:
    read = "toolfold:core:read_result"
    assert error_of(await opened.call(read, {"offset": 5}))["code"] == "invalid_arguments"
    assert error_of(await opened.call(read, {"ref": "x", "ofset": 5}))["code"] == "invalid_arguments"
    assert error_of(await opened.call(read, {"ref": "none", "offset": "5"})) == {
        "code": "unknown_result",
        "message": "There is no kept result of that reference.",
        "hint": "Results are kept for 10 minutes: call the tool again.",
    }


@pytest.mark.parametrize("offset", [5.0, 1e18, 10**30])
async def test_an_offset_is_a_whole_number_however_it_is_written(opened: Opened, offset: float) -> None:
    answer = await opened.call("toolfold:core:read_result", {"ref": "none", "offset": offset})
    assert error_of(answer)["code"] == "unknown_result"


async def test_a_tool_that_is_listed_anew_is_checked_against_its_new_schema(tmp_path: Path) -> None:
    def tool(kind: str) -> JsonObject:
        return {"name": "take", "inputSchema": {"type": "object", "properties": {"x": {"type": kind}}}}

    changed = {"do": "change", "tools": [tool("integer"), {"name": "renew", "inputSchema": {}}]}
    renew: list[Mapping[str, object]] = [changed, {"do": "text", "text": "renewed"}]
    async with gateway(tmp_path, {"one": entry(tools=[tool("string")], does={"renew": renew})}) as opened:
        assert "isError" not in await opened.call("take", {"x": "a"})
        generation = opened.running.library.snapshot.catalog.generation
        await opened.call("renew")
        await opened.news.until(lambda: opened.running.library.snapshot.catalog.generation > generation)
        assert error_of(await opened.call("take", {"x": "a"}))["code"] == "invalid_arguments"
        assert "isError" not in await opened.call("take", {"x": 1})
