"""The floor: the least that a gateway can do. It starts every upstream and passes calls through, with no SDK in between.

It publishes three tools as toolfold does, and of these only `tool_call` works. It checks nothing, catalogues nothing, and
just kills its upstreams at the end: nobody should use it. It shows what processes, pipes and JSON cost on this machine, so
that toolfold's own share can be given as a ratio.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

STARTS_AT_ONCE: Final = 4
HEAD: Final = b'{"jsonrpc": "2.0", "id": '
"""How the synthetic upstream's answers begin: then only the id is read, and the rest is passed on as it is."""

OnAnswer = Callable[[bytes], None]
"""Takes all of an answer that follows its id."""


class Lines(asyncio.Protocol):
    """Splits what comes in into lines."""

    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._partial = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._on_line(line)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


async def connect(
    reading: int, writing: int, on_line: Callable[[bytes], None], on_end: Callable[[], None]
) -> asyncio.WriteTransport:
    loop = asyncio.get_running_loop()
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))
    await loop.connect_read_pipe(lambda: Lines(on_line, on_end), os.fdopen(reading, "rb", 0))
    return writer


class Upstream:
    """One server. Answers find their requests by a number of ours."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self._entry = entry
        self._waiting: dict[int, OnAnswer] = {}
        self._number = 0
        self._early: list[tuple[bytes, bytes, OnAnswer]] | None = []
        self._writer: asyncio.WriteTransport | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()

    async def start(self) -> None:
        command = [self._entry["command"], *self._entry.get("args", [])]
        process = self._process = subprocess.Popen(  # noqa: ASYNC220  (a thread would cost more than the fork)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert process.stdin is not None
        assert process.stdout is not None
        reading, writing = os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())
        process.stdin.close()
        process.stdout.close()
        self._writer = await connect(reading, writing, self._take, lambda: None)
        client = b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}'
        await self._ask(b"initialize", client)
        self._writer.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        early, self._early = self._early or [], None
        for request in early:
            self._send(*request)

    def send(self, method: bytes, params: bytes, on_answer: OnAnswer) -> None:
        """Sends a request, once the server is there."""
        if self._early is None:
            self._send(method, params, on_answer)
        else:
            self._early.append((method, params, on_answer))

    def _send(self, method: bytes, params: bytes, on_answer: OnAnswer) -> None:
        assert self._writer is not None
        self._number += 1
        self._waiting[self._number] = on_answer
        self._writer.write(b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}\n' % (self._number, method, params))

    async def _ask(self, method: bytes, params: bytes) -> bytes:
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._send(method, params, answered.set_result)
        return await answered

    def _take(self, line: bytes) -> None:
        if line.startswith(HEAD):
            number, _, rest = line[len(HEAD) :].partition(b",")
            self._waiting.pop(int(number))(rest)


class Floor:
    """The host's side."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._upstreams = {key: Upstream(entry) for key, entry in config["mcpServers"].items()}
        self._host: asyncio.WriteTransport | None = None

    async def run(self) -> None:
        ended = asyncio.Event()
        self._host = await connect(0, 1, self._take, ended.set)
        starting = asyncio.ensure_future(self._start_all())
        await ended.wait()
        starting.cancel()
        for upstream in self._upstreams.values():
            upstream.end()

    async def _start_all(self) -> None:
        slots = asyncio.Semaphore(STARTS_AT_ONCE)

        async def start(upstream: Upstream) -> None:
            async with slots:  # given back when the process runs: one that hangs keeps nobody waiting
                starting = asyncio.ensure_future(upstream.start())
                await asyncio.wait([starting], timeout=0.05)
            await starting

        await asyncio.gather(*(start(upstream) for upstream in self._upstreams.values()), return_exceptions=True)

    def _take(self, line: bytes) -> None:
        message = json.loads(line)
        if "id" not in message:
            return
        if message["method"] == "tools/call":
            self._call(message)
        else:
            self._answer(message["id"], ANSWERS.get(message["method"], {}))

    def _call(self, message: dict[str, Any]) -> None:
        _, key, name = message["params"]["arguments"]["id"].split(":", 2)
        arguments = json.dumps(message["params"]["arguments"]["args"]).encode()
        head = b'{"jsonrpc":"2.0","id":%b,' % json.dumps(message["id"]).encode()
        host = self._host
        assert host is not None
        params = b'{"name":"%b","arguments":%b}' % (name.encode(), arguments)
        self._upstreams[key].send(b"tools/call", params, lambda rest: host.write(head + rest + b"\n"))

    def _answer(self, request_id: object, result: object) -> None:
        assert self._host is not None
        self._host.write(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode() + b"\n")


def _tool(name: str, **properties: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": {"type": "object", "properties": properties}}


_TEXT: Final = {"type": "string"}

ANSWERS: Final[dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "floor", "version": "1"},
    },
    "tools/list": {
        "tools": [
            _tool("tool_search", query=_TEXT),
            _tool("tool_describe", id=_TEXT),
            _tool("tool_call", id=_TEXT, args={"type": "object"}),
        ]
    },
}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        asyncio.run(Floor(json.load(file)).run())
