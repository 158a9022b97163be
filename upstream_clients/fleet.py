"""All upstreams of one gateway: starts their owner tasks, finds one by its owner name, exchanges them, ends them together.

Laws
1. An owner name stands for one upstream at a time. One that was replaced or removed gets no new call, and is heard no more.
2. The calls that it already has are let finish, within their own deadline; then it is ended. Nobody waits for that.
"""

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import anyio.abc
import anyio.to_thread

from upstream_clients.bulkhead import Total
from upstream_clients.chain import new_node
from upstream_clients.connection import Opener
from upstream_clients.era import Greeter
from upstream_clients.errors import UpstreamDown
from upstream_clients.framing import JsonObject
from upstream_clients.lane import Lane
from upstream_clients.peer import Progress
from upstream_clients.platform import current_platform
from upstream_clients.status import State, UpstreamListing, UpstreamSpec, UpstreamStatus
from upstream_clients.upstream import OnListing, OnStatus, Surroundings, Upstream
from upstream_clients.watchdog import Watchdog

STARTS_PER_CORE: Final = 2
"""Starting a server is work for the processor. 50 at once on 2 cores: the first is ready after 34 s; 4 at a time: 7 s."""


@dataclass(frozen=True, eq=False, slots=True)
class _Member:
    """One upstream, the way to it, and what ends it."""

    upstream: Upstream
    lane: Lane
    life: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Fleet:
    """The upstreams that are running."""

    def __init__(self, around: Surroundings, tasks: anyio.abc.TaskGroup) -> None:
        self._around = around
        self._tasks = tasks
        self._members: dict[str, _Member] = {}
        self._total = Total()

    def __repr__(self) -> str:
        return f"<Fleet of {len(self._members)}>"

    def statuses(self) -> tuple[UpstreamStatus, ...]:
        return tuple(member.upstream.status for member in self._members.values())

    def adopt(self, specs: Iterable[UpstreamSpec]) -> None:
        """From now on these are the upstreams. One whose start would be no other goes on as it is."""
        wanted = {spec.owner: spec for spec in specs}
        members = self._members
        for owner in [owner for owner in members if owner not in wanted]:
            self._tasks.start_soon(self._retire, members.pop(owner))
        for owner, spec in wanted.items():
            known = members.get(owner)
            if known is not None and _starts_alike(known.upstream.spec, spec):
                known.upstream.adopt(spec)
                continue
            if known is not None:
                self._tasks.start_soon(self._retire, known)
            members[owner] = self._member(spec)
            self._tasks.start_soon(self._live, members[owner])

    def want(self, owner: str) -> None:
        """Starts a lazy upstream. One that has just been removed is not started."""
        if owner in self._members:
            self._members[owner].upstream.want()

    def is_ready(self, owner: str) -> bool:
        """Whether a call would go through at once, to a server that has listed its tools."""
        member = self._members.get(owner)
        return member is not None and member.upstream.status.state is State.READY

    async def hurry(self, owner: str) -> None:
        """See `Lane.hurry`. There is nothing to wait for in one that is not running."""
        if owner in self._members:
            await self._members[owner].lane.hurry()

    async def settled(self, owners: Iterable[str]) -> None:
        """Returns once each of these upstreams is ready or its current try has failed."""
        for owner in owners:
            if owner in self._members:
                await self._members[owner].upstream.settled()

    async def call(
        self,
        owner: str,
        name: str,
        arguments: JsonObject,
        meta: Mapping[str, object],
        on_progress: Progress | None = None,
    ) -> JsonObject:
        """See `Lane.call`."""
        member = self._members.get(owner)
        if member is None:
            raise UpstreamDown("it is not running", hint="Run `toolfold check` to see why.")
        return await member.lane.call(name, arguments, meta, on_progress)

    def _member(self, spec: UpstreamSpec) -> _Member:
        def on_listing(listing: UpstreamListing) -> None:
            if self._members.get(spec.owner) is member:
                self._around.on_listing(listing)

        def on_status(status: UpstreamStatus) -> None:
            if self._members.get(spec.owner) is member:
                self._around.on_status(status)

        upstream = Upstream(spec, replace(self._around, on_listing=on_listing, on_status=on_status))
        member = _Member(upstream, Lane(upstream, self._total))
        return member

    async def _live(self, member: _Member) -> None:
        with member.life:
            await member.upstream.run()

    async def _retire(self, member: _Member) -> None:
        with anyio.move_on_after(member.upstream.spec.patience.total):
            await member.lane.emptied()
        member.life.cancel()


def _starts_alike(one: UpstreamSpec, other: UpstreamSpec) -> bool:
    """Whether both start the same server in the same way; how long is waited for it may change while it runs."""
    return (one.target, one.protocol, one.gateway) == (other.target, other.protocol, other.gateway)


@asynccontextmanager
async def open_fleet(
    specs: Iterable[UpstreamSpec],
    client_info: Mapping[str, object],
    on_listing: OnListing,
    on_status: OnStatus,
    concurrency: int | None = None,
    *,
    node: str = "",
) -> AsyncIterator[Fleet]:
    """Runs the upstreams for as long as the context lasts; leaving it ends them all, in about a second.

    `node` is the id by which other gateways know this one.
    """
    platform = current_platform()
    watchdog = Watchdog(platform)
    slots = anyio.Semaphore(concurrency or STARTS_PER_CORE * (os.cpu_count() or 1))
    around = Surroundings(
        Opener(platform, watchdog), Greeter(client_info), slots, node or new_node(), on_listing, on_status
    )
    await anyio.to_thread.run_sync(watchdog.__enter__)
    try:
        async with anyio.create_task_group() as tasks:
            fleet = Fleet(around, tasks)
            fleet.adopt(specs)
            yield fleet
            tasks.cancel_scope.cancel()
    finally:
        watchdog.__exit__(None, None, None)
