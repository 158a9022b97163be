"""Gateways that are each other's upstreams over HTTP, in either era: what is behind them is found, and never twice."""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.chains import config_in
from tests.support.hosts import ENVELOPE, JsonObject, part
from tests.support.http_gateways import HttpGateway, http_client, open_http_gateway
from tests.support.upstreams import entry

WAIT_SECONDS = 60
SEARCH: JsonObject = {"name": "tool_search", "arguments": {"query": "echo"}}


class Asking:
    """A client of the modern era, which needs no session: one request, one answer."""

    def __init__(self, gateway: HttpGateway, client: httpx2.AsyncClient) -> None:
        self.url = gateway.url
        self._client = client

    async def ask(self, method: str, params: Mapping[str, object], meta: Mapping[str, object]) -> JsonObject:
        """The answer, whatever it is."""
        whole = {**params, "_meta": {**ENVELOPE, **meta}}
        version = str(ENVELOPE["io.modelcontextprotocol/protocolVersion"])
        headers = {"mcp-protocol-version": version, "mcp-method": method}
        if isinstance(params.get("name"), str):
            headers["mcp-name"] = str(params["name"])
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": whole}
        answer = (await self._client.post(self.url, json=body, headers=headers)).json()
        assert isinstance(answer, dict)
        return answer

    async def behind(self, *path: str) -> dict[str, JsonObject]:
        """What a gateway with this path is shown, by name."""
        tools = part(await self.ask("tools/list", {}, {"toolfold/path": list(path)}), "result")["tools"]
        assert isinstance(tools, list)
        return {tool["name"]: tool for tool in tools}

    async def call(self, tool_id: str, arguments: JsonObject, *path: str) -> JsonObject:
        call = {"name": "tool_call", "arguments": {"id": tool_id, "args": arguments}}
        return part(await self.ask("tools/call", call, {"toolfold/path": list(path)} if path else {}), "result")

    async def node(self) -> str:
        discovered = part(await self.ask("server/discover", {}, {}), "result")
        return str(part(discovered, "capabilities", "experimental", "toolfold/gateway")["node"])

    async def until_behind(self, *names: str, path: str = "somebody") -> dict[str, JsonObject]:
        """What is shown, once these are among it. Looks again and again: an outsider is told nothing."""
        with anyio.fail_after(WAIT_SECONDS):
            while True:
                shown = await self.behind(path)
                if shown.keys() >= set(names):
                    return shown
                await anyio.sleep(0.05)


@asynccontextmanager
async def asking(gateway: HttpGateway) -> AsyncIterator[Asking]:
    async with http_client() as client:
        yield Asking(gateway, client)


