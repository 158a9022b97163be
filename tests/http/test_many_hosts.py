"""Hosts side by side over HTTP, in both eras at once: nothing crosses, and each hears of a list that has changed."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Final

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.support.http_gateways import http_client, open_http_gateway
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until

WAIT_SECONDS: Final = 60
CALLS: Final = 500
AT_ONCE: Final = 8


@asynccontextmanager
async def host(url: str, mode: str, told: list[str] | None = None) -> AsyncIterator[Client]:
    async def note(message: object) -> None:
        if told is not None:
            told.append(type(message).__name__)

    async with (
        http_client() as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=note) as client,
    ):
        yield client


async def echo(client: Client, text: str) -> str:
    with anyio.fail_after(WAIT_SECONDS):
        result = await client.call_tool("tool_call", {"id": "mcp:one:echo", "args": {"text": text}})
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("modes", [("legacy", "legacy"), ("legacy", "2026-07-28")])
async def test_two_hosts_make_500_calls_each_at_once_and_nothing_crosses(
    tmp_path: Path, modes: tuple[str, str]
) -> None:
    config = write_config(tmp_path, {"one": entry(does={"echo": {"do": "echo"}})})
    answered: list[int] = []

    async def work(client: Client, rounds: int) -> None:
        for _ in range(rounds):
            nonce = token_hex(8)
            assert await echo(client, nonce) == nonce
            answered.append(id(client))

    async with open_http_gateway(config) as gateway, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(host(gateway.url, mode)) for mode in modes]
        async with anyio.create_task_group() as tasks:
            for client in clients:
                for _ in range(AT_ONCE):
                    tasks.start_soon(work, client, CALLS // AT_ONCE + 1)
    assert min(answered.count(id(client)) for client in clients) >= CALLS
    turns = sum(one != other for one, other in pairwise(answered))
    assert turns > CALLS / AT_ONCE, "the two took turns"


async def test_hosts_of_both_eras_hear_of_a_list_that_has_changed(tmp_path: Path) -> None:
    added = {"name": "drench", "description": "Drenches.", "inputSchema": {"type": "object"}}
    plain = {"name": "echo", "description": "Echoes.", "inputSchema": {"type": "object"}}
    grow: list[dict[str, object]] = [{"do": "change", "tools": [plain, added]}, {"do": "text", "text": "done"}]
    one = entry(tools=[plain], does={"echo": grow})
    config = write_config(tmp_path, {"one": one}, {"directTools": ["mcp:one:drench"]})
    told: list[str] = []
    async with (
        open_http_gateway(config) as gateway,
        host(gateway.url, "legacy", told) as legacy,
        host(gateway.url, "auto") as modern,
        modern.listen(tools_list_changed=True) as listening,
    ):
        changing = [
            tools and tools.list_changed
            for tools in (legacy.server_capabilities.tools, modern.server_capabilities.tools)
        ]
        before = [[tool.name for tool in (await client.list_tools()).tools] for client in (legacy, modern)]
        assert await echo(legacy, "") == "done"
        with anyio.fail_after(WAIT_SECONDS):
            event = await anext(aiter(listening))
        await until(lambda: "ToolListChangedNotification" in told)
        after = [[tool.name for tool in (await client.list_tools()).tools] for client in (legacy, modern)]
    assert changing == [True, True]
    assert before == [["tool_call", "tool_describe", "tool_search"]] * 2
    assert after == [["drench", "tool_call", "tool_describe", "tool_search"]] * 2
    assert type(event).__name__ == "ToolsListChanged"
