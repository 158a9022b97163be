"""A real `toolfold serve --http` as a process, and requests to it by hand. Every wait is bounded."""

import json
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.abc
import httpx2

from tests.support.hosts import SERVE, environment
from upstream_clients import JsonObject

WAIT_SECONDS: Final = 30.0
SERVING: Final = "serving MCP at "
ACCEPT: Final = "application/json, text/event-stream"
INITIALIZE: Final[JsonObject] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "hand", "version": "1"},
}


class HttpGateway:
    """A gateway process that serves over HTTP, and what it has said on standard error so far."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.stderr = ""
        self.url = ""
        self._news = anyio.Event()

    async def said(self, text: str) -> str:
        """The rest of the first line with this text, once there is one."""
        with anyio.fail_after(WAIT_SECONDS):
            while True:
                for line in self.stderr.splitlines(keepends=True):
                    if text in line and line.endswith("\n"):
                        return line.partition(text)[2].strip()
                self._news = anyio.Event()
                await self._news.wait()

    async def ended(self) -> int:
        with anyio.fail_after(WAIT_SECONDS):
            return await self.process.wait()

    def at(self, path: str) -> str:
        return self.url.removesuffix("/mcp") + path

    async def read(self, stream: anyio.abc.ByteReceiveStream) -> None:
        async for chunk in stream:
            self.stderr += chunk.decode("utf-8", "replace")
            self._news.set()


@asynccontextmanager
async def open_http_gateway(
    config: Path,
    *options: str,
    added: Mapping[str, str] | None = None,
    address: str = "127.0.0.1:0",
    command: Sequence[str] = SERVE,
) -> AsyncIterator[HttpGateway]:
    """A gateway over this configuration, once it serves. Ended with SIGKILL if the test has not ended it."""
    async with run_http_gateway(config, ["--http", address, *options], added, command) as gateway:
        gateway.url = (await gateway.said(SERVING)).replace("0.0.0.0", "127.0.0.1")  # noqa: S104  (the other way round)
        yield gateway


@asynccontextmanager
async def run_http_gateway(
    config: Path, options: Sequence[str], added: Mapping[str, str] | None = None, command: Sequence[str] = SERVE
) -> AsyncIterator[HttpGateway]:
    process = await anyio.open_process(
        [*command, "--config", str(config), *options],
        env=environment(config.parent, added),
        cwd=config.parent,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    gateway = HttpGateway(process)
    assert process.stderr is not None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.read, process.stderr)
            yield gateway
            if process.returncode is None:
                process.terminate()
                process.terminate()
            await gateway.ended()
    finally:
        with anyio.CancelScope(shield=True):  # bounded: the kill can't be refused
            if process.returncode is None:
                process.kill()
            await process.aclose()


def request(method: str, params: Mapping[str, object] | None = None, number: int = 1) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}


@asynccontextmanager
async def http_client(token: str = "") -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"accept": ACCEPT} | ({"authorization": f"Bearer {token}"} if token else {})
    async with httpx2.AsyncClient(headers=headers, timeout=WAIT_SECONDS) as client:
        yield client


async def open_session(client: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """Shakes hands. The headers that make a request one of this session's."""
    opened = await client.post(url, json=request("initialize", INITIALIZE))
    headers = {"mcp-session-id": opened.headers["mcp-session-id"]}
    greeted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post(url, json=greeted, headers=headers)).status_code == 202
    return headers


def call_request(tool_id: str, arguments: Mapping[str, object], number: int = 1) -> JsonObject:
    """A `tool_call`, as a request."""
    return request("tools/call", {"name": "tool_call", "arguments": {"id": tool_id, "args": dict(arguments)}}, number)


def answer_in(response: httpx2.Response) -> JsonObject:
    """The JSON-RPC answer of a response, whether that is a document or an event stream."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        [text] = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:") and "id" in line]
    answer = json.loads(text)
    assert isinstance(answer, dict)
    return answer