def remote(url: str, protocol: str) -> JsonObject:
    return {"type": "http", "url": url, "protocol": protocol}


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_two_gateways_behind_each_other_show_each_tool_once_and_call_it(
    tmp_path: Path, free_port: int, protocol: str
) -> None:
    first = f"http://127.0.0.1:{free_port}/mcp"
    b_config = config_in(tmp_path / "b", {"a": remote(first, protocol), "bee": entry(does={"hum": {"do": "echo"}})})
    async with open_http_gateway(b_config) as b, asking(b) as ask_b:
        servers = {"b": remote(b.url, protocol), "ant": entry(does={"dig": {"do": "echo"}})}
        a_config = config_in(tmp_path / "a", servers)
        async with (
            open_http_gateway(a_config, address=f"127.0.0.1:{free_port}") as a,
            asking(a) as ask_a,
        ):
            await ask_b.until_behind("mcp:a:mcp:ant:dig")
            await ask_a.until_behind("mcp:b:mcp:bee:hum")
            a_id, b_id = await ask_a.node(), await ask_b.node()
            shown_by_a, shown_to_b = await ask_a.behind("somebody"), await ask_a.behind(b_id)
            shown_by_b, shown_to_a = await ask_b.behind("somebody"), await ask_b.behind(a_id)
            itself = await ask_a.ask("tools/list", {}, {"toolfold/path": [b_id, a_id]})
            far = await ask_a.ask("tools/list", {}, {"toolfold/path": ["1", "2", "3", "4"]})
            through = await ask_a.call("mcp:b:mcp:bee:hum", {"text": "far"})
            circle = await ask_b.call("mcp:a:mcp:ant:dig", {"text": "no"}, a_id)
            published = part(await ask_a.ask("tools/list", {}, {}), "result")["tools"]
    assert set(shown_by_a) == {"mcp:ant:dig", "mcp:b:mcp:bee:hum"}
    assert set(shown_by_b) == {"mcp:bee:hum", "mcp:a:mcp:ant:dig"}
    assert (set(shown_to_b), set(shown_to_a)) == ({"mcp:ant:dig"}, {"mcp:bee:hum"})
    assert "_meta" not in shown_by_a["mcp:ant:dig"]
    assert part(shown_by_a["mcp:b:mcp:bee:hum"], "_meta")["toolfold/path"] == [b_id]
    assert str(part(itself, "error")["message"]).startswith("This gateway is an upstream of itself")
    assert str(part(far, "error")["message"]).startswith("There are more than 4 gateways in a row")
    assert part(through, "_meta")["toolfold/tool"] == "mcp:b:mcp:bee:hum"
    assert through["content"] == [{"type": "text", "text": "far"}]
    assert part(circle, "structuredContent", "error")["code"] == "chain_loop"
    assert isinstance(published, list)
    assert [tool["name"] for tool in published] == ["tool_call", "tool_describe", "tool_search"]


async def test_a_gateway_at_its_own_address_is_told_so_and_goes_on(tmp_path: Path, free_port: int) -> None:
    servers = {"me": remote(f"http://127.0.0.1:{free_port}/mcp", "legacy"), "one": entry(does={"echo": {"do": "echo"}})}
    config = config_in(tmp_path / "a", servers)
    async with open_http_gateway(config, address=f"127.0.0.1:{free_port}") as a, asking(a) as ask_a:
        shown = await ask_a.until_behind("mcp:one:echo")
        with anyio.fail_after(WAIT_SECONDS):
            while True:
                result = part(await ask_a.ask("tools/call", SEARCH, {}), "result", "structuredContent")
                if "unavailable" in result:
                    break
                await anyio.sleep(0.05)
    assert set(shown) == {"mcp:one:echo"}
    assert result["unavailable"] == {"me": "it is this gateway itself"}


@pytest.mark.soak
async def test_a_row_of_gateways_ends_after_four(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        url = ""
        asks: list[Asking] = []
        for number in range(4):
            own = {f"s{number}": entry(does={f"t{number}": {"do": "echo"}})}
            behind = {f"g{number - 1}": remote(url, "modern")} if url else {}
            config = config_in(tmp_path / f"g{number}", {**own, **behind})
            gateway = await stack.enter_async_context(open_http_gateway(config))
            url = gateway.url
            asks.append(await stack.enter_async_context(asking(gateway)))
        whole = "mcp:g2:mcp:g1:mcp:g0:mcp:s0:t0"
        found = await _found(asks[3], "t0", whole)
        called = await asks[3].call(whole, {"text": "whole way"})
        shown = await asks[3].behind("a fifth")
    assert found == [whole]
    assert called["content"] == [{"type": "text", "text": "whole way"}]
    assert sorted(shown) == ["mcp:g2:mcp:g1:mcp:s1:t1", "mcp:g2:mcp:s2:t2", "mcp:s3:t3"]


async def _found(ask: Asking, query: str, awaited: str) -> list[object]:
    search = {"name": "tool_search", "arguments": {"query": query, "limit": 1}}
    with anyio.fail_after(WAIT_SECONDS):
        while True:
            hits = part(await ask.ask("tools/call", search, {}), "result", "structuredContent")["tools"]
            assert isinstance(hits, list)
            if awaited in (ids := [hit["id"] for hit in hits]):
                return ids
            await anyio.sleep(0.05)
