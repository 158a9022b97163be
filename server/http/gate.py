"""The door: what every HTTP request passes before the protocol sees it, as one small ASGI application.

Laws
1. The Host must be one of ours and the Origin, where there is one, too: whatever the address that is listened on.
2. Where tokens are known, nothing of the protocol is reached without one.
3. The log says who asked for what and how it went; never a header, a query or a body.
4. Requests under way are counted, so that the end can wait for them. Streams that only listen do not count.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel

from server.http.address import LOOPBACK_NAMES
from server.http.tokens import Bearer, Tokens
from upstream_clients import JsonObject

logger = logging.getLogger(__name__)

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Behind: TypeAlias = Callable[[Bearer | None, Scope, Receive, Send], Awaitable[None]]
"""What lies behind the door: an ASGI application that is told who came in."""

MCP_PATH: Final = "/mcp"
LISTENING_METHOD: Final = "subscriptions/listen"
"""The modern era's request that lasts as long as its host. The SDK refuses it when header and body differ."""


HUNG_UP: Final = 499
"""What the log says of a client that went before it had sent all; nobody is sent it. It is nginx's number for that."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may come in: the names under which we are reached, and the tokens."""

    hosts: frozenset[str]
    tokens: Tokens

    @classmethod
    def build(cls, own: Iterable[str], allowed: Iterable[str], tokens: Tokens) -> "Rules":
        return cls(frozenset(name.lower() for name in (*LOOPBACK_NAMES, *own, *allowed)), tokens)


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    code: str
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


UNAUTHORISED: Final = _Refusal(
    401, "unauthorised", "A bearer token is needed.", ((b"www-authenticate", b'Bearer realm="toolfold"'),)
)
NOT_READY: Final = _Refusal(503, "not_ready", "It is starting or ending.", ((b"retry-after", b"1"),))
NOT_FOUND: Final = _Refusal(404, "not_found", f"There is nothing here. MCP is at {MCP_PATH}.")


class Gate:
    """Lets requests through to what is behind it. `readiness` is None until there is a gateway to ask."""

    def __init__(self, rules: Rules, readiness: Callable[[], JsonObject | None]) -> None:
        self.rules = rules
        self._readiness = readiness
        self._behind: Behind | None = None
        self._under_way = 0
        self._requests: set[anyio.CancelScope] = set()
        self._idle = anyio.Event()

    def __repr__(self) -> str:
        return f"<Gate {'open' if self._behind else 'closed'}, {self._under_way} under way>"

    def open(self, behind: Behind) -> None:
        self._behind = behind

    def close(self) -> None:
        """No request passes from now on; those under way go on."""
        self._behind = None

    def cut(self) -> None:
        """Ends every request that is left, streams among them, as if it had come to its end."""
        for request in list(self._requests):
            request.cancel()

    async def idle(self) -> None:
        """Returns once no request is under way."""
        while self._under_way:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, caller, answer = time.monotonic(), None, _Answer(send)
        headers = _headers(scope)
        request = anyio.CancelScope()
        body = _Body(receive, request)
        counts = scope["method"] == "POST" and headers.get("mcp-method") != LISTENING_METHOD
        self._under_way += counts
        try:
            caller = self.rules.tokens.caller(headers.get("authorization", ""))
            with request:
                self._requests.add(request)
                await self._answer(caller, headers, scope, body.receive, answer.send)
            if body.is_broken_off:
                answer.status = HUNG_UP
            elif request.cancelled_caught:
                await answer.complete()
        finally:
            self._requests.discard(request)
            self._under_way -= counts
            if not self._under_way:
                self._idle.set()
            _log(scope, answer.status, time.monotonic() - began, caller)

    async def _answer(
        self, caller: Bearer | None, headers: dict[str, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        path = scope["path"]
        refusal = self._misdirected(headers)
        if refusal is None and path in ("/healthz", "/readyz"):
            await self._health(path, send)
            return
        behind = self._behind
        if refusal is None and self.rules.tokens and caller is None:
            refusal = UNAUTHORISED
        if refusal is None and path.rstrip("/") != MCP_PATH:
            refusal = NOT_FOUND
        if refusal is None and behind is None:
            refusal = NOT_READY
        if refusal is not None or behind is None:
            await _refuse(refusal or NOT_READY, send)
            return
        await behind(caller, scope, receive, send)

    def _misdirected(self, headers: dict[str, str]) -> _Refusal | None:
        """A page that a name of its own leads to us (DNS rebinding) gives itself away by its Host or its Origin."""
        if _host_name(f"//{headers.get('host', '')}") not in self.rules.hosts:
            fix = "Give serve --allow-host NAME, or write it under gateway.http.allowHosts."
            return _Refusal(421, "wrong_host", f"This Host is not served here. {fix}")
        origin = headers.get("origin")
        if origin is not None and _host_name(origin) not in self.rules.hosts:
            return _Refusal(403, "wrong_origin", "This Origin may not ask here.")
        return None

    async def _health(self, path: str, send: Send) -> None:
        if path == "/healthz":
            await _send_json(200, {"status": "ok"}, send)
            return
        readiness = self._readiness() if self._behind is not None else None
        if readiness is None:
            await _send_json(503, {"ready": False}, send, NOT_READY.headers)
        else:
            await _send_json(200, {"ready": True, **readiness}, send)


class _Body:
    """Passes a request's body on. One that its client breaks off ends the request: to the SDK that is an error of ours."""

    def __init__(self, receive: Receive, request: anyio.CancelScope) -> None:
        self._receive = receive
        self._request = request
        self._is_whole = False
        self.is_broken_off = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self._is_whole:
            self.is_broken_off = True
            self._request.cancel()
            await anyio.lowlevel.checkpoint()
        self._is_whole = self._is_whole or not message.get("more_body", False)
        return message


class _Answer:
    """Passes an answer on, and knows how far it has come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_complete = False
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
        elif message["type"] == "http.response.body":
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def complete(self) -> None:
        if not self.status:
            await _refuse(NOT_READY, self.send)
        elif not self._is_complete:
            await self.send({"type": "http.response.body", "body": b""})


def _headers(scope: Scope) -> dict[str, str]:
    """By their names in small letters. A header given twice is joined, and then is no name and no token of ours."""
    joined: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _host_name(url: str) -> str | None:
    """The name alone: which port a page or a forwarder uses says nothing about who it is."""
    try:
        parts = urlsplit(url)
        return None if parts.username is not None or parts.path.strip("/") else parts.hostname
    except ValueError:
        return None


async def _refuse(refusal: _Refusal, send: Send) -> None:
    error = {"code": refusal.code, "message": refusal.message}
    await _send_json(refusal.status, {"error": error}, send, refusal.headers)


async def _send_json(
    status: int, document: JsonObject, send: Send, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = json.dumps(document).encode()
    kind = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *headers]})
    await send({"type": "http.response.body", "body": body})


def _log(scope: Scope, status: int, seconds: float, caller: Bearer | None) -> None:
    path = scope["path"] if scope["path"] in (MCP_PATH, "/healthz", "/readyz") else "(elsewhere)"
    client = (scope.get("client") or ("?",))[0]
    name = caller.name if caller else "-"
    logger.info("%s %s %s %s %d %.0f ms", client, name, scope["method"], path, status, seconds * 1000)
