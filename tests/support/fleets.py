"""A running fleet for tests, with a witness who keeps all that it reports and lets a test wait for it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio

from upstream_clients import (
    Fleet,
    JsonObject,
    State,
    UpstreamError,
    UpstreamListing,
    UpstreamSpec,
    UpstreamStatus,
    open_fleet,
)

LONG_SECONDS: Final = 60.0
"""Bounds every wait of a test: far above what the slowest machine needs, since only the outcome counts."""

CLIENT_INFO: Final[JsonObject] = {"name": "test", "version": "1"}


class Witness:
    def __init__(self) -> None:
        self.listings: list[UpstreamListing] = []
        self.statuses: list[UpstreamStatus] = []
        self._news = anyio.Event()

    def take_listing(self, listing: UpstreamListing) -> None:
        self.listings.append(listing)
        self._news.set()

    def take_status(self, status: UpstreamStatus) -> None:
        self.statuses.append(status)
        self._news.set()

    def names(self, owner: str) -> list[list[object]]:
        """The tool names of each listing of an upstream."""
        return [[tool.get("name") for tool in one.tools] for one in self.listings if one.owner == owner]

    def states(self, owner: str) -> list[State]:
        """The states that an upstream went through."""
        states = [status.state for status in self.statuses if status.owner == owner]
        return [state for number, state in enumerate(states) if number == 0 or states[number - 1] != state]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Returns once the condition holds; it is asked again whenever something is reported."""
        with anyio.fail_after(LONG_SECONDS):
            while not condition():
                self._news = anyio.Event()
                await self._news.wait()

    async def until_state(self, owner: str, state: State) -> UpstreamStatus:
        """The first status of the upstream in that state, past ones too."""
        await self.until(lambda: any(one.owner == owner and one.state is state for one in self.statuses))
        return next(one for one in self.statuses if one.owner == owner and one.state is state)


@asynccontextmanager
async def fleet_of(*specs: UpstreamSpec, concurrency: int | None = None) -> AsyncIterator[tuple[Fleet, Witness]]:
    witness = Witness()
    async with open_fleet(specs, CLIENT_INFO, witness.take_listing, witness.take_status, concurrency) as fleet:
        with anyio.fail_after(LONG_SECONDS):
            yield fleet, witness


async def outcome(fleet: Fleet, owner: str, name: str) -> JsonObject | UpstreamError:
    """What a call without arguments comes to, its failure included."""
    try:
        return await fleet.call(owner, name, {}, {})
    except UpstreamError as failure:
        return failure
