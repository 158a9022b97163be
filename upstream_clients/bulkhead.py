"""How many calls one upstream, and all together, may have at a time. Knows no upstream and no call.

Laws
1. A call is taken, or refused at once: nothing waits outside of the bounds.
2. Those that wait take their turn in the order in which they came. One that gives up leaves its turn to the next.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import anyio

from upstream_clients.errors import UpstreamOverloaded

IN_FLIGHT: Final = 8
"""Calls that one upstream works on. Servers over a pipe seldom do more than one thing at a time."""

QUEUED: Final = 32
"""Calls that wait for one upstream: four rounds. A model that has more under way has lost count."""

IN_ALL: Final = 128
"""Calls of all upstreams, waiting ones included: sixteen busy upstreams."""


@dataclass(slots=True)
class Total:
    """The calls of all upstreams of one gateway, and how many there may be."""

    limit: int = IN_ALL
    calls: int = 0


class Bulkhead:
    """The places of one upstream. Whoever has entered must leave."""

    def __init__(self, total: Total, in_flight: int = IN_FLIGHT, queued: int = QUEUED) -> None:
        self._total = total
        self._in_flight = in_flight
        self._queued = queued
        self._busy = 0
        self._waiting: deque[anyio.Event] = deque()
        self._empty: anyio.Event | None = None  # there once somebody waits for it

    def __repr__(self) -> str:
        return f"<Bulkhead {self._busy} of {self._in_flight} busy, {len(self._waiting)} waiting>"

    async def enter(self) -> None:
        """Returns when it is this call's turn.

        Raises:
            UpstreamOverloaded: there are too many calls already.
        """
        total = self._total
        if total.calls >= total.limit:
            raise UpstreamOverloaded(
                f"{total.limit} calls are under way in all", hint="Wait until some of them have answered."
            )
        if self._busy < self._in_flight:
            total.calls += 1
            self._busy += 1
            return
        if len(self._waiting) >= self._queued:
            waiting = f"{self._busy} calls are under way and {self._queued} wait for it"
            raise UpstreamOverloaded(waiting, hint="Wait until some of them have answered.")
        total.calls += 1
        await self._turn()

    def leave(self) -> None:
        """The call is over: its place is the next one's."""
        self._total.calls -= 1
        if self._waiting:
            self._waiting.popleft().set()
            return
        self._busy -= 1
        if not self._busy and self._empty is not None:
            self._empty.set()

    async def emptied(self) -> None:
        """Returns once nobody is inside."""
        while self._busy:
            self._empty = anyio.Event()
            await self._empty.wait()

    async def _turn(self) -> None:
        turn = anyio.Event()
        self._waiting.append(turn)
        try:
            await turn.wait()
        except BaseException:  # the caller has gone
            if turn.is_set():
                self.leave()
            else:
                self._waiting.remove(turn)
                self._total.calls -= 1
            raise
