"""The front: owns standard input and output for life, and answers what it can before the SDK is imported.

A host waits for `initialize` and `tools/list` (or `server/discover`) before anything else, and importing the SDK costs over
a second of processor time. So the front answers these itself, from configuration and cache, and hands everything else to
the SDK's server, which reads from and writes to it as if it were a pair of streams.

Laws
1. Nothing but JSON-RPC is written to standard output: the descriptors 0 and 1 are moved away before anything can print.
2. A request is answered once: by the front, by the SDK, or with `draining` when the process ends first.
3. The SDK sees the host's messages in order. `initialize` reaches it under an id of ours, and that answer is dropped.
4. Only requests that are plainly well-formed are answered here; the SDK judges all others. What it has refused for the
   era of the connection, or would refuse, is never granted here.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import anyio

from server.eras import CLIENT_KEY, Era, discovery, era_of, greeting, is_implementation, modern_result, opened_era
from server.identity import Identity
from server.refused_lines import request_id
from upstream_clients import JsonObject, NotAMessage, dump, parse, path_in

logger = logging.getLogger(__name__)

REPLAYED_ID: Final = "toolfold-front-initialize"
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
DRAINING: Final = -32000
DRAINING_WORDS: Final = "draining: the gateway is shutting down; the call was given up"

WAITING_HIGH: Final = 256
"""Messages that may wait for the SDK before the front stops reading its input. Hosts send a few at a time."""

WAITING_LOW: Final = 64

_LATER: Final[JsonObject] = {}
"""Stands for an answer that will be given by `catalogue_known`. Compared by identity."""


class Pipe(Protocol):
    """The host's end of things, as the front needs it."""

    def write(self, line: bytes) -> None: ...
    async def drained(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Front:
    """Sorts the host's messages. `listing` gives the result of `tools/list`; it and `identity` are None while they can't be
    known yet.
    """

    def __init__(self, identity: Identity | None, listing: Callable[[], JsonObject | None]) -> None:
        self._identity = identity
        self._listing = listing
        self._pipe: Pipe | None = None
        self._waiting: deque[JsonObject] = deque()
        self._wake: asyncio.Future[None] | None = None  # no event: that saves thirty function calls in every call
        self._paused = False
        self._open: dict[object, JsonObject] = {}
        self._deferred: list[tuple[JsonObject, Callable[[], JsonObject]]] = []
        self._era: Era | None = None
        self._handshaken = False
        self._lists_changed_wanted = False
        self._host_is_gateway = False
        self.sdk_wanted = anyio.Event()
        self.host: JsonObject = {}

    def __repr__(self) -> str:
        return f"<Front {len(self._waiting)} waiting, {len(self._open)} open>"

    def adopt(self, identity: Identity | None) -> None:
        """What a host that comes later is told."""
        self._identity = identity

    def connect(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def take_line(self, line: bytes | None) -> None:
        """One line of the host. None stands for a line over the limit, which was thrown away."""
        if line is None:
            self.refuse(None, INVALID_REQUEST, "the message is over the size limit (gateway.limits.lineBytes)")
            return
        try:
            message = parse(line, clamps=True)
        except NotAMessage as fault:
            asked = request_id(line)
            is_open = asked is not None and asked in self._open  # then that one is answered yet
            self.refuse(None if is_open else asked, PARSE_ERROR, f"not an acceptable message: {fault}")
            return
        answer = self._answer(message)
        if answer is None:
            self._forward(message)
        elif answer is not _LATER:
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    def catalogue_known(self) -> None:
        """Answers the requests whose answers had to wait until the cache was read."""
        deferred, self._deferred = self._deferred, []
        for message, answer in deferred:
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": answer()})

    def listing_changed(self, *, published: bool) -> None:
        """Tells a host of the handshake era of another list: the published one, or what a gateway was shown instead."""
        if self._lists_changed_wanted and (published or self._host_is_gateway):
            self._write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    async def next_for_sdk(self) -> JsonObject:
        """The host's next message that the SDK must see, in order."""
        while not self._waiting:
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
        message = self._waiting.popleft()
        if self._paused and len(self._waiting) <= WAITING_LOW and self._pipe is not None:
            self._paused = False
            self._pipe.resume_reading()
        return message

    def _rouse(self) -> None:
        """There is something for the SDK to see."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def from_sdk(self, message: JsonObject) -> None:
        """A message of the SDK for the host. An answer that nobody waits for is dropped."""
        if "method" not in message and message.get("id") is not None:
            asked = self._open.pop(message["id"], None)
            if asked is None:
                return
            if asked["method"] == "initialize" and "result" in message:
                self._handshaken = True
        self._write(message)

    async def drained(self) -> None:
        """Returns once the host has room for more answers."""
        if self._pipe is not None:
            await self._pipe.drained()

    def refuse(self, request_id: object, code: int, message: str) -> None:
        """Answers a request, or something that was meant as one, with an error."""
        if isinstance(request_id, (str, int)):
            self._open.pop(request_id, None)
        self._write(_error(request_id, code, message))

    def drain(self) -> None:
        """Answers whatever is still open, because the process ends."""
        unanswered = [*self._open.values(), *(message for message, _answer in self._deferred)]
        self._deferred.clear()
        for message in unanswered:
            self.refuse(message.get("id"), DRAINING, DRAINING_WORDS)
        self._open.clear()

    def _answer(self, message: JsonObject) -> JsonObject | None:
        """The answer to a request that the front knows, _LATER for a list that can't be known yet, else None."""
        params = message.get("params")
        if message.get("jsonrpc") != "2.0" or not _is_id(message.get("id")):
            return None
        if params is not None and not isinstance(params, dict):
            return None
        return self._answer_method(message, message.get("method"), params or {})

    def _answer_method(self, message: JsonObject, method: object, params: JsonObject) -> JsonObject | None:
        if method == "initialize":
            return self._initialize(message, params)
        era = era_of(params)
        if era is None or self._era not in (None, era):
            return None
        if era == "modern":
            self._note_host(params["_meta"])
        if era == "modern" and method == "server/discover":
            return self._later(message, self._discover, is_known=self._identity is not None)
        if era == "legacy" and not self._handshaken:
            return None
        if era == "legacy" and method == "ping":
            return {}
        if method == "tools/list" and not params.get("cursor"):
            return None if self._is_of_gateway(params) else self._list(message, era)
        return None

    def _is_of_gateway(self, params: JsonObject) -> bool:
        """Whether another gateway asks, which is shown what is behind this one. The SDK's server hands that on."""
        is_gateway = path_in(params.get("_meta")) is not None
        self._host_is_gateway = self._host_is_gateway or is_gateway
        return is_gateway

    def _initialize(self, message: JsonObject, params: JsonObject) -> JsonObject | None:
        version, info = params.get("protocolVersion"), params.get("clientInfo")
        if self._era is not None or not isinstance(version, str):
            return None
        if not isinstance(params.get("capabilities"), dict) or not is_implementation(info):
            return None
        assert isinstance(info, dict)
        self._era, self._handshaken = "legacy", True
        self.host = {"name": info["name"], "version": info["version"]}
        # Only what was judged here: a flaw anywhere else would leave the SDK without the handshake that the host has.
        asks = _asks(params["capabilities"])
        known: JsonObject = {"protocolVersion": version, "capabilities": asks, "clientInfo": self.host}
        self._waiting.append({"jsonrpc": "2.0", "id": REPLAYED_ID, "method": "initialize", "params": known})
        self._rouse()
        return self._later(message, partial(self._greeting, version), is_known=self._identity is not None)

    def _greeting(self, version: str) -> JsonObject:
        assert self._identity is not None
        return greeting(self._identity, version)

    def _note_host(self, meta: object) -> None:
        client = meta.get(CLIENT_KEY) if isinstance(meta, dict) else None
        if isinstance(client, dict):
            self.host = {"name": client["name"], "version": client["version"]}

    def _discover(self) -> JsonObject:
        assert self._identity is not None
        return discovery(self._identity)

    def _list(self, message: JsonObject, era: Era) -> JsonObject:
        self.sdk_wanted.set()
        return self._later(message, partial(self._listed, era), is_known=self._listing() is not None)

    def _later(self, message: JsonObject, answer: Callable[[], JsonObject], *, is_known: bool) -> JsonObject:
        """The answer, at once or by `catalogue_known`."""
        if is_known:
            return answer()
        self._deferred.append((message, answer))
        return _LATER

    def _listed(self, era: Era) -> JsonObject:
        listing = self._listing()
        assert listing is not None
        assert self._identity is not None
        return modern_result(listing, self._identity.server_info) if era == "modern" else listing

    def _forward(self, message: JsonObject) -> None:
        request_id, method = message.get("id"), message.get("method")
        unfit = _unfit(message)
        if unfit:  # not by `refuse`: another request of this id may be open
            self._write(_error(request_id, INVALID_REQUEST, unfit))
            return
        if isinstance(request_id, (str, int)) and isinstance(method, str):
            if request_id in self._open:
                self._write(_error(request_id, INVALID_REQUEST, "a request of this id is still open"))
                return
            self._open[request_id] = message
            self._era = self._era or opened_era(method, message.get("params"))
            self.sdk_wanted.set()
        if method == "notifications/initialized":
            self._lists_changed_wanted = self._handshaken
        elif method == "notifications/cancelled":
            self._forget_cancelled(message.get("params"))
        self._waiting.append(message)
        self._rouse()
        if len(self._waiting) > WAITING_HIGH and self._pipe is not None and not self._paused:
            self._paused = True
            self._pipe.pause_reading()

    def _forget_cancelled(self, params: object) -> None:
        """A cancelled request gets no answer, from anyone."""
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request_id, (str, int)):
            self._open.pop(request_id, None)

    def _write(self, message: JsonObject) -> None:
        if self._pipe is not None:
            self._pipe.write(dump(message))


def _asks(capabilities: object) -> JsonObject:
    """Of what a host can do, the one thing that we make use of: to ask its person, by a form."""
    asks = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return {"elicitation": {"form": {}}} if isinstance(asks, dict) and ("form" in asks or "url" not in asks) else {}


def _error(request_id: object, code: int, message: str) -> JsonObject:
    """For a request of this id; what is no id is not repeated."""
    known = request_id if _is_id(request_id) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}


def _unfit(message: JsonObject) -> str:
    """Why nothing could come of this request; empty if it is one, or none at all."""
    if "id" not in message or message.get("method") is None:
        return ""
    if not _is_id(message["id"]):
        return "the id must be a string or an integer"
    if "result" in message or "error" in message:  # the SDK would take it for an answer, which nobody answers
        return "a message is a request or an answer, not both"
    return ""


def _is_id(value: object) -> bool:
    return type(value) in (str, int)  # a boolean is an integer to Python and none to JSON-RPC
