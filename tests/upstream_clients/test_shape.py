"""Gateways of others: what is taken for one, and what is found behind it."""

import json
from dataclasses import replace

import pytest

from tests.support.fleets import fleet_of
from tests.support.hosts import text_of
from tests.support.upstreams import Options, spec
from upstream_clients import JsonObject
from upstream_clients.chain import UNNAMED, Road
from upstream_clients.shape import SWEEP, Shape, shape_of


def tool(name: str, /, **properties: object) -> JsonObject:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


TEXT = {"type": "string"}
OBJECT = {"type": "object"}
SEARCH = tool("search_tools", query=TEXT, limit={"type": "integer", "maximum": 20})
DESCRIBE = tool("get_tool_schema", tool_id=TEXT)
CALL = tool("call_tool", tool_id=TEXT, arguments={"anyOf": [OBJECT, {"type": "null"}]})
OWN = tool("usage", month=TEXT)


def test_three_tools_that_are_called_and_take_what_a_gateways_do_are_one() -> None:
    road = Road(UNNAMED, "call_tool", "tool_id", "arguments", frozenset({"usage"}))
    assert shape_of((SEARCH, OWN, DESCRIBE, CALL)) == Shape("search_tools", 20, "get_tool_schema", road)


def test_the_names_of_the_trade_are_known() -> None:
    ours = (tool("tool_search", query=TEXT), tool("tool_describe", id=TEXT), tool("tool_call", id=TEXT, args=OBJECT))
    road = Road(UNNAMED, "tool_call", "id", "args", frozenset())
    assert shape_of(ours) == Shape("tool_search", None, "tool_describe", road)
    others = (
        tool("discover_tools", query=TEXT),
        tool("get_tool_schema", tool_name=TEXT),
        tool("execute_tool", tool_name=TEXT, arguments=OBJECT),
    )
    found = shape_of(others)
    assert found is not None
    assert found.road == Road(UNNAMED, "execute_tool", "tool_name", "arguments", frozenset())


@pytest.mark.parametrize(
    "tools",
    [
        (SEARCH, DESCRIBE),
        (SEARCH, CALL),
        (tool("search_users", query=TEXT), tool("describe_table", id=TEXT), tool("run_report", id=TEXT, args=OBJECT)),
        (tool("search_tools", text=TEXT), DESCRIBE, CALL),
        (SEARCH, tool("get_tool_schema", name=TEXT), CALL),
        (SEARCH, DESCRIBE, tool("call_tool", tool_id=TEXT)),
        (SEARCH, DESCRIBE, CALL, tool("call_tool_write", tool_id=TEXT, arguments=OBJECT)),
        (tool("search_call_tool_schema", query=TEXT, id=TEXT, args=OBJECT),),
        ({"name": 7}, {"inputSchema": []}, {"name": "search_tools", "inputSchema": {"properties": 3}}),
        (),
    ],
)
def test_whatever_is_a_little_otherwise_is_an_ordinary_server(tools: tuple[JsonObject, ...]) -> None:
    assert shape_of(tools) is None


HITS: list[JsonObject] = [
    {"id": "github/create_issue", "description": "Creates an issue."},
    {"id": "clock:now", "name": "now", "label": "Clock", "inputSchema": {"type": "object", "required": ["zone"]}},
    {"name": "", "description": "Nameless."},
]
SCHEMA = {"type": "object", "properties": {"title": TEXT}}


def answers(payload: object) -> dict[str, object]:
    return {"do": "text", "text": json.dumps(payload)}


def foreign(**does: object) -> Options:
    """A gateway of another make, whose tools answer as they are told."""
    told = {
        "search_tools": answers({"results": HITS}),
        "get_tool_schema": answers({"tool": {"description": "All of it.", "parameters": SCHEMA}}),
        "call_tool": {"do": "raw"},
        **does,
    }
    return {"tools": [SEARCH, OWN, DESCRIBE, CALL], "does": told}  # type: ignore[typeddict-item]


async def test_what_is_behind_a_gateway_of_others_is_searched_for_and_called_in_its_own_words() -> None:
    async with fleet_of(spec("a", **foreign())) as (fleet, witness):
        await fleet.settled(["a"])
        [listing] = witness.listings
        params = json.loads(text_of(await fleet.call("a", "github/create_issue", {"title": "x"}, {"traceparent": "t"})))
        own = text_of(await fleet.call("a", "usage", {"month": "May"}, {}))
    assert listing.gateway == UNNAMED
    assert listing.tools == (
        OWN,
        {"name": "github/create_issue", "description": "All of it.", "inputSchema": SCHEMA},
        {"name": "clock:now", "title": "Clock", "inputSchema": HITS[1]["inputSchema"]},
    )
    assert (params["name"], params["arguments"]) == (
        "call_tool",
        {"tool_id": "github/create_issue", "arguments": {"title": "x"}},
    )
    [node] = params["_meta"].pop("toolfold/path")
    assert (len(node), params["_meta"]["traceparent"]) == (16, "t")
    assert json.loads(own) == {"month": "May"}


@pytest.mark.parametrize("unreadable", [answers("Found three tools."), {"do": "error"}, {"do": "text", "text": "["}])
async def test_a_gateway_whose_answers_cant_be_read_keeps_its_tools(unreadable: dict[str, object]) -> None:
    async with fleet_of(spec("a", **foreign(search_tools=unreadable))) as (fleet, witness):
        await fleet.settled(["a"])
        assert text_of(await fleet.call("a", "get_tool_schema", {}, {})) != ""
        [listing] = witness.listings
    assert (listing.gateway, listing.tools) == ("", (SEARCH, OWN, DESCRIBE, CALL))


async def test_one_that_does_not_describe_leaves_the_schema_open_and_an_empty_one_is_a_gateway() -> None:
    mute = spec("mute", **foreign(get_tool_schema={"do": "error"}))
    empty = spec("empty", **foreign(search_tools=answers([])))
    async with fleet_of(mute, empty) as (fleet, witness):
        await fleet.settled(["mute", "empty"])
        listings = {listing.owner: listing for listing in witness.listings}
    assert listings["mute"].tools[1] == {
        "name": "github/create_issue",
        "description": "Creates an issue.",
        "inputSchema": {"type": "object"},
    }
    assert (listings["empty"].gateway, listings["empty"].tools) == (UNNAMED, (OWN,))


async def test_one_that_is_said_to_be_none_is_asked_nothing() -> None:
    async with fleet_of(replace(spec("a", **foreign()), gateway=False)) as (fleet, witness):
        await fleet.settled(["a"])
        assert json.loads(text_of(await fleet.call("a", "call_tool", {"tool_id": "x"}, {})))["name"] == "call_tool"
        [listing] = witness.listings
    assert (listing.gateway, len(listing.tools)) == ("", 4)


def test_no_search_is_made_twice() -> None:
    assert len(set(SWEEP)) == len(SWEEP)
