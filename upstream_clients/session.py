"""A conversation with a running server, from the greeting to the end: its first listing, a new one after each change.

Owns what is said and when. Knows nothing of processes, addresses, start slots or back-off.

Laws
1. Besides the requests of others it sends a greeting, one listing, and one more after changes that the server tells of.
   A gateway without our mark is listed by searching it (`shape.py`).
2. Listings never overlap, and are RELIST_SPACING_SECONDS apart.
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from upstream_clients.chain import PATH_META, Chaining, Road, call_params, marked_node
from upstream_clients.era import Era, Greeter, Greeting, Protocol, list_tools
from upstream_clients.errors import (
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
    first_error_alone,
)
from upstream_clients.framing import JsonObject
from upstream_clients.peer import METHOD_NOT_FOUND, Patience, Peer, Progress
from upstream_clients.shape import Shape, shape_of, tools_behind
from upstream_clients.starting import Loss

logger = logging.getLogger(__name__)

RELIST_SPACING_SECONDS: Final = 1.0
"""`tools/list_changed` may come in storms; one listing a second, and one more after the last, is enough."""

RELISTEN_SECONDS: Final = 5.0
"""After a stream of changes has ended or was cut, which may happen at any time."""

REFUSED_LISTEN_SECONDS: Final = 60.0
"""After a server has refused the stream, for example because it has too many."""

DESCRIBING_SHARE: Final = 0.5
"""Of the time for the greeting and the first listing: what a gateway of others is asked about its tools one by one."""

OnTools: TypeAlias = Callable[[Greeting, tuple[JsonObject, ...]], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to greet, and how long that and the first listing may take, and any page of a later one."""

    protocol: Protocol
    known_era: Era | None
    seconds: float
    chaining: Chaining


