"""One upstream: the task that owns its connection for life, and the calls that others make through it.

The owner task starts the server, greets it, lists its tools, keeps the listing fresh, and starts again after a back-off
when the connection ends. Everyone else may only call `call`, `want` and read `status`.

Laws
1. Every connection is entered, used and left by the owner task.
2. A failure of this upstream ends here: it is recorded, and the next try waits longer, with jitter.
3. One call is one message. A call is never sent twice.
"""

import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import anyio

from upstream_clients.era import Greeter, Greeting, ListingLimits, list_tools
from upstream_clients.errors import UpstreamDown, UpstreamError, UpstreamTimeout
from upstream_clients.framing import JsonObject
from upstream_clients.peer import Patience, Peer, Progress
from upstream_clients.platform import Platform
from upstream_clients.process import ChildProcess, start_child
from upstream_clients.starting import Loss, Slot
from upstream_clients.status import State, UpstreamListing, UpstreamSpec, UpstreamStatus
from upstream_clients.watchdog import Watchdog

logger = logging.getLogger(__name__)

FIRST_BACKOFF_SECONDS: Final = 0.5
LONGEST_BACKOFF_SECONDS: Final = 60.0
HEALTHY_SECONDS: Final = 30.0
"""A connection that lived this long starts the back-off afresh."""

SLOT_SECONDS: Final = 5.0
"""A start works its processor for a few seconds; one still silent after this is waiting, and gives its slot to the next."""

RELIST_SPACING_SECONDS: Final = 1.0
"""`tools/list_changed` may come in storms; one listing a second, and one more after the last, is enough."""

RELISTEN_SECONDS: Final = 5.0

LAST_WORDS_CHARACTERS: Final = 4000
"""Two stack traces: what a person needs to see of a server that failed."""


