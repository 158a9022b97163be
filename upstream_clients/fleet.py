"""All upstreams of one gateway: starts their owner tasks, finds one by its owner name, ends them together."""

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.connection import Children
from upstream_clients.era import Greeter
from upstream_clients.errors import UpstreamDown
from upstream_clients.framing import JsonObject
from upstream_clients.peer import Progress
from upstream_clients.platform import current_platform
from upstream_clients.status import UpstreamSpec, UpstreamStatus
from upstream_clients.upstream import OnListing, OnStatus, Surroundings, Upstream
from upstream_clients.watchdog import Watchdog

STARTS_PER_CORE: Final = 2
"""Starting a server is work for the processor. 50 at once on 2 cores: the first is ready after 34 s; 4 at a time: 7 s."""


class Fleet:
    """The upstreams that are running."""

    def __init__(self, upstreams: Mapping[str, Upstream]) -> None:
        self._upstreams = upstreams

    def __repr__(self) -> str:
        return f"<Fleet of {len(self._upstreams)}>"

    def statuses(self) -> tuple[UpstreamStatus, ...]:
        return tuple(upstream.status for upstream in self._upstreams.values())

    def want(self, owner: str) -> None:
        self._upstreams[owner].want()

    async def settled(self, owners: Iterable[str]) -> None:
        """Returns once each of these upstreams is ready or its current try has failed."""
        for owner in owners:
            await self._upstreams[owner].settled()

    async def call(
        self,
        owner: str,
        name: str,
        arguments: JsonObject,
        meta: Mapping[str, object],
        on_progress: Progress | None = None,
    ) -> JsonObject:
        """See `Upstream.call`."""
        upstream = self._upstreams.get(owner)
        if upstream is None:
            raise UpstreamDown("it is not running", hint="Run `toolfold check` to see why.")
        return await upstream.call(name, arguments, meta, on_progress)


@asynccontextmanager
async def open_fleet(
    specs: Iterable[UpstreamSpec],
    client_info: Mapping[str, object],
    on_listing: OnListing,
    on_status: OnStatus,
    concurrency: int | None = None,
) -> AsyncIterator[Fleet]:
    """Runs the upstreams for as long as the context lasts; leaving it ends them all, in about a second."""
    platform = current_platform()
    watchdog = Watchdog(platform)
    slots = anyio.Semaphore(concurrency or STARTS_PER_CORE * (os.cpu_count() or 1))
    around = Surroundings(Children(platform, watchdog), Greeter(client_info), slots, on_listing, on_status)
    upstreams = {spec.owner: Upstream(spec, around) for spec in specs}
    await anyio.to_thread.run_sync(watchdog.__enter__)
    try:
        async with anyio.create_task_group() as tasks:
            for upstream in upstreams.values():
                tasks.start_soon(upstream.run)
            yield Fleet(upstreams)
            tasks.cancel_scope.cancel()
    finally:
        watchdog.__exit__(None, None, None)
