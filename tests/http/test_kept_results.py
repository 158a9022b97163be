"""The rest of a long result is its caller's alone, not another session's, token's or profile's, behind a gateway too."""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from server.access import OWNER, Caller
from tests.support.chains import config_in, toolfold
from tests.support.gateways import error_of, gateway
from tests.support.hosts import part, text_of
from tests.support.http_gateways import http_client, open_http_gateway
from tests.support.upstreams import entry, received, write_config
from upstream_clients import HOLDER_META, JsonObject

TOKENS = {name: f"a token of {name} for this test" for name in ("anne", "ben")}
HASHES = {name: f"sha256:{hashlib.sha256(token.encode()).hexdigest()}" for name, token in TOKENS.items()}
LONG = {"one": entry(does={"long": {"do": "text", "bytes": 5000}})}
LIMITS = {"limits": {"resultBytes": 1024}}
CALL = {"id": "mcp:one:long", "args": {}}
UNKNOWN = "There is no kept result of that reference."


@asynccontextmanager
async def host(url: str, mode: str, token: str = "") -> AsyncIterator[Client]:
    async with http_client(token) as http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


async def told(client: Client, arguments: Mapping[str, object]) -> str:
    with anyio.fail_after(30):
        result = await client.call_tool("tool_call", dict(arguments))
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def read_on(text: str) -> JsonObject:
    """What a cut text says to call."""
    call = json.loads(text.rpartition("tool_call ")[2].rstrip("]"))
    assert isinstance(call, dict)
    return call


@pytest.mark.parametrize(
    ("mode", "other", "token"),
    [("legacy", "legacy", "anne"), ("legacy", "2026-07-28", "anne"), ("2026-07-28", "2026-07-28", "ben")],
)
async def test_another_session_or_token_cannot_read_on(tmp_path: Path, mode: str, other: str, token: str) -> None:
    config = write_config(tmp_path, LONG, {**LIMITS, "http": {"tokens": HASHES}})
    async with (
        open_http_gateway(config) as served,
        host(served.url, mode, TOKENS["anne"]) as anne,
        host(served.url, other, TOKENS[token]) as stranger,
    ):
        rest = read_on(await told(anne, CALL))
        assert (await told(stranger, rest)).startswith(UNKNOWN)
        assert "xxx" in await told(anne, rest)


async def test_a_session_of_another_named_in_a_request_of_the_modern_era_opens_nothing(tmp_path: Path) -> None:
    seen: list[str] = []

    async def note(request: httpx2.Request) -> None:
        seen.append(request.headers.get("mcp-session-id", ""))

    async with open_http_gateway(write_config(tmp_path, LONG, LIMITS)) as served, http_client() as http:
        http.event_hooks["request"].append(note)
        async with Client(streamable_http_client(served.url, http_client=http), mode="legacy") as anne:
            rest = read_on(await told(anne, CALL))
            async with http_client() as other:
                other.headers["mcp-session-id"] = seen[-1]
                async with Client(streamable_http_client(served.url, http_client=other), mode="2026-07-28") as stranger:
                    assert (await told(stranger, rest)).startswith(UNKNOWN)
            assert "xxx" in await told(anne, rest)
    assert seen[-1]


async def test_what_a_gateway_behind_has_kept_is_for_the_caller_in_front_alone(tmp_path: Path) -> None:
    inner = config_in(tmp_path / "inner", {"one": entry(does={"long": {"do": "text", "bytes": 3 << 20}})})
    wide = {"limits": {"resultBytes": 8 << 20, "lineBytes": 16 << 20}}
    async with gateway(tmp_path, {"team": toolfold(inner)}, wide) as opened:
        await opened.news.until(lambda: bool(opened.running.library.snapshot.catalog.reachable()))
        anne = partial(opened.ask, "tool_call", caller=Caller(session="anne"))
        rest = read_on(text_of(await anne({"id": "mcp:team:mcp:one:long", "args": {}})))
        for stranger in (OWNER, Caller(session="ben"), Caller("coder", session="anne")):
            assert error_of(await opened.ask("tool_call", rest, caller=stranger))["message"] == UNKNOWN
        assert "xxx" in text_of(await anne(rest))


async def test_whom_a_gateway_calls_for_is_told_to_gateways_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with gateway(tmp_path, {"one": entry(log=str(log), does={"echo": {"do": "raw"}})}) as opened:
        await opened.ask("tool_call", {"id": "mcp:one:echo"}, meta={HOLDER_META: "x", "traceparent": "t"})
    metas = [part(message, "params").get("_meta") for message in received(log) if message["method"] == "tools/call"]
    assert [isinstance(meta, dict) and HOLDER_META in meta for meta in metas] == [False]
