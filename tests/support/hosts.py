"""A host that speaks JSON-RPC by hand to a real `toolfold serve`, over its standard input and output.

Every wait is bounded. Whatever the gateway writes is kept in `received`, in order; what is no JSON-RPC makes the test fail.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio
import anyio.abc

JsonObject: TypeAlias = dict[str, object]

ROOT: Final = Path(__file__).parents[2]
SERVE: Final = (sys.executable, "-P", "-c", "from server.cli import main; main()", "serve")

WAIT_SECONDS: Final = 30.0
"""For anything that is waited for; five times what a busy machine takes to import the SDK."""

MODERN_VERSION: Final = "2026-07-28"
ENVELOPE: Final[JsonObject] = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "hand", "version": "1"},
}


def environment(folder: Path, added: Mapping[str, str] | None = None) -> dict[str, str]:
    """For a gateway with its own cache and state in this folder, that finds the project from wherever it runs."""
    path = os.pathsep.join(part for part in ((added or {}).get("PYTHONPATH", ""), str(ROOT)) if part)
    places = {f"TOOLFOLD_{kind.upper()}_DIR": str(folder / f"toolfold-{kind}") for kind in ("cache", "state")}
    return {**os.environ, **places, **(added or {}), "PYTHONPATH": path}


def text_of(result: JsonObject) -> str:
    """The text of a result's only block."""
    content = result["content"]
    assert isinstance(content, list)
    [block] = content
    assert isinstance(block, dict)
    text = block["text"]
    assert isinstance(text, str)
    return text


def tool_names(listing: JsonObject) -> list[object]:
    """The names in a result of `tools/list`."""
    tools = listing["tools"]
    assert isinstance(tools, list)
    return [tool["name"] for tool in tools]


def hold_sdk(folder: Path) -> dict[str, str]:
    """Variables for a gateway in which the import of the SDK waits until someone opens the pipe `gate` in this folder."""
    if not (folder / "gate").exists():
        os.mkfifo(folder / "gate")
    return {"HOLD_MCP": str(folder / "gate"), "PYTHONPATH": str(Path(__file__).with_name("holding"))}


def part(value: object, *path: str) -> JsonObject:
    """The object at this path of a JSON value."""
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    assert isinstance(value, dict)
    return value


