"""The way of every call to one upstream: a place among the others, then the breaker, then the upstream itself.

Only silence opens the breaker: calls that time out, and addresses that answer with a failure of their own (5xx, 429). A
refusal is an answer, and a request that was declined for itself (403, 413) says nothing about others. A connection that ends
is no silence: the upstream then starts again after a back-off of its own.
"""

import time
from collections.abc import Mapping
from typing import Final

from upstream_clients.breaker import Breaker, Way
from upstream_clients.bulkhead import Bulkhead, Total
from upstream_clients.errors import (
    UpstreamError,
    UpstreamRefused,
    UpstreamStalled,
    UpstreamTimeout,
    UpstreamUnauthorized,
)
from upstream_clients.framing import JsonObject
from upstream_clients.peer import Patience, Progress
from upstream_clients.upstream import Upstream

TRIAL: Final = Patience(idle=5.0, total=5.0)
"""For the answer to a ping, which takes a server that works milliseconds."""


class Lane:
    """Of one upstream."""

    def __init__(self, upstream: Upstream, total: Total) -> None:
        self._upstream = upstream
        self._bulkhead = Bulkhead(total)
        self._breaker = Breaker(time.monotonic)

    def __repr__(self) -> str:
        return f"<Lane to {self._upstream!r}, {self._bulkhead!r}, {self._breaker!r}>"

    async def call(
        self, name: str, arguments: JsonObject, meta: Mapping[str, object], on_progress: Progress | None
    ) -> JsonObject:
        """See `Upstream.call`.

        Raises:
            UpstreamOverloaded: it has too many calls already.
            UpstreamStalled: it has not answered for so long that it is spared for a while.
            UpstreamError: what the upstream raises.
        """
        await self._bulkhead.enter()
        try:
            way = self._breaker.ask()
            if way is not Way.THROUGH:
                await self._try(way)
            result = await self._upstream.call(name, arguments, meta, on_progress)
        except UpstreamError as error:
            self._count(error)
            raise
        finally:
            self._bulkhead.leave()
        if self._breaker.failures:
            self._breaker.answered()
        return result

    async def hurry(self) -> None:
        """See `Upstream.hurry`: for a call that does not know the upstream's tools yet. It takes its place among the calls.

        Raises:
            UpstreamOverloaded: it has too many calls already.
        """
        await self._bulkhead.enter()
        try:
            await self._upstream.hurry()
        finally:
            self._bulkhead.leave()

    async def emptied(self) -> None:
        """Returns once there is no call."""
        await self._bulkhead.emptied()

    async def _try(self, way: Way) -> None:
        """Returns if the upstream answers a ping."""
        if way is Way.REFUSED:
            raise self._stalled()
        try:
            answers = await self._upstream.answers(TRIAL)
        except BaseException:  # it is down, or the caller has gone
            self._breaker.gave_up()
            raise
        if not answers:
            self._breaker.tried_in_vain()
            raise self._stalled()
        self._breaker.tried_well()

    def _stalled(self) -> UpstreamStalled:
        return UpstreamStalled(
            f"none of the last {self._breaker.failures} calls had a result, and it is left alone for now",
            hint=f"Try again in {self._breaker.seconds_left:.0f} s.",
        )

    def _count(self, error: UpstreamError) -> None:
        if isinstance(error, UpstreamRefused | UpstreamUnauthorized):
            self._breaker.answered()
        elif isinstance(error, UpstreamTimeout) or type(error) is UpstreamError:
            self._breaker.failed()
