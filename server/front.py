"""The front: owns standard input and output for life, and answers what it can before the SDK is imported.

A host waits for `initialize` and `tools/list` (or `server/discover`) before anything else, and importing the SDK costs over
a second of processor time. So the front answers these itself, from configuration and cache, and hands everything else to
the SDK's server behind two memory streams.

Laws
1. Nothing but JSON-RPC is written to standard output: the descriptors 0 and 1 are moved away before anything can print.
2. A request is answered once: by the front, by the SDK, or with `draining` when the process ends first.
3. The SDK sees the host's messages in order. `initialize` reaches it under an id of ours, and that answer is dropped.
4. Only requests that are plainly well-formed are answered here; the SDK judges all others.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from upstream_clients import JsonObject, NotAMessage, dump, parse

logger = logging.getLogger(__name__)

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION: Final = "2026-07-28"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

REPLAYED_ID: Final = "toolfold-front-initialize"
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
DRAINING: Final = -32000

WAITING_HIGH: Final = 256
"""Messages that may wait for the SDK before the front stops reading its input. Hosts send a few at a time."""

WAITING_LOW: Final = 64

_LATER: Final[JsonObject] = {}
"""Stands for an answer that will be given by `listing_known`. Compared by identity."""


class Pipe(Protocol):
    """The host's end of things, as the front needs it."""

    def write(self, line: bytes) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """What both the front and the SDK's server say of this server."""

    server_info: JsonObject
    instructions: str


