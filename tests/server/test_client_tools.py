"""Tools that the host runs itself: found and described like all others, and never run here."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {"name": "open_editor", "description": "Opens a file in the editor window.", "inputSchema": SCHEMA},
    {"name": "echo", "description": "The host's own."},
    {"name": "kept_back", "description": "Opens nothing."},
]


@pytest.fixture(scope="module", params=["tools", "directory", False])
async def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    mode = request.param and {"mode": request.param}
    settings = {"clientTools": TOOLS, "toolSearch": mode, "policy": {"deny": ["client:*:kept_back"]}}
    folder = tmp_path_factory.mktemp("client")
    async with gateway(folder, {"one": entry(does={"echo": {"do": "echo"}})}, settings) as opened:
        yield opened


async def test_a_tool_of_the_host_is_found_and_described(opened: Opened) -> None:
    found = (await opened.search("open file in editor"))["tools"]
    assert isinstance(found, list)
    hit = found[0]
    assert hit["id"] == "client:client:open_editor"
    assert (hit["input"], hit["direct"]) == ("{ path: string }", True)
    described = await opened.describe("open_editor")
    assert described["call"] == {"name": "open_editor", "arguments": {}}
    assert described["tool"] == TOOLS[0]


@pytest.mark.parametrize("reference", ["client:client:open_editor", "open_editor"])
async def test_a_call_of_it_says_to_call_it_directly(opened: Opened, reference: str) -> None:
    error = error_of(await opened.call(reference, {"path": "x"}))
    assert (error["code"], error["hint"]) == ("client_tool", "Call open_editor directly, with { path: string }.")


@pytest.mark.parametrize("reference", ["client:client:open_editor", "open_editor"])
async def test_a_call_of_its_own_name_that_comes_here_is_not_sent_round_in_a_circle(
    opened: Opened, reference: str
) -> None:
    error = error_of(await opened.ask(reference, {"path": "x"}))
    assert (error["code"], error["hint"]) == ("client_tool", "Call open_editor directly, with { path: string }.")


async def test_one_that_has_the_name_of_a_catalogue_tool_is_refused_with_both_ids(opened: Opened) -> None:
    error = error_of(await opened.call("client:client:echo"))
    assert error["code"] == "tool_refused"
    assert "client:client:echo" in str(error["message"])
    assert "mcp:one:echo" in str(error["message"])
    assert text_of(await opened.call("echo", {"text": "still here"})) == "still here"


async def test_the_policy_holds_for_it(opened: Opened) -> None:
    assert error_of(await opened.call("client:client:kept_back"))["code"] == "unknown_tool"
    assert "client:client:kept_back" not in await opened.found("opens nothing")


async def test_it_is_there_without_any_upstream_and_goes_with_the_configuration(tmp_path: Path) -> None:
    async with gateway(tmp_path, {}, {"clientTools": TOOLS[:1]}) as opened:
        assert await opened.found("open a file") == ["client:client:open_editor"]
        gone = opened.settings.gateway.model_copy(update={"client_tools": ()})
        await opened.running.adopt(replace(opened.settings, gateway=gone))
        assert error_of(await opened.call("open_editor"))["code"] == "unknown_tool"