class Host:
    """One host and its gateway. Made by `open_host`."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.received: list[JsonObject] = []
        self.stray: list[bytes] = []
        self.stderr = ""
        self.modern = False
        self._number = 0
        self._news = anyio.Event()
        self._reading = anyio.Event()
        self._reading.set()

    async def greet(self, version: str = "2025-11-25") -> JsonObject:
        """Shakes hands and returns the result of `initialize`."""
        client = {"name": "hand", "version": "1"}
        params: JsonObject = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        result = await self.ask("initialize", params)
        await self.say("notifications/initialized")
        return result

    async def ask(self, method: str, params: Mapping[str, object] | None = None) -> JsonObject:
        """The result of a request that succeeds."""
        answer = await self.answer(await self.post(method, params))
        assert "result" in answer, answer
        return part(answer, "result")

    async def fail(self, method: str, params: Mapping[str, object] | None = None) -> JsonObject:
        """The JSON-RPC error of a request that does not succeed."""
        return part(await self.answer(await self.post(method, params)), "error")

    async def call(self, name: str, arguments: object = None, meta: Mapping[str, object] | None = None) -> JsonObject:
        """The result of `tools/call`."""
        return await self.ask("tools/call", _call(name, arguments, meta))

    async def post_call(
        self, name: str, arguments: object = None, meta: Mapping[str, object] | None = None, number: int | None = None
    ) -> int:
        """Sends a `tools/call` and returns its id."""
        return await self.post("tools/call", _call(name, arguments, meta), number)

    async def post(self, method: str, params: Mapping[str, object] | None = None, number: int | None = None) -> int:
        """Sends a request and returns its id."""
        self._number = number = self._number + 1 if number is None else number
        await self._send({"jsonrpc": "2.0", "id": number, "method": method}, params, stamped=self.modern)
        return number

    async def say(self, method: str, params: Mapping[str, object] | None = None) -> None:
        await self._send({"jsonrpc": "2.0", "method": method}, params, stamped=False)

    async def write(self, content: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin is not None
        with anyio.fail_after(WAIT_SECONDS):
            await self.process.stdin.send(content)

    async def answer(self, request_id: object) -> JsonObject:
        """The message that answers this request."""
        return await self.seen(lambda message: "method" not in message and message.get("id") == request_id)

    async def notified(self, method: str, times: int = 1) -> JsonObject:
        """The last of so many notifications of this method."""
        return await self.seen(lambda message: message.get("method") == method, times)

    async def seen(self, fits: Callable[[JsonObject], bool], times: int = 1) -> JsonObject:
        """The message that is the n-th to fit, among those that came and those to come."""
        with anyio.fail_after(WAIT_SECONDS):
            while True:
                fitting = [message for message in self.received if fits(message)]
                if len(fitting) >= times:
                    return fitting[times - 1]
                await self._news.wait()

    async def said(self, text: str) -> None:
        """Returns once standard error holds this text."""
        with anyio.fail_after(WAIT_SECONDS):
            while text not in self.stderr:
                await self._news.wait()

    def stop_reading(self) -> None:
        self._reading = anyio.Event()

    def read_on(self) -> None:
        self._reading.set()

    async def close_input(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    async def ended(self) -> int:
        """The exit code, once the process is over and all its output was read."""
        with anyio.fail_after(WAIT_SECONDS):
            return await self.process.wait()

    async def leave(self) -> int:
        """Closes the gateway's input, as a host does, and returns the exit code."""
        await self.close_input()
        return await self.ended()

    async def _send(self, message: JsonObject, params: Mapping[str, object] | None, *, stamped: bool) -> None:
        if stamped:
            meta = (params or {}).get("_meta")
            params = {**(params or {}), "_meta": {**ENVELOPE, **(meta if isinstance(meta, dict) else {})}}
        await self.write(json.dumps(message if params is None else {**message, "params": params}).encode() + b"\n")

    async def _read_output(self, stream: anyio.abc.ByteReceiveStream) -> None:
        rest = b""
        while True:
            await self._reading.wait()
            try:
                rest += await stream.receive(1 << 20)
            except anyio.EndOfStream:
                break
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self._take(line)
        if rest:
            self.stray.append(rest)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
            self.received.append(message)
        else:
            self.stray.append(line)
        self._tell()

    async def _read_errors(self, stream: anyio.abc.ByteReceiveStream) -> None:
        async for chunk in stream:
            self.stderr += chunk.decode("utf-8", "replace")
            self._tell()

    def _tell(self) -> None:
        """There is something new, for all who wait for something."""
        news, self._news = self._news, anyio.Event()
        news.set()


def _call(name: str, arguments: object, meta: Mapping[str, object] | None) -> JsonObject:
    params: JsonObject = {"name": name}
    if arguments is not None:
        params["arguments"] = arguments
    if meta is not None:
        params["_meta"] = dict(meta)
    return params


@asynccontextmanager
async def open_host(
    config: Path,
    *,
    era: Literal["legacy", "modern", "ungreeted"] = "legacy",
    added: Mapping[str, str] | None = None,
    command: Sequence[str] = SERVE,
) -> AsyncIterator[Host]:
    """A host with its own gateway over this configuration. Ends the gateway as a host does, and by force if need be.

    `added` are variables of the gateway's environment. Its cache and state are beside the configuration.
    """
    process = await anyio.open_process(
        [*command, "--config", str(config)],
        env=environment(config.parent, added),
        cwd=config.parent,
        start_new_session=True,
    )
    host = Host(process)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host._read_output, process.stdout)
            tasks.start_soon(host._read_errors, process.stderr)
            host.modern = era == "modern"
            if era == "legacy":
                await host.greet()
            yield host
            host.read_on()
            await host.leave()
    finally:
        with anyio.CancelScope(shield=True):  # bounded: the kill can't be refused
            if process.returncode is None:
                process.kill()
            await process.aclose()
    assert host.stray == [], "standard output carries JSON-RPC and nothing else"
