"""A hand-written HTTP server that speaks MCP as a test tells it, or badly, or not at all. Real sockets, no library.

`HttpStub.answers` maps what came to how it is answered: a JSON-RPC method for POST, "GET" and "DELETE" for the others. The
value is a function of the request, or several, one for each time (the last one stays). Without one it behaves well.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from upstream_clients import JsonObject

SESSION: Final = "session-1"


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    message: JsonObject

    @property
    def what(self) -> str:
        return str(self.message.get("method")) if self.method == "POST" else self.method

    @property
    def name(self) -> str:
        params = self.message.get("params")
        return str(params.get("name")) if isinstance(params, dict) else ""


class Reply:
    """Writes to one client."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
        if length is not None:
            lines.append(f"content-length: {length}")
        await self.raw("\r\n".join([*lines, "connection: close", "", ""]).encode())

    async def whole(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        await self.head(status, headers, len(body))
        await self.raw(body)

    async def event(self, data: str, event: str = "message", event_id: str = "") -> None:
        mark = f"id: {event_id}\n" if event_id else ""
        await self.raw(f"{mark}event: {event}\ndata: {data}\n\n".encode())

    async def raw(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    def reset(self) -> None:
        """Breaks the connection off at once."""
        self._writer.transport.abort()


Answer: TypeAlias = Callable[[Request, Reply], Awaitable[None]]


@dataclass(slots=True)
class HttpStub:
    """`base` is its address without a path, `seen` every request so far."""

    answers: dict[str, Answer | Sequence[Answer]] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)
    base: str = ""
    tools: list[JsonObject] = field(default_factory=lambda: [tool("echo")])
    cut: list[Request] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    def whats(self) -> list[str]:
        return [request.what for request in self.seen]

    def count(self, what: str) -> int:
        return self.whats().count(what)

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.news.clear()
            await self.news.wait()

    def answer_of(self, request: Request) -> Answer:
        told = self.answers.get(request.what)
        if told is None:
            return GOOD.get(request.what, accepted) if request.what != "tools/list" else listing(self.tools)
        if isinstance(told, Sequence):
            return told[min(self.count(request.what), len(told)) - 1]
        return told


def tool(name: str, **beside: object) -> JsonObject:
    return {"name": name, "inputSchema": {"type": "object"}, **beside}


def result(value: JsonObject, **headers: str) -> Answer:
    async def answer(request: Request, reply: Reply) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request.message.get("id"), "result": value}).encode()
        await reply.whole(200, {"content-type": "application/json", **headers}, body)

    return answer


def listing(tools: Sequence[JsonObject]) -> Answer:
    return result({"tools": list(tools)})


def status(code: int, body: bytes = b"no", content_type: str = "text/plain", **headers: str) -> Answer:
    async def answer(_request: Request, reply: Reply) -> None:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        await reply.whole(code, {"content-type": content_type, **told}, body)

    return answer


def refusal(code: int, rpc_code: int, message: str) -> Answer:
    """A JSON-RPC error under an HTTP status."""

    async def answer(request: Request, reply: Reply) -> None:
        request_id = None if code >= 400 else request.message["id"]
        body = {"jsonrpc": "2.0", "id": request_id, "error": {"code": rpc_code, "message": message}}
        await status(code, json.dumps(body).encode(), "application/json")(request, reply)

    return answer


def events(*parts: str | bytes | None) -> Answer:
    """An event stream: data as text, raw bytes, or None for a connection that is broken off. `{id}` is the request's."""

    async def answer(request: Request, reply: Reply) -> None:
        await reply.head(200, {"content-type": "text/event-stream"})
        for part in parts:
            if part is None:
                reply.reset()
            elif isinstance(part, bytes):
                await reply.raw(part)
            else:
                await reply.event(part.replace("{id}", str(request.message.get("id"))))

    return answer


async def silence(_request: Request, _reply: Reply) -> None:
    await asyncio.Event().wait()


async def reset(_request: Request, reply: Reply) -> None:
    reply.reset()


async def closed(_request: Request, _reply: Reply) -> None:
    """Ends the connection without a word."""


async def accepted(_request: Request, reply: Reply) -> None:
    await reply.whole(202, {})


async def echo(request: Request, reply: Reply) -> None:
    await result({"content": [{"type": "text", "text": request.name}]})(request, reply)


_WELCOME: Final[JsonObject] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "stub", "version": "1"},
}

GOOD: Final[Mapping[str, Answer]] = {
    "initialize": result(_WELCOME, **{"mcp-session-id": SESSION}),
    "tools/call": echo,
    "GET": status(405),
    "DELETE": status(200),
}


@asynccontextmanager
async def http_stub(
    answers: Mapping[str, Answer | Sequence[Answer]] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HttpStub]:
    stub = HttpStub(dict(answers or {}))
    clients: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                if request := await _request(reader):
                    stub.seen.append(request)
                    stub.news.set()
                    await _answered(stub, request, reader, Reply(writer))
        finally:
            writer.close()
            clients.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    stub.base = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield stub
    finally:
        server.close()
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


async def _answered(stub: HttpStub, request: Request, reader: asyncio.StreamReader, reply: Reply) -> None:
    """Answers, or notes that the client has hung up meanwhile."""
    answer = asyncio.ensure_future(stub.answer_of(request)(request, reply))
    hung_up = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((answer, hung_up), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            answer.result()
        else:
            stub.cut.append(request)
            stub.news.set()
    finally:
        for each in (answer, hung_up):
            each.cancel()
        await asyncio.gather(answer, hung_up, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> Request | None:
    start = await reader.readline()
    if not start.strip() or not start.isascii():  # the end, or the greeting of TLS
        return None
    method, path, _ = start.decode().split()
    headers: dict[str, str] = {}
    while (line := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else {})
