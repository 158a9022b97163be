"""One upstream: the task that owns its connection for life, and the calls that others make through it.

The owner task opens the connection, has a session over it, and opens another after a back-off when it ends.
Everyone else may only call `call`, `want`, `hurry`, `settled` and `adopt`, and read `status`.

Laws
1. Every connection is entered, used and left by the owner task.
2. A failure of this upstream ends here: it is recorded, and the next try waits longer, with jitter.
3. One call is one message. It is sent once more only if its server has proved, by not knowing our session, that it did
   not run; the next session is then opened without a back-off.
4. An upstream that nobody uses may be put to sleep. A call under way is use; a call that comes while it is being stopped
   starts it again and waits for that.
"""

import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NoReturn, TypeAlias

import anyio

from upstream_clients.chain import Chaining
from upstream_clients.connection import Opener
from upstream_clients.era import Greeter, Greeting
from upstream_clients.errors import (
    Dismissed,
    SessionEnded,
    UpstreamError,
    UpstreamGone,
    UpstreamRefused,
    UpstreamTimeout,
    first_error_alone,
)
from upstream_clients.framing import JsonObject
from upstream_clients.peer import Patience, Progress
from upstream_clients.process import Launch
from upstream_clients.session import Session, Wanted
from upstream_clients.starting import Slot, Use
from upstream_clients.status import State, UpstreamListing, UpstreamSpec, UpstreamStatus

logger = logging.getLogger(__name__)

FIRST_BACKOFF_SECONDS: Final = 0.5
BACKOFF_FACTOR: Final = 3
"""Whatever the jitter, one that ends at every start is then started six times in its first minute at the most."""

LONGEST_BACKOFF_SECONDS: Final = 60.0
HEALTHY_SECONDS: Final = 30.0
"""A connection that lived this long starts the back-off afresh."""

SLOT_SECONDS: Final = 5.0
"""A start works its processor for a few seconds; one still silent after this is waiting, and gives its slot to the next."""

RENEWAL_SPACING_SECONDS: Final = 5.0
"""A session that its server forgets sooner after another was renewed is a failure like any other."""

STARTABLE: Final = frozenset({State.IDLE, State.ASLEEP, State.WAITING, State.STARTING})
"""The states in which a call waits for a start that is under way, or that it brings about."""

