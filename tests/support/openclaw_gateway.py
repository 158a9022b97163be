"""A stand-in for an OpenClaw Gateway: WebSocket and HTTP on one loopback port, with real sockets, behaving as well
or as badly as a test wants. The shapes are those of OpenClaw 2026.9.6.

`answers` maps a tool's name to what `POST /tools/invoke` does, `methods` a method of the socket to what it answers. Whatever
comes is kept: `calls`, `greetings`, `asked`.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from upstream_clients import JsonObject

TOKEN: Final = "token-of-the-gateway-0123456789"
GRANTED: Final = "token-of-a-grant-9876543210"
VERSION: Final = "2026.9.6"
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Call:
    """One `POST /tools/invoke`."""

    headers: Mapping[str, str]
    body: JsonObject

    @property
    def arguments(self) -> JsonObject:
        arguments = self.body["args"]
        assert isinstance(arguments, dict)
        return arguments


class Reply:
    """Writes an HTTP answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def json(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        await self.whole(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})

    async def whole(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
        head = "\r\n".join([*lines, f"content-length: {len(content)}", "connection: close", "", ""])
        with suppress(ConnectionError):
            self._writer.write(head.encode() + content)
            await self._writer.drain()

    async def left(self) -> None:
        """Returns when the client has closed its end."""
        with suppress(ConnectionError):
            await self._reader.read()

    def cut(self) -> None:
        self._writer.transport.abort()


Answer: TypeAlias = Callable[[Call, Reply], Awaitable[None]]
Method: TypeAlias = Callable[[JsonObject], JsonObject]


class Refuse(Exception):
    """Raised by a method: the error that the Gateway answers with."""

    def __init__(self, code: str, message: str = "", **beside: object) -> None:
        super().__init__()
        self.error: JsonObject = {"code": code, "message": message, **beside}


def result(details: object, text: str | None = None) -> Answer:
    """A success: `details`, and the same as text."""

    async def answer(_call: Call, reply: Reply) -> None:
        shown = json.dumps(details, indent=2) if text is None else text
        body = {"ok": True, "result": {"content": [{"type": "text", "text": shown}], "details": details}}
        await reply.json(200, body)

    return answer


def refusal(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answer:
    async def answer(_call: Call, reply: Reply) -> None:
        await reply.json(status, body, headers)

    return answer


def tool(name: str, description: str = "", **beside: object) -> JsonObject:
    """As an inventory has it."""
    return {"id": name, "label": name.title(), "description": description, "source": "core", **beside}


EFFECTIVE: Final[JsonObject] = {
    "agentId": "main",
    "profile": "full",
    "groups": [
        {
            "id": "core",
            "label": "Core",
            "source": "core",
            "tools": [
                tool("sessions_list", "List the sessions that are visible."),
                tool("sessions_history"),
                tool("sessions_send"),
                tool("sessions_spawn"),
                tool("sessions_yield"),
                tool("session_status"),
                tool("subagents"),
                tool("exec"),
                tool("computer"),
            ],
        },
        {
            "id": "plugin",
            "label": "Plugins",
            "source": "plugin",
            "tools": [
                tool("llm-task", "One step of a model.", source="plugin", pluginId="llm-task"),
                tool("pond_depth", "How deep a pond is.", source="plugin", pluginId="pond"),
            ],
        },
    ],
}


@dataclass(slots=True)
class FakeGateway:
    """`tools_over_http` are those that it lets be called, by their answers."""

    answers: dict[str, Answer] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    effective: JsonObject = field(default_factory=lambda: json.loads(json.dumps(EFFECTIVE)))
    catalog: JsonObject = field(default_factory=lambda: {"agentId": "main", "profiles": [], "groups": []})
    has_session: bool = True
    scopes: tuple[str, ...] = ("operator.read", "operator.admin")
    version: str = VERSION
    starting: list[float] = field(default_factory=list)  # for each greeting that comes too early: retryAfterMs
    refuses_greeting: Refuse | None = None
    upgrade_status: int = 0  # what an upgrade to a WebSocket is answered with, if it is refused
    loopback: list[JsonObject] | None = None  # the tools behind `attach.grant`; None: there is no such thing
    loopback_fault: JsonObject | None = None  # the JSON-RPC error that it answers with instead
    grant_seconds: float = 3600.0
    valid_grants: set[str] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)
    greetings: list[JsonObject] = field(default_factory=list)
    asked: list[tuple[str, JsonObject]] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    port: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _sockets: list["_Socket"] = field(default_factory=list)
    _connections: set[asyncio.StreamWriter] = field(default_factory=set)
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listens; on the same port as before, if there was one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Ends everything at once, as a process that is killed."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._connections):
            writer.transport.abort()
        await self._server.wait_closed()

    async def emit(self, event: str, payload: object) -> None:
        """To everyone who is connected; what sessions do is told to those only who have asked for it."""
        if event == "sessions.changed" and not self.asked_for("sessions.subscribe"):
            return
        await self.send_raw(json.dumps({"type": "event", "event": event, "payload": payload}))

    async def send_raw(self, text: str) -> None:
        """A text frame to everyone who is connected."""
        for socket in self._sockets:
            await socket.send(text)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                self.news = asyncio.Event()
                await self.news.wait()

    def asked_for(self, method: str) -> list[JsonObject]:
        return [params for name, params in self.asked if name == method]

    def called(self, name: str) -> list[Call]:
        return [call for call in self.calls if call.body.get("tool") == name]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            await self._speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        reply = Reply(reader, writer)
        if headers.get("upgrade") == "websocket":
            if self.upgrade_status:
                await reply.json(self.upgrade_status, {}, {"location": f"http://127.0.0.1:{self.port}/elsewhere"})
            else:
                await _Socket(self, reader, writer).run(head)
            return
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        if method != "POST":
            await reply.whole(405, b"Method Not Allowed", {"allow": "POST", "content-type": "text/plain"})
        elif path == "/mcp":
            await self._answer_mcp(headers, json.loads(content), reply)
        elif path == "/tools/invoke":
            await self._invoke(headers, content, reply)
        else:
            await reply.whole(404, b"Not Found", {"content-type": "text/plain"})

    async def _invoke(self, headers: Mapping[str, str], content: bytes, reply: Reply) -> None:
        if headers.get("authorization") != f"Bearer {TOKEN}":
            await reply.json(401, {"error": {"message": "Unauthorized", "type": "unauthorized"}})
            return
        if len(content) > 2 * MIB:
            await reply.json(413, {"error": {"message": "Payload too large", "type": "invalid_request_error"}})
            return
        call = Call(headers, json.loads(content))
        self.calls.append(call)
        self.news.set()
        name = str(call.body.get("tool"))
        error = {"type": "not_found", "message": f"Tool not available: {name}"}
        await self.answers.get(name, refusal(404, {"ok": False, "error": error}))(call, reply)

    async def _answer_mcp(self, headers: Mapping[str, str], message: JsonObject, reply: Reply) -> None:
        if headers.get("authorization", "").removeprefix("Bearer ") not in self.valid_grants:
            await reply.json(401, {"error": "unauthorized"})
            return
        answer = {"error": self.loopback_fault} if self.loopback_fault else {"result": {"tools": self.loopback}}
        await reply.json(200, {"jsonrpc": "2.0", "id": message["id"], **answer})

    def greet(self, params: JsonObject) -> JsonObject:
        """The hello, or the refusal, of one greeting."""
        self.greetings.append(params)
        self.news.set()
        if self.starting:
            wait = self.starting.pop(0)
            details = {"reason": "startup-sidecars"}
            raise Refuse("UNAVAILABLE", "gateway starting", details=details, retryable=True, retryAfterMs=wait)
        if self.refuses_greeting is not None:
            raise self.refuses_greeting
        auth = params.get("auth")
        if not isinstance(auth, dict) or TOKEN not in (auth.get("token"), auth.get("password")):
            details = {"code": "AUTH_TOKEN_MISMATCH"}
            raise Refuse("INVALID_REQUEST", "unauthorized: gateway token mismatch", details=details)
        asked = params["scopes"]
        assert isinstance(asked, list)
        return {
            "type": "hello-ok",
            "protocol": 4,
            "server": {"version": self.version, "connId": "c-1"},
            "features": {"methods": self._method_names(), "events": ["tick", "plugins.changed"]},
            "snapshot": {},
            "auth": {"method": "token", "role": "operator", "scopes": [one for one in asked if one in self.scopes]},
            "policy": {"maxPayload": 25 * MIB, "tickIntervalMs": 30000},
        }

    def ask(self, method: str, params: JsonObject) -> JsonObject:
        self.asked.append((method, params))
        self.news.set()
        known: dict[str, Method] = {
            "tools.effective": self._effective,
            "tools.catalog": lambda _params: self.catalog,
            "attach.grant": self._grant,
            "attach.revoke": self._revoke,
            "sessions.subscribe": lambda _params: {"subscribed": True},
            **self.methods,
        }
        if method not in known:
            raise Refuse("INVALID_REQUEST", f"unknown method: {method}")
        return known[method](params)

    def _method_names(self) -> list[str]:
        return ["health", "tools.catalog", "tools.effective", *(["attach.grant"] if self.loopback is not None else [])]

    def _effective(self, params: JsonObject) -> JsonObject:
        if not self.has_session:
            raise Refuse("INVALID_REQUEST", f'unknown session key "{params["sessionKey"]}"')
        return self.effective

    def _grant(self, _params: JsonObject) -> JsonObject:
        token = f"{GRANTED}-{len(self.asked_for('attach.grant'))}"
        self.valid_grants.add(token)
        headers = {"Authorization": "Bearer ${OPENCLAW_MCP_TOKEN}"}
        server = {"type": "http", "url": f"{self.url}/mcp", "alwaysLoad": True, "headers": headers}
        return {
            "sessionKey": "agent:main:main",
            "token": token,
            "expiresAtMs": int((time.time() + self.grant_seconds) * 1000),
            "mcpConfig": {"mcpServers": {"openclaw": server}},
            "env": {"OPENCLAW_MCP_TOKEN": token},
        }

    def _revoke(self, params: JsonObject) -> JsonObject:
        self.valid_grants.discard(str(params["token"]))
        return {"revoked": True}


class _Socket:
    """One WebSocket of the Gateway's, over the library's protocol without its network."""

    def __init__(self, gateway: FakeGateway, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._gateway = gateway
        self._reader = reader
        self._writer = writer
        self._protocol = ServerProtocol(max_size=None)

    async def run(self, head: bytes) -> None:
        self._protocol.receive_data(head)
        (request,) = self._protocol.events_received()
        assert isinstance(request, Request)
        self._protocol.send_response(self._protocol.accept(request))
        await self._flush()
        payload = {"nonce": "nonce-1", "ts": 1796026991565}
        await self.send(json.dumps({"type": "event", "event": "connect.challenge", "payload": payload}))
        self._gateway._sockets.append(self)
        try:
            while data := await self._reader.read(65536):
                self._protocol.receive_data(data)
                for event in self._protocol.events_received():
                    if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                        await self._take(json.loads(bytes(event.data)))
                await self._flush()
        finally:
            self._gateway._sockets.remove(self)

    async def send(self, text: str) -> None:
        self._protocol.send_text(text.encode())
        await self._flush()

    async def _take(self, frame: JsonObject) -> None:
        method, params = str(frame["method"]), frame["params"]
        assert isinstance(params, dict)
        answer: JsonObject
        try:
            payload = self._gateway.greet(params) if method == "connect" else self._gateway.ask(method, params)
            answer = {"ok": True, "payload": payload}
        except Refuse as refused:
            answer = {"ok": False, "error": refused.error}
        await self.send(json.dumps({"type": "res", "id": frame["id"], **answer}))

    async def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
        with suppress(ConnectionError):
            await self._writer.drain()


@asynccontextmanager
async def openclaw_gateway(**behaviour: object) -> AsyncIterator[FakeGateway]:
    """A Gateway for as long as the context lasts."""
    gateway = FakeGateway(**behaviour)  # type: ignore[arg-type]  # the fields of the class
    await gateway.start()
    try:
        yield gateway
    finally:
        await gateway.stop()
