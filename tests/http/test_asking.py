"""A host's person is asked over HTTP as on standard input, in both eras, by the SDK's own client: no answer is a refusal."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from tests.support.http_gateways import HttpGateway, http_client, open_http_gateway
from tests.support.upstreams import entry, received, write_config

ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
IMPATIENT = (sys.executable, "-P", "-m", "tests.support.impatient", "serve")
YES = ElicitResult(action="accept", content={"allow": True})


def config(folder: Path) -> Path:
    one = entry(log=str(folder / "log"), does={"add": {"do": "echo"}})
    return write_config(folder, {"one": one}, {"policy": {"ask": ["*:add"]}})


def called(folder: Path) -> int:
    return sum(message.get("method") == "tools/call" for message in received(folder / "log"))


@asynccontextmanager
async def host(gateway: HttpGateway, mode: str, ask: ElicitationFnT | None) -> AsyncIterator[Client]:
    async with (
        http_client() as http,
        Client(streamable_http_client(gateway.url, http_client=http), mode=mode, elicitation_callback=ask) as client,
    ):
        yield client


async def add(client: Client, n: int = 0) -> str:
    """What a model is told."""
    with anyio.fail_after(60):
        result = await client.call_tool("tool_call", {"id": "mcp:one:add", "args": {"text": f"{n}"}})
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@ERAS
async def test_a_yes_and_nothing_else_runs_the_call_that_was_asked_about(tmp_path: Path, mode: str) -> None:
    asked: list[str] = []
    answers = [
        YES,
        ElicitResult(action="accept", content={"allow": False}),
        ElicitResult(action="accept", content={}),
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
    ]

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context
        asked.append(params.message)
        return answers[len(asked) - 1]

    async with open_http_gateway(config(tmp_path)) as gateway, host(gateway, mode, ask) as client:
        told = [await add(client, n) for n in range(len(answers))]
        async with host(gateway, mode, None) as mute:
            told.append(await add(mute))
    assert told[0] == "0"
    assert ["toolfold approve mcp:one:add" in text for text in told] == [False, True, True, True, True, True]
    assert asked == [f'May mcp:one:add be run with {{"text": "{n}"}}?' for n in range(len(answers))]
    assert called(tmp_path) == 1


async def test_a_question_that_nobody_answers_in_time_is_refused(tmp_path: Path) -> None:
    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context.session
        assert params.message
        await anyio.sleep_forever()
        raise NotImplementedError

    async with (
        open_http_gateway(config(tmp_path), command=IMPATIENT, added={"ASK_SECONDS": "0.5"}) as gateway,
        host(gateway, "legacy", ask) as client,
    ):
        assert "a person has to agree, and nobody has" in await add(client)
    assert called(tmp_path) == 0


async def test_an_answer_of_the_modern_era_that_comes_too_late_is_none_however_often_it_comes(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context
        asked.append(params.message)
        return YES

    async with (
        open_http_gateway(config(tmp_path), command=IMPATIENT, added={"ASK_SECONDS": "-1"}) as gateway,
        host(gateway, "2026-07-28", ask) as client,
    ):
        with pytest.raises((MCPError, RuntimeError)):
            await add(client)
    assert len(asked) > 1
    assert called(tmp_path) == 0
