"""A conversation with a running server, from the greeting to the end: its first listing, a new one after each change.

Owns what is said and when. Knows nothing of processes, addresses, start slots or back-off.

Laws
1. Besides the requests of others it sends a greeting, one listing, and one more after changes that the server tells of.
2. Listings never overlap, and are RELIST_SPACING_SECONDS apart.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from upstream_clients.era import Era, Greeter, Greeting, Protocol, list_tools
from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamRefused, UpstreamTimeout, first_error_alone
from upstream_clients.framing import JsonObject
from upstream_clients.peer import METHOD_NOT_FOUND, Patience, Peer, Progress
from upstream_clients.starting import Loss

logger = logging.getLogger(__name__)

RELIST_SPACING_SECONDS: Final = 1.0
"""`tools/list_changed` may come in storms; one listing a second, and one more after the last, is enough."""

RELISTEN_SECONDS: Final = 5.0
"""After a stream of changes has ended or was cut, which may happen at any time."""

REFUSED_LISTEN_SECONDS: Final = 60.0
"""After a server has refused the stream, for example because it has too many."""

OnTools: TypeAlias = Callable[[Greeting, tuple[JsonObject, ...]], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to greet, and how long that and the first listing may take, and any page of a later one."""

    protocol: Protocol
    known_era: Era | None
    seconds: float


class Session:
    """One server's side and ours. `serve` is its task; `receive`, `fail` and `end` are for the transport (`Receiver`)."""

    def __init__(self, owner: str, greeter: Greeter, on_tools: OnTools) -> None:
        self._owner = owner
        self._greeter = greeter
        self._on_tools = on_tools
        self._transmit: Callable[[JsonObject], None] = _not_connected
        self._peer = Peer(self._send, self._notified)
        self._era: Era = "legacy"
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
        self._transmit = send
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
            if greeting.era == "modern":
                tasks.start_soon(self._listen)
                await anyio.lowlevel.checkpoint()  # it asks before we list: no change falls in between
            self._on_tools(greeting, await self._list(greeting, wanted.seconds))
            return greeting
        raise UpstreamTimeout(
            f"it was not ready within {wanted.seconds:g} s",
            hint="Start it by hand to see why, or raise gateway.startup.timeoutMs.",
        )

    async def _list(self, greeting: Greeting, page_seconds: float) -> tuple[JsonObject, ...]:
        self._changed = anyio.Event()  # a change that comes from here on asks for another listing
        return await list_tools(self._peer, self._greeter, greeting.era, page_seconds)

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