OnListing: TypeAlias = Callable[[UpstreamListing], None]
OnStatus: TypeAlias = Callable[[UpstreamStatus], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all upstreams of one gateway share. The callables must not block."""

    platform: Platform
    watchdog: Watchdog
    greeter: Greeter
    slots: anyio.Semaphore
    on_listing: OnListing
    on_status: OnStatus
    listing_limits: ListingLimits = field(default_factory=ListingLimits)


@dataclass(frozen=True, slots=True)
class _Connection:
    peer: Peer
    greeting: Greeting


class Upstream:
    """One upstream server. `run` is its owner task."""

    def __init__(self, spec: UpstreamSpec, surroundings: Surroundings) -> None:
        self.spec = spec
        self._around = surroundings
        self._wanted = anyio.Event()
        if not spec.lazy:
            self._wanted.set()
        self._urgent = anyio.Event()
        self._settled = anyio.Event()
        self._dirty = anyio.Event()
        self._connection: _Connection | None = None
        self._known_era = spec.known_era
        self.status = UpstreamStatus(spec.owner, State.IDLE if spec.lazy else State.WAITING, time.time())

    def __repr__(self) -> str:
        return f"<Upstream {self.spec.owner} {self.status.state}>"

    def want(self) -> None:
        """Starts a lazy upstream; does nothing to one that is started."""
        self._wanted.set()

    async def settled(self) -> None:
        """Returns once the upstream is ready or its current try has failed."""
        self.want()
        await self._settled.wait()

    async def call(
        self, name: str, arguments: JsonObject, meta: Mapping[str, object], on_progress: Progress | None
    ) -> JsonObject:
        """Calls one tool and returns its result as it came. Waits for a start that is under way, never for a back-off.

        Raises:
            UpstreamError: it is down, it ended, it timed out or it refused; `ran` says whether there may be effects.
        """
        connection = await self._connected()
        params: JsonObject = {"name": name, "arguments": arguments}
        if meta:
            params["_meta"] = dict(meta)
        stamped = self._around.greeter.stamp(connection.greeting.era, params)
        return await connection.peer.request("tools/call", stamped, self.spec.patience, on_progress)

    async def run(self) -> None:
        """The owner task. Ends only by cancellation."""
        backoff = FIRST_BACKOFF_SECONDS
        try:
            while True:
                await self._wanted.wait()
                started = time.monotonic()
                error = await self._try()
                if time.monotonic() - started > HEALTHY_SECONDS:
                    backoff = FIRST_BACKOFF_SECONDS
                delay = backoff * random.uniform(0.7, 1.3)  # noqa: S311  (spreads restarts; nothing secret)
                self._fail(error, delay)
                await anyio.sleep(delay)
                backoff = min(backoff * 2, LONGEST_BACKOFF_SECONDS)
        finally:
            self._move(replace(self.status, state=State.STOPPED, pid=None, next_try=None))
            self._settled.set()

    async def _try(self) -> UpstreamError:
        """One connection, from start to end. Returns why it ended."""
        self._urgent = anyio.Event()
        if self._settled.is_set():  # whoever waits already waits for this very try
            self._settled = anyio.Event()
        self._move(replace(self.status, state=State.WAITING, next_try=None))
        try:
            await self._live()
        except UpstreamError as error:
            return error
        except Exception as error:  # law 2: whatever it was, it ends here
            logger.exception("upstream %s failed unexpectedly", self.spec.owner)
            return UpstreamError(f"unexpected {type(error).__name__}", hint="This is a fault of toolfold: see its log.")
        raise AssertionError("a connection ends with an error or a cancellation")

    async def _live(self) -> None:
        slot = Slot(self._around.slots)
        await slot.take(self._urgent)
        self._move(replace(self.status, state=State.STARTING, starts=self.status.starts + 1))
        lost = Loss()
        child: ChildProcess | None = None
        peer = Peer(lambda line: child.write(line) if child else None, self._notified)

        def ended(error: UpstreamError) -> None:
            peer.end(error)
            lost.set(error)

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(slot.give_back_after, SLOT_SECONDS)
                child = await start_child(
                    self.spec.launch, self._around.platform, self._around.watchdog, peer.receive, ended
                )
                await self._serve(peer, child.pid, slot, lost)
        except* UpstreamError as group:
            raise _with_last_words(_leaf(group), child) from None
        finally:
            slot.give_back()
            self._connection = None
            if child is not None:
                with anyio.CancelScope(shield=True):  # bounded by the child's CLOSE_SECONDS
                    await child.close()

    async def _serve(self, peer: Peer, pid: int, slot: Slot, lost: Loss) -> None:
        with anyio.move_on_after(self.spec.start_seconds) as starting:
            greeting = await self._around.greeter.greet(
                peer, self.spec.protocol, self._known_era, self.spec.start_seconds
            )
            tools = await self._list(peer, greeting)
        if starting.cancelled_caught:
            raise UpstreamTimeout(
                f"it was not ready within {self.spec.start_seconds:g} s",
                hint="Start it by hand to see why, or raise gateway.startup.timeoutMs.",
            )
        self._known_era = greeting.era
        slot.give_back()
        self._connection = _Connection(peer, greeting)
        self._publish(greeting, tools, pid)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_listing, peer, greeting, pid)
            if greeting.era == "modern":
                tasks.start_soon(self._listen, peer)
            await lost.wait()

    async def _list(self, peer: Peer, greeting: Greeting) -> tuple[JsonObject, ...]:
        self._dirty = anyio.Event()  # a change that comes from here on asks for another listing
        return await list_tools(peer, self._around.greeter, greeting.era, self._around.listing_limits)

    def _publish(self, greeting: Greeting, tools: tuple[JsonObject, ...], pid: int) -> None:
        self._around.on_listing(UpstreamListing(self.spec.owner, tools, greeting))
        self._move(
            replace(
                self.status,
                state=State.READY,
                error="",
                hint="",
                last_words="",
                down_since=None,
                tools=len(tools),
                pid=pid,
                protocol_version=greeting.protocol_version,
            )
        )
        self._settled.set()

    async def _keep_listing(self, peer: Peer, greeting: Greeting, pid: int) -> None:
        while True:
            await self._dirty.wait()
            try:
                self._publish(greeting, await self._list(peer, greeting), pid)
            except UpstreamError as error:
                logger.warning("upstream %s: its changed tool list could not be read (%s)", self.spec.owner, error.code)
            await anyio.sleep(RELIST_SPACING_SECONDS)

    async def _listen(self, peer: Peer) -> None:
        """Modern servers tell of changes only on a stream that the client holds open; nothing is replayed on it."""
        params = self._around.greeter.stamp("modern", {"notifications": {"toolsListChanged": True}})
        while True:
            with suppress(UpstreamError):
                await peer.request("subscriptions/listen", params, Patience(idle=math.inf))
            await anyio.sleep(RELISTEN_SECONDS)
            self._dirty.set()

    def _notified(self, method: str, _params: JsonObject) -> None:
        if method == "notifications/tools/list_changed":
            self._dirty.set()

    async def _connected(self) -> _Connection:
        if self._connection is None and self.status.state in (State.IDLE, State.WAITING, State.STARTING):
            self._urgent.set()
            with anyio.move_on_after(self.spec.start_seconds):
                await self.settled()
        if self._connection is None:
            raise self._down()
        return self._connection

    def _down(self) -> UpstreamDown:
        status = self.status
        if status.down_since is None:
            return UpstreamDown("it is still starting", hint="Try again in a few seconds.")
        now = time.time()
        retry = "" if status.next_try is None else f"; it is tried again in {max(0.0, status.next_try - now):.0f} s"
        return UpstreamDown(
            f"it has been down for {max(0.0, now - status.down_since):.0f} s: {status.error}{retry}",
            hint=status.hint or "Run `toolfold check` to see what it needs.",
        )

    def _fail(self, error: UpstreamError, delay: float) -> None:
        now = time.time()
        self._move(
            replace(
                self.status,
                state=State.DOWN,
                error=error.message,
                hint=error.hint,
                last_words=error.last_words,
                down_since=self.status.down_since or now,
                next_try=now + delay,
                pid=None,
            )
        )
        self._settled.set()

    def _move(self, status: UpstreamStatus) -> None:
        self.status = status if status.state == self.status.state else replace(status, since=time.time())
        self._around.on_status(self.status)


def _leaf(group: BaseExceptionGroup[UpstreamError]) -> UpstreamError:
    first = group.exceptions[0]
    return _leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _with_last_words(error: UpstreamError, child: ChildProcess | None) -> UpstreamError:
    """What a server printed before it failed is usually the reason."""
    error.last_words = child.stderr_tail()[-LAST_WORDS_CHARACTERS:] if child is not None else ""
    return error
