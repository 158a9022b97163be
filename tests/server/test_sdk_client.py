"""The SDK's own client over `serve`, in both eras of the protocol, as a real host would."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import Subscription
from mcp_types import CallToolResult, TextContent

from tests.support.hosts import SERVE, environment, part
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject

WAIT_SECONDS = 30

INSTRUCTIONS = """\
Many tools stand behind this server. Find one with tool_search, read its schema with tool_describe if its input is not \
clear, run it with tool_call.
Upstreams:
- one: Words."""

ECHO: JsonObject = {
    "name": "echo",
    "description": "Says a text again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "unheard_of": {"x": 1},
}


@dataclass
class Connected:
    """A client that is connected, what it was told, and what its upstream got."""

    client: Client
    mode: str
    log: Path
    told: list[str] = field(default_factory=list)

    async def call(self, name: str, **arguments: object) -> CallToolResult:
        with anyio.fail_after(WAIT_SECONDS):
            result = await self.client.call_tool(name, arguments)
        assert isinstance(result, CallToolResult)
        return result


@pytest.fixture(scope="module", params=["legacy", "auto", "2026-07-28"])
async def connected(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    folder = tmp_path_factory.mktemp("client")
    log = folder / "log"
    direct = {"name": "direct_word", "description": "A word.", "inputSchema": {"type": "object"}}
    fresh = {"name": "fresh_word", "description": "A word.", "inputSchema": {"type": "object"}}
    done = {"do": "text", "text": "done"}
    one = entry(
        log=str(log),
        tools=[ECHO],
        does={
            "echo": {"do": "echo"},
            "wait": {"do": "never"},
            "fails": {"do": "error", "text": "no luck"},
            "steps": [{"do": "progress", "steps": 3}, done],
            "image": {"do": "binary", "bytes": 8},
            "grow": [{"do": "change", "tools": [ECHO, fresh]}, done],
            "publish": [{"do": "change", "tools": [ECHO, fresh, direct]}, done],
        },
    )
    config = write_config(
        folder, {"one": {**one, "description": "Words."}}, {"directTools": ["mcp:one:direct_*"], "hints": "safe"}
    )
    command, *arguments = SERVE
    server = StdioServerParameters(
        command=command, args=[*arguments, "--config", str(config)], cwd=folder, env=environment(folder)
    )
    told: list[str] = []

    async def note(message: object) -> None:
        told.append(type(message).__name__)

    async with Client(server, mode=request.param, message_handler=note) as client:
        connected = Connected(client, request.param, log, told)
        await until(lambda: len(received(log)) == 3)
        await connected.call("tool_search", query="wait for the first index")
        yield connected


async def test_the_client_and_the_gateway_agree_on_the_newest_version_of_their_era(connected: Connected) -> None:
    client = connected.client
    assert client.protocol_version == ("2025-11-25" if connected.mode == "legacy" else "2026-07-28")
    if connected.mode == "2026-07-28":
        return  # a client that is told the version asks nothing about the server
    assert client.server_info is not None
    assert (client.server_info.name, client.instructions) == ("toolfold", INSTRUCTIONS)
    tools = client.server_capabilities.tools
    assert tools is not None
    assert tools.list_changed is True


async def test_the_three_tools_are_listed_on_one_page(connected: Connected) -> None:
    listed = await connected.client.list_tools()
    assert listed.next_cursor is None
    assert [tool.name for tool in listed.tools][-3:] == ["tool_call", "tool_describe", "tool_search"]


async def test_a_tool_is_found_described_and_called(connected: Connected) -> None:
    searched = await connected.call("tool_search", query="say a text again", limit=1)
    assert searched.structured_content == {
        "tools": [
            {
                "id": "mcp:one:echo",
                "confidence": "high",
                "description": "Says a text again.",
                "input": "{ text: string }",
            },
        ]
    }
    assert isinstance(searched.content[0], TextContent)
    assert json.loads(searched.content[0].text) == searched.structured_content
    described = await connected.call("tool_describe", id="mcp:one:echo")
    assert described.structured_content is not None
    assert described.structured_content["tool"] == ECHO
    called = await connected.call("tool_call", id="mcp:one:echo", args={"text": "hello"})
    assert called.content == [TextContent(text="hello")]
    assert called.meta is not None
    assert called.meta["toolfold/tool"] == "mcp:one:echo"
    assert called.is_error is False


async def test_a_failure_and_a_refusal_are_results_that_a_model_can_read(connected: Connected) -> None:
    failed = await connected.call("tool_call", id="mcp:one:fails")
    assert (failed.is_error, failed.content) == (True, [TextContent(text="no luck")])
    refused = await connected.call("tool_call", id="mcp:one:echo", args={"txt": "hello"})
    assert refused.is_error is True
    assert refused.structured_content is not None
    assert refused.structured_content["error"]["code"] == "invalid_arguments"


async def test_binary_content_comes_through(connected: Connected) -> None:
    [block] = (await connected.call("tool_call", id="mcp:one:image")).content
    assert (block.type, getattr(block, "data", "")) == ("image", "iYmJiYmJiYk=")


async def test_progress_reaches_the_client(connected: Connected) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    with anyio.fail_after(WAIT_SECONDS):
        await connected.client.call_tool("tool_call", {"id": "mcp:one:steps"}, progress_callback=note)
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_call_that_the_client_gives_up_is_cancelled_upstream(connected: Connected) -> None:
    before = len(received(connected.log))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connected.client.call_tool, "tool_call", {"id": "mcp:one:wait"})
        await until(lambda: len(received(connected.log)) == before + 1)
        tasks.cancel_scope.cancel()
    await until(lambda: len(received(connected.log)) == before + 2)
    call, cancelled = received(connected.log)[before:]
    assert cancelled["method"] == "notifications/cancelled"
    assert part(cancelled, "params")["requestId"] == call["id"]
    assert (await connected.call("tool_call", id="mcp:one:echo", args={"text": "after"})).is_error is False


async def test_what_is_not_served_is_refused(connected: Connected) -> None:
    with pytest.raises(MCPError) as caught:
        await connected.client.list_resources()
    assert caught.value.code == -32601


@asynccontextmanager
async def listening(connected: Connected) -> AsyncIterator[Callable[[], int]]:
    """A client that hears of changes as its era does; gives how often it has heard of one."""
    if connected.mode == "legacy":
        yield lambda: connected.told.count("ToolListChangedNotification")
        return
    heard: list[object] = []

    async def listen(events: Subscription) -> None:
        async for event in events:
            heard.append(event)

    async with connected.client.listen(tools_list_changed=True) as events, anyio.create_task_group() as tasks:
        tasks.start_soon(listen, events)
        yield lambda: len(heard)
        tasks.cancel_scope.cancel()


async def test_a_direct_tool_that_appears_is_told_listed_and_called_by_its_own_name(connected: Connected) -> None:
    async with listening(connected) as heard:
        await connected.call("tool_call", id="mcp:one:grow")
        with anyio.fail_after(WAIT_SECONDS):
            while (await connected.call("tool_call", id="mcp:one:fresh_word")).is_error:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert heard() == 0  # what only a search finds changes nothing on the list
        await connected.call("tool_call", id="mcp:one:publish")
        await until(lambda: heard() > 0)
        assert heard() == 1
    listed = await connected.client.list_tools()
    assert [tool.name for tool in listed.tools] == ["direct_word", "tool_call", "tool_describe", "tool_search"]
    called = await connected.call("direct_word", a=1)
    assert called.meta is not None
    assert called.meta["toolfold/tool"] == "mcp:one:direct_word"