class Session:
    """One server's side and ours. `serve` is its task; `receive`, `fail` and `end` are for the transport (`Receiver`)."""

    def __init__(self, owner: str, greeter: Greeter, on_tools: OnTools) -> None:
        self._owner = owner
        self._greeter = greeter
        self._on_tools = on_tools
        self._transmit: Callable[[JsonObject], None] = _not_connected
        self._peer = Peer(self._send, self._notified)
        self._era: Era = "legacy"
        self._chaining = Chaining("")
        self._road: Road | None = None
        self._changed = anyio.Event()
        self._loss = Loss()

    def __repr__(self) -> str:
        return f"<Session with {self._owner}, {self._era}, {self._peer!r}>"

    def receive(self, message: JsonObject) -> None:
        self._peer.receive(message)

    def fail(self, request_id: int, error: UpstreamError) -> None:
        self._peer.fail(request_id, error)

    def end(self, error: UpstreamError) -> None:
        """The connection is over: open requests fail, later ones too, and so does `serve`."""
        self._peer.end(error)
        self._loss.set(error)

    @property
    def gateway(self) -> str:
        """The id of the gateway that the server is; empty if it is none."""
        return self._road.node if self._road else ""

    def call_params(self, name: str, arguments: JsonObject, meta: Mapping[str, object]) -> JsonObject:
        """The params of a call of one of its tools, or of one that it is a gateway to."""
        return call_params(self._road, self._chaining.node, name, arguments, meta)

    async def request(
        self, method: str, params: JsonObject, patience: Patience, on_progress: Progress | None = None
    ) -> JsonObject:
        """See `Peer.request`. The params are given what the server's era wants in them."""
        stamped = self._greeter.stamp(self._era, params)
        return await self._peer.request(method, stamped, patience, on_progress)

    async def serve(self, send: Callable[[JsonObject], None], wanted: Wanted) -> NoReturn:
        """Hands on the first listing, within the time given, and the later ones. Ends by cancellation or by an error.

        Raises:
            UpstreamError: the greeting or the first listing failed, or the connection is over.
        """
        self._transmit, self._chaining = send, wanted.chaining
        try:
            with first_error_alone():
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._loss.wait)
                    greeting = await self._open(tasks, wanted)
                    await self._keep_listing(greeting, wanted.seconds)
        finally:
            self.end(UpstreamGone("its connection was closed"))
        raise AssertionError("a session ends with an error or a cancellation")

    async def _open(self, tasks: TaskGroup, wanted: Wanted) -> Greeting:
        with anyio.move_on_after(wanted.seconds):
            greeting = await self._greeter.greet(self._peer, wanted.protocol, wanted.known_era, wanted.seconds)
            self._era = greeting.era
            self._road = self._marked_road(greeting)
            if greeting.era == "modern":
                tasks.start_soon(self._listen)
                await anyio.lowlevel.checkpoint()  # it asks before we list: no change falls in between
            self._on_tools(greeting, await self._list(greeting, wanted.seconds))
            return greeting
        raise UpstreamTimeout(
            f"it was not ready within {wanted.seconds:g} s",
            hint="Start it by hand to see why, or raise `startupTimeout` of its entry.",
        )

    async def _list(self, greeting: Greeting, page_seconds: float) -> tuple[JsonObject, ...]:
        self._changed = anyio.Event()  # a change that comes from here on asks for another listing
        is_marked = self._road is not None and self._road.node == marked_node(greeting)
        meta: JsonObject | None = {PATH_META: [self._chaining.node]} if is_marked else None
        tools = await list_tools(self._peer, self._greeter, greeting.era, page_seconds, meta)
        if is_marked or self._chaining.gateway is False:
            return tools
        shape = shape_of(tools)
        if shape is None:
            self._road = None
            return tools
        return await self._list_behind(shape, tools, page_seconds)

    def _marked_road(self, greeting: Greeting) -> Road | None:
        node = "" if self._chaining.gateway is False else marked_node(greeting)
        if node and node == self._chaining.node:
            raise UpstreamProtocolFault("it is this gateway itself", hint="Remove the entry, or mend its address.")
        return Road(node) if node else None

    async def _list_behind(self, shape: Shape, tools: tuple[JsonObject, ...], seconds: float) -> tuple[JsonObject, ...]:
        """The tools of a gateway without our mark: its own besides the three, and those behind it."""

        async def ask(tool: str, arguments: JsonObject) -> JsonObject:
            return await self.request("tools/call", {"name": tool, "arguments": arguments}, Patience(seconds))

        behind = await tools_behind(shape, ask, seconds * DESCRIBING_SHARE)
        if behind is None:
            logger.warning("upstream %s looks like a gateway, but its answers can't be read", self._owner)
            self._road = None
            return tools
        self._road = shape.road
        return (*(tool for tool in tools if tool.get("name") in shape.road.plain), *behind)

    async def _keep_listing(self, greeting: Greeting, page_seconds: float) -> None:
        while True:
            await self._changed.wait()
            try:
                self._on_tools(greeting, await self._list(greeting, page_seconds))
            except UpstreamError as error:
                logger.warning("upstream %s: its changed tool list could not be read (%s)", self._owner, error.code)
            await anyio.sleep(RELIST_SPACING_SECONDS)

    async def _listen(self) -> None:
        """Modern servers tell of changes only on a stream that the client holds open; nothing is replayed on it."""
        params: JsonObject = {"notifications": {"toolsListChanged": True}}
        if self._road is not None:  # what it publishes hardly changes; what is behind it does
            params["_meta"] = {PATH_META: [self._chaining.node]}
        while True:
            try:
                await self.request("subscriptions/listen", params, Patience(idle=math.inf))
            except UpstreamError as error:
                if isinstance(error, UpstreamRefused) and error.rpc_code == METHOD_NOT_FOUND:
                    return  # it never tells of changes
                await anyio.sleep(RELISTEN_SECONDS if isinstance(error, UpstreamGone) else REFUSED_LISTEN_SECONDS)
            else:
                await anyio.sleep(RELISTEN_SECONDS)
            self._changed.set()

    def _send(self, message: JsonObject) -> None:
        self._transmit(message)

    def _notified(self, method: str, _params: JsonObject) -> None:
        if method == "notifications/tools/list_changed":
            self._changed.set()


def _not_connected(_message: JsonObject) -> None:
    raise UpstreamGone("it is not connected")