OnListing: TypeAlias = Callable[[UpstreamListing], None]
OnStatus: TypeAlias = Callable[[UpstreamStatus], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all upstreams of one gateway share. The callables must not block."""

    opener: Opener
    greeter: Greeter
    slots: anyio.Semaphore
    node: str
    on_listing: OnListing
    on_status: OnStatus


class Upstream:
    """One upstream server. `run` is its owner task."""

    def __init__(self, spec: UpstreamSpec, surroundings: Surroundings) -> None:
        self.spec = spec
        self._around = surroundings
        self._use = Use()
        self._wanted = anyio.Event()
        if not spec.lazy:
            self._wanted.set()
        self._urgent = anyio.Event()
        self._settled = anyio.Event()
        self._parted = anyio.Event()
        self._session: Session | None = None  # only while calls may go through it
        self._ready_at: float | None = None
        self._renewed_at = -math.inf
        self._known_era = spec.known_era
        self.status = UpstreamStatus(spec.owner, State.IDLE if spec.lazy else State.WAITING, time.time())

    def __repr__(self) -> str:
        return f"<Upstream {self.spec.owner} {self.status.state}>"

    def adopt(self, spec: UpstreamSpec) -> None:
        """Another spec, with which it would be started in the same way."""
        self.spec = spec
        if not spec.lazy and self.status.state is State.IDLE:
            self.want()
        self._use.look_again()

    def want(self) -> None:
        """Starts a lazy upstream, or one that sleeps; does nothing to one that is started."""
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
        patience = self.spec.patience
        began = time.monotonic()  # what the event loop counts by, too; each step here is one of every call
        self._use.calls += 1
        try:
            session = await self._connected()
            try:
                params = session.call_params(name, arguments, meta)
                return await session.request("tools/call", params, patience, on_progress)
            except SessionEnded as ended:
                if ended.ran:
                    raise
            await self._parting(session)
            session = await self._connected()
            left = Patience(patience.idle, patience.total - (time.monotonic() - began))
            params = session.call_params(name, arguments, meta)
            return await session.request("tools/call", params, left, on_progress)
        finally:
            self._use.calls -= 1
            self._use.ended_at = time.monotonic()

    async def answers(self, patience: Patience) -> bool:
        """Whether it answers a ping. If not, its connection is ended, and it starts again like one that has failed.

        Raises:
            UpstreamError: it has no connection.
        """
        session = await self._connected()
        try:
            await session.request("ping", {}, patience)
        except UpstreamRefused:  # a server of the newer era does not know the word, and has answered
            return True
        except UpstreamTimeout:
            session.end(UpstreamGone("it answers neither calls nor a ping"))
            return False
        return True

    async def run(self) -> None:
        """The owner task. Ends only by cancellation."""
        backoff = FIRST_BACKOFF_SECONDS
        try:
            while True:
                await self._wanted.wait()
                error = await self._try()
                if self.status.state is State.ASLEEP:  # whatever else ended it: it was to end
                    backoff = FIRST_BACKOFF_SECONDS
                    self._part()
                    continue
                if isinstance(error, SessionEnded) and self._may_renew():
                    self._await()
                    self._part()
                    continue
                if self._ready_at is not None and time.monotonic() - self._ready_at > HEALTHY_SECONDS:
                    backoff = FIRST_BACKOFF_SECONDS
                delay = backoff * random.uniform(0.7, 1.3)  # noqa: S311  (spreads restarts; nothing secret)
                self._move(self.status.failed(error, time.time(), delay))
                self._settled.set()
                self._part()
                await anyio.sleep(delay)
                backoff = min(backoff * BACKOFF_FACTOR, LONGEST_BACKOFF_SECONDS)
        finally:
            self._move(replace(self.status, state=State.STOPPED, pid=None, next_try=None))
            self._settled.set()
            self._part()

    async def _try(self) -> UpstreamError:
        """One connection, from start to end. Returns why it ended."""
        self._ready_at = None
        self._await()
        try:
            await self._live()
        except UpstreamError as error:
            return error
        except Exception as error:  # law 2: whatever it was, it ends here
            logger.exception("upstream %s failed unexpectedly", self.spec.owner)
            return UpstreamError(f"unexpected {type(error).__name__}", hint="This is a fault of toolfold: see its log.")

    async def _live(self) -> NoReturn:
        """From the wait for a start slot to the end of the connection, which it raises."""
        around, spec, slot = self._around, self.spec, Slot(self._around.slots)

        def listed(greeting: Greeting, tools: tuple[JsonObject, ...]) -> None:
            slot.give_back()
            self._ready(session, greeting, tools)

        session = Session(spec.owner, around.greeter, listed)
        try:
            if isinstance(spec.target, Launch):  # starting a program is work for the processor, connecting is none
                await slot.take(self._urgent)
            self._urgent = anyio.Event()
            self._move(replace(self.status, state=State.STARTING, starts=self.status.starts + 1))
            with first_error_alone():
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(slot.give_back_after, SLOT_SECONDS)
                    async with await around.opener.opening(spec.target, session) as connection:
                        self._move(replace(self.status, pid=connection.pid))
                        tasks.start_soon(self._dismiss_when_idle)
                        chaining = Chaining(around.node, spec.gateway)
                        wanted = Wanted(spec.protocol, self._known_era, spec.start_seconds, chaining)
                        await session.serve(connection.send, wanted)
        finally:
            slot.give_back()
            self._session = None
        raise AssertionError("a connection ends with an error or a cancellation")

    def _ready(self, session: Session, greeting: Greeting, tools: tuple[JsonObject, ...]) -> None:
        """There is a listing: the first one, or one after a change. One that comes when all is over is left."""
        if self.status.state is State.ASLEEP:
            return
        self._session, self._known_era = session, greeting.era
        if self._ready_at is None:
            self._ready_at = self._use.ended_at = time.monotonic()
            self._use.look_again()
        self._around.on_listing(UpstreamListing(self.spec.owner, tools, greeting, session.gateway))
        self._move(self.status.ready(len(tools), greeting.protocol_version))
        self._settled.set()

    async def hurry(self) -> None:
        """Waits for a start that is under way or that this brings about, ahead of the others'; never for a back-off."""
        if self._session is None and self.status.state in STARTABLE:
            self._urgent.set()
            with anyio.move_on_after(self.spec.start_seconds):
                await self.settled()

    async def _connected(self) -> Session:
        if self._session is None:
            await self.hurry()
        if self._session is None:
            raise self.status.refusal(time.time())
        return self._session

    async def _dismiss_when_idle(self) -> None:
        """Ends the connection once nobody has used it for as long as its spec says. From then on calls start it anew."""
        await self._use.over(lambda: math.inf if self._session is None else self.spec.idle_stop_seconds or math.inf)
        self._session, self._wanted, self._settled = None, anyio.Event(), anyio.Event()
        self._move(replace(self.status, state=State.ASLEEP, pid=None))
        raise Dismissed("nobody has used it for a while")

    def _may_renew(self) -> bool:
        """Whether another session is opened at once, after one that calls went through."""
        now = time.monotonic()
        if self._ready_at is None or now - self._renewed_at < RENEWAL_SPACING_SECONDS:
            return False
        self._renewed_at = now
        return True

    async def _parting(self, session: Session) -> None:
        """Returns once this session is not the one that calls go through, within the time that a start may take."""
        with anyio.move_on_after(self.spec.start_seconds):
            while self._session is session:
                await self._parted.wait()

    def _await(self) -> None:
        """Another try begins: whoever needs this upstream waits for it."""
        if self._settled.is_set():  # whoever waits already waits for this very try
            self._settled = anyio.Event()
        self._move(replace(self.status, state=State.WAITING, next_try=None))

    def _part(self) -> None:
        """The last session is over and what follows it is known."""
        self._parted.set()
        self._parted = anyio.Event()

    def _move(self, status: UpstreamStatus) -> None:
        self.status = status if status.state == self.status.state else replace(status, since=time.time())
        self._around.on_status(self.status)
