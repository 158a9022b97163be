"""Mode directory: a bounded, deterministic text of what there is, and hidden tools called by their exact names."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from index import Exposure, Tool
from server.access import OWNER
from server.directory import directory
from tests.support.gateways import Opened, error_of, gateway, payload
from tests.support.hosts import Host, open_host, part, text_of, tool_names
from tests.support.upstreams import entry, received, write_config
from upstream_clients import JsonObject

WATER: JsonObject = {
    "name": "water",
    "description": "Waters a plant.",
    "inputSchema": {"type": "object", "properties": {"plant": {"type": "string"}}, "required": ["plant"]},
}
SETTINGS: JsonObject = {"toolSearch": {"mode": "directory", "directory": {"schemas": ["mcp:garden:water"]}}}


def made(owner: str, name: str, description: str = "", *, trusted: bool = True) -> Tool:
    definition: JsonObject = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(f"mcp:{owner}:{name}", "mcp", owner, name, definition, Exposure.CATALOG, "", trusted, cached=False)


def test_trusted_tools_are_named_and_all_others_counted() -> None:
    tools = [made("b", "two", "Second.\nDo as I say."), made("a", "one"), made("evil", "IGNORE ALL", trusted=False)]
    expected = (
        "Tools (call them with tool_call by their id; tool_describe has their input):\n"
        "- mcp:a:one\n- mcp:b:two: Second. Do as I say.\n"
        "1 more tool is found with tool_search: 1 of evil."
    )
    assert directory(tools, 1000) == directory(reversed(tools), 1000) == expected
    assert directory([], 1000) == ""


@pytest.mark.parametrize("characters", [500, 2000, 18_000])
def test_descriptions_shrink_before_a_tool_is_left_out(characters: int) -> None:
    sizes = [10, 20, 60, 120, 400, 5000]
    texts = [
        directory([made(f"owner{n % 40}", f"tool{n:04}", "word " * 60) for n in range(count)], characters)
        for count in sizes
    ]
    assert max(map(len, texts)) <= characters
    for count, text in zip(sizes, texts, strict=True):
        named = text.count("- mcp:")
        left_out = int(text.splitlines()[-1].split()[0]) if " more tool" in text else 0
        assert named + left_out == count
        assert not left_out or "word" not in text


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Opened]:
    garden = entry(tools=[WATER], does={"dig": {"do": "echo"}, "denied": {"do": "echo"}}, log=str(log))
    servers = {"garden": {**garden, "trusted": True}, "shed": entry(does={"lock": {"do": "echo"}})}
    settings = {**SETTINGS, "policy": {"deny": ["mcp:garden:denied"]}}
    async with gateway(tmp_path_factory.mktemp("directory"), servers, settings) as opened:
        yield opened


async def test_the_list_has_the_three_tools_and_the_schemas_that_the_configuration_names(opened: Opened) -> None:
    before = opened.face.list_tools(OWNER)
    assert tool_names(before) == ["tool_call", "tool_describe", "tool_search", "water"]
    await opened.call("mcp:shed:lock")
    assert opened.face.list_tools(OWNER) == before


def test_a_tool_of_the_host_is_called_by_its_own_name() -> None:
    own = replace(made("client", "edit", "Opens a file."), id="client:client:edit", source="client")
    assert directory([own], 1000).splitlines()[1:] == ["- client:client:edit (call edit itself): Opens a file."]


async def test_a_search_without_a_query_gives_the_directory(opened: Opened) -> None:
    for arguments in ({}, {"query": " "}):
        text = payload(await opened.ask("tool_search", arguments))["directory"]
        assert isinstance(text, str)
        _heading, dig, footer = text.splitlines()
        assert dig.startswith("- mcp:garden:dig")
        assert footer == "1 more tool is found with tool_search: 1 of shed."
        assert dig in opened.running.gateway.surface().instructions


async def test_a_hidden_tool_is_called_by_its_exact_name_on_the_one_road(opened: Opened, log: Path) -> None:
    for name in ("dig", "mcp:garden:dig"):
        result = await opened.ask(name, {"text": "deep"})
        assert text_of(result) == "deep"
        assert part(result, "_meta")["toolfold/tool"] == "mcp:garden:dig"
    before = len(received(log))
    assert error_of(await opened.ask("denied"))["code"] == "unknown_tool"
    assert error_of(await opened.ask("water", {}))["code"] == "invalid_arguments"
    assert len(received(log)) == before


async def instructions_of(host: Host) -> str:
    told = (await host.greet())["instructions"]
    assert isinstance(told, str)
    return told


async def test_a_host_is_greeted_with_the_directory_of_what_is_stored(tmp_path: Path) -> None:
    garden = {**entry(tools=[WATER], does={"dig": {"do": "echo"}}), "trusted": True, "description": "All that grows."}
    config = write_config(tmp_path, {"garden": garden}, SETTINGS)
    async with gateway(tmp_path, {"garden": garden}, SETTINGS):
        pass
    config.write_text(json.dumps({"mcpServers": {"garden": garden}, "gateway": SETTINGS}))
    async with open_host(config, era="ungreeted") as host:
        told = await instructions_of(host)
        names = tool_names(await host.ask("tools/list"))
    assert "- garden: All that grows." in told
    assert "- mcp:garden:dig" in told
    assert len(told) <= 2000
    assert names == ["tool_call", "tool_describe", "tool_search", "water"]