class Front:
    """Sorts the host's messages. `listing` gives the result of `tools/list`, or None while it can't be known yet."""

    def __init__(self, identity: Identity, listing: Callable[[], JsonObject | None]) -> None:
        self._identity = identity
        self._listing = listing
        self._pipe: Pipe | None = None
        self._waiting: deque[JsonObject] = deque()
        self._wake = anyio.Event()
        self._paused = False
        self._open: dict[str | int, JsonObject] = {}
        self._deferred: list[JsonObject] = []
        self._handshaken = False
        self._lists_changed_wanted = False
        self.sdk_wanted = anyio.Event()
        self.host: JsonObject = {}

    def __repr__(self) -> str:
        return f"<Front {len(self._waiting)} waiting, {len(self._open)} open>"

    def connect(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def take_line(self, line: bytes | None) -> None:
        """One line of the host. None stands for a line over the limit, which was thrown away."""
        if line is None:
            self._refuse(None, INVALID_REQUEST, "the message is over the size limit (gateway.limits.lineBytes)")
            return
        try:
            message = parse(line)
        except NotAMessage as fault:
            self._refuse(None, PARSE_ERROR, f"not an acceptable message: {fault}")
            return
        answer = self._answer(message)
        if answer is None:
            self._forward(message)
        elif answer is not _LATER:
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    def listing_known(self) -> None:
        """Answers the `tools/list` requests that came before the cache was read."""
        deferred, self._deferred = self._deferred, []
        for message in deferred:
            answer = self._answer(message)
            if answer is not None and answer is not _LATER:
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    def listing_changed(self) -> None:
        """Tells a host of the handshake era that the published list is another one now."""
        if self._lists_changed_wanted:
            self._write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    async def next_for_sdk(self) -> JsonObject:
        """The host's next message that the SDK must see, in order."""
        while not self._waiting:
            self._wake = anyio.Event()
            await self._wake.wait()
        message = self._waiting.popleft()
        if self._paused and len(self._waiting) <= WAITING_LOW and self._pipe is not None:
            self._paused = False
            self._pipe.resume_reading()
        return message

    def from_sdk(self, message: JsonObject) -> None:
        """A message of the SDK for the host."""
        if "method" not in message:
            request_id = message.get("id")
            if request_id == REPLAYED_ID:
                return
            if isinstance(request_id, (str, int)):
                self._open.pop(request_id, None)
        self._write(message)

    def drain(self) -> None:
        """Answers whatever is still open, because the process ends."""
        for message in [*self._open.values(), *self._deferred]:
            self._refuse(message.get("id"), DRAINING, "draining: the gateway is shutting down; the call was given up")
        self._open.clear()
        self._deferred.clear()

    def _answer(self, message: JsonObject) -> JsonObject | None:
        """The answer to a request that the front knows, _LATER for a list that can't be known yet, else None."""
        params = message.get("params")
        if message.get("jsonrpc") != "2.0" or not isinstance(message.get("id"), (str, int)):
            return None
        if params is not None and not isinstance(params, dict):
            return None
        return self._answer_method(message, message.get("method"), params or {})

    def _answer_method(self, message: JsonObject, method: object, params: JsonObject) -> JsonObject | None:
        if method == "initialize":
            return self._initialize(message, params)
        modern = _is_modern(params)
        if modern and method == "server/discover":
            return self._discover()
        if method == "ping" and self._handshaken and not modern:
            return {}
        if method == "tools/list" and (modern or self._handshaken) and not params.get("cursor"):
            return self._list(message, modern)
        return None

    def _initialize(self, message: JsonObject, params: JsonObject) -> JsonObject | None:
        version, info = params.get("protocolVersion"), params.get("clientInfo")
        if self._handshaken or self._waiting or self._open or not isinstance(version, str):
            return None
        if not isinstance(params.get("capabilities"), dict) or not _is_implementation(info):
            return None
        assert isinstance(info, dict)
        self._handshaken = True
        self.host = {"name": info["name"], "version": info["version"]}
        self._waiting.append({**message, "id": REPLAYED_ID})
        return {
            "protocolVersion": version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": self._identity.server_info,
            "instructions": self._identity.instructions,
        }

    def _discover(self) -> JsonObject:
        return {
            "ttlMs": 0,
            "cacheScope": "private",
            "supportedVersions": [MODERN_VERSION],
            "capabilities": {"tools": {"listChanged": True}},
            "instructions": self._identity.instructions,
            "resultType": "complete",
            "_meta": {SERVER_KEY: self._identity.server_info},
        }

    def _list(self, message: JsonObject, modern: bool) -> JsonObject | None:
        self.sdk_wanted.set()
        listing = self._listing()
        if listing is None:
            self._deferred.append(message)
            return _LATER
        return modern_result(listing, self._identity.server_info) if modern else listing

    def _forward(self, message: JsonObject) -> None:
        request_id, method = message.get("id"), message.get("method")
        if "id" in message and method is not None and not isinstance(request_id, (str, int)):
            self._refuse(None, INVALID_REQUEST, "the id must be a string or an integer")
            return
        if isinstance(request_id, (str, int)) and isinstance(method, str):
            self._open[request_id] = message
            self.sdk_wanted.set()
        if method == "notifications/initialized":
            self._lists_changed_wanted = self._handshaken
        elif method == "notifications/cancelled":
            self._forget_cancelled(message.get("params"))
        self._waiting.append(message)
        self._wake.set()
        if len(self._waiting) > WAITING_HIGH and self._pipe is not None and not self._paused:
            self._paused = True
            self._pipe.pause_reading()

    def _forget_cancelled(self, params: object) -> None:
        """A cancelled request gets no answer, from anyone."""
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request_id, (str, int)):
            self._open.pop(request_id, None)

    def _refuse(self, request_id: object, code: int, message: str) -> None:
        self._write({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    def _write(self, message: JsonObject) -> None:
        if self._pipe is not None:
            self._pipe.write(dump(message))


def modern_result(result: Mapping[str, object], server_info: JsonObject) -> JsonObject:
    """A list result in the envelope of 2026-07-28."""
    return {
        "ttlMs": 0,
        "cacheScope": "private",
        **result,
        "resultType": "complete",
        "_meta": {SERVER_KEY: server_info},
    }


def _is_modern(params: JsonObject) -> bool:
    """A complete envelope of the modern era; a half-built one is the SDK's to judge."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or meta.get(VERSION_KEY) != MODERN_VERSION:
        return False
    client = meta.get("io.modelcontextprotocol/clientInfo")
    return isinstance(meta.get(CAPABILITIES_KEY), dict) and (client is None or _is_implementation(client))


def _is_implementation(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
