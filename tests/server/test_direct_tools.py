"""Direct-only tools: published beside the three under portable names, and called by the same road as through tool_call."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from server.access import OWNER
from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject

PLANT: JsonObject = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"plant": {"$ref": "#/definitions/name"}, "litres": {"type": "number"}},
    "required": ["plant"],
    "anyOf": [{"required": ["litres"]}, {"properties": {"plant": {"const": "cactus"}}}],
    "additionalProperties": False,
    "definitions": {"name": {"type": "string", "minLength": 2}},
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Opened]:
    raw = {"do": "raw"}
    water = {"name": "water", "description": "Waters a plant.", "inputSchema": PLANT}
    loaded = entry(tools=[water], does=dict.fromkeys(("water", "open", "denied"), raw), log=str(log))
    shed = entry(does=dict.fromkeys(("open", "lock.up", "sweep", "tool_search"), raw))
    servers = {"garden": {**loaded, "alwaysLoad": True}, "shed": shed}
    settings = {
        "directTools": ["mcp:shed:open", "mcp:shed:lock*", "mcp:*:tool_search"],
        "policy": {"deny": ["mcp:garden:denied"]},
    }
    async with gateway(tmp_path_factory.mktemp("direct"), servers, settings) as opened:
        yield opened


async def test_the_list_is_sorted_and_one_page(opened: Opened) -> None:
    listing = opened.face.list_tools(OWNER)
    tools = listing.pop("tools")
    assert listing == {}
    assert isinstance(tools, list)
    assert {tool["name"]: tool["_meta"].get("toolfold/tool") for tool in tools} == {
        "garden_open": "mcp:garden:open",
        "shed_lock_up": "mcp:shed:lock.up",
        "shed_open": "mcp:shed:open",
        "shed_tool_search": "mcp:shed:tool_search",
        "tool_call": None,
        "tool_describe": None,
        "tool_search": None,
        "water": "mcp:garden:water",
    }
    assert [tool["name"] for tool in tools] == sorted(tool["name"] for tool in tools)


async def test_what_a_host_does_never_changes_the_list(opened: Opened) -> None:
    before = opened.face.list_tools(OWNER)
    await opened.search("sweep")
    await opened.describe("mcp:shed:sweep")
    await opened.call("mcp:shed:sweep")
    assert opened.face.list_tools(OWNER) == before


async def test_a_published_schema_is_portable_and_the_original_still_decides(opened: Opened, log: Path) -> None:
    [water] = [tool for tool in opened.running.gateway.surface().tools if tool["name"] == "water"]
    assert water["inputSchema"] == {
        "type": "object",
        "properties": {"plant": {"type": "string", "minLength": 2}, "litres": {"type": "number"}},
        "required": ["plant"],
        "additionalProperties": False,
    }
    before = len(received(log))
    assert error_of(await opened.ask("water", {"plant": "fern"}))["code"] == "invalid_arguments"
    assert len(received(log)) == before
    assert "isError" not in await opened.ask("water", {"plant": "cactus"})
    assert len(received(log)) == before + 1


async def test_it_is_called_under_its_published_name_as_through_tool_call(opened: Opened) -> None:
    def comparable(result: JsonObject) -> JsonObject:
        params = json.loads(text_of(result))
        params["_meta"].pop("progressToken")
        return {"upstream got": params, "meta": result["_meta"]}

    direct = comparable(await opened.ask("water", {"plant": "fern", "litres": "2"}))
    called = comparable(await opened.call("mcp:garden:water", {"plant": "fern", "litres": "2"}))
    assert direct == called
    assert direct["upstream got"] == {
        "name": "water",
        "arguments": {"plant": "fern", "litres": 2},
        "_meta": {},
    }
    meta = direct["meta"]
    assert isinstance(meta, dict)
    assert set(meta) == {"toolfold/tool", "toolfold/repairs"}


@pytest.mark.parametrize(
    ("published", "name"), [("shed_lock_up", "lock.up"), ("shed_tool_search", "tool_search"), ("garden_open", "open")]
)
async def test_a_name_made_portable_reaches_the_tool_under_its_own(opened: Opened, published: str, name: str) -> None:
    assert json.loads(text_of(await opened.ask(published)))["name"] == name


async def test_arguments_in_a_wrapper_are_repaired(opened: Opened) -> None:
    result = await opened.ask("water", {"args": {"plant": "fern", "litres": 1}})
    assert json.loads(text_of(result))["arguments"] == {"plant": "fern", "litres": 1}


async def test_a_refusal_shows_the_tools_own_form_and_not_that_of_tool_call(opened: Opened) -> None:
    direct = text_of(await opened.ask("water", {"plnt": "s3cret"}))
    called = text_of(await opened.call("mcp:garden:water", {"plnt": "s3cret"}))
    assert "/plnt" in direct
    assert called == direct + '\nCall it as: {"id": "<the same id>", "args": {<the properties above>}}'
    assert "s3cret" not in called


async def test_what_policy_denies_is_not_published(opened: Opened) -> None:
    assert "mcp:garden:denied" not in opened.running.gateway.surface().direct.values()
    assert error_of(await opened.ask("denied"))["code"] == "unknown_tool"
    assert error_of(await opened.ask("garden_denied"))["code"] == "unknown_tool"


async def test_our_own_names_are_ours_whatever_an_upstream_calls_its_tools(opened: Opened) -> None:
    result = await opened.ask("tool_search", {"query": "sweep"})
    assert "toolfold/tool" not in json.dumps(result)


async def test_a_host_with_an_older_list_never_runs_another_servers_tool(tmp_path: Path) -> None:
    schema: JsonObject = {"type": "object"}
    search, prefixed, renew = ({"name": name, "inputSchema": schema} for name in ("search", "a_search", "renew"))
    changed = {"do": "change", "tools": [search, renew]}
    appear: list[Mapping[str, object]] = [changed, {"do": "text", "text": "renewed"}]
    servers = {
        "a": entry(tools=[renew], does={"renew": appear}),  # its search says what it is told
        "b": entry(tools=[search], does={"search": {"do": "text", "text": "b's search"}}),
        "z": entry(tools=[prefixed], does={"a_search": {"do": "text", "text": "z's a_search"}}),
    }
    async with gateway(tmp_path, {key: {**one, "alwaysLoad": True} for key, one in servers.items()}) as opened:
        before = opened.running.gateway.surface().direct
        assert before == {"renew": "mcp:a:renew", "search": "mcp:b:search", "a_search": "mcp:z:a_search"}
        generation = opened.running.library.snapshot.catalog.generation
        await opened.ask("renew")
        await opened.news.until(lambda: opened.running.library.snapshot.catalog.generation > generation)
        after = opened.running.gateway.surface().direct
        [new_name] = [name for name, tool_id in after.items() if tool_id == "mcp:a:search"]
        said = {
            name: text_of(await opened.ask(name, {"text": "a's search"}))
            for name in ("search", "a_search", "b_search", new_name)
        }
    assert said == {
        "search": "b's search",
        "a_search": "z's a_search",
        "b_search": "b's search",
        new_name: "a's search",
    }
