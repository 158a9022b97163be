"""The live catalogue: takes listings as they come, keeps one snapshot for readers, and has it indexed off the event loop.

Laws
1. A reader keeps the snapshot that it was given; the next one is built completely and then assigned once.
2. Cataloguing and indexing run in worker threads. A build of the index is followed by a rest of twice its time, so that
   building never takes more than a third of one processor for long.
3. What comes in is catalogued in its order, by the judge of the moment.
4. A listing whose searchable text has not changed builds nothing.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

import anyio
import anyio.to_thread

from index import Catalog, Classify, Listing, SearchIndex

logger = logging.getLogger(__name__)

REST_FACTOR: Final = 2.0
LONGEST_REST_SECONDS: Final = 5.0
"""A big catalogue must still become searchable soon after a change."""

FIRST_INDEX_SECONDS: Final = 30.0
"""How long a search waits for the very first index; 50,000 tools take Whoosh about that long."""

CATCH_UP_SECONDS: Final = 5.0
"""How long a question about an unknown id waits for listings that have come in but are not catalogued yet."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Stands for the listing of an owner that has no tools any more."""

    source: str
    owner: str


Judge: TypeAlias = Callable[[Listing, Catalog], Classify]
"""What judges the tools of a listing, given what is catalogued already. Called in a worker thread."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A catalogue and an index over it, which may lag behind by a build; ids are looked up in the catalogue.

    `listed` are the owners that the catalogue has a listing of, `indexed` those that the index has seen.
    """

    catalog: Catalog
    index: SearchIndex | None = None
    listed: frozenset[str] = frozenset()
    indexed: frozenset[str] = frozenset()


class Library:
    """Holds the current snapshot. `run` is its task; everything else is called on the event loop."""

    def __init__(self, judge: Judge, on_change: Callable[[], None]) -> None:
        self._judge = judge
        self._on_change = on_change
        self._snapshot = Snapshot(Catalog.empty())
        self._incoming: list[Listing | Gone] = []
        self._arrived = anyio.Event()
        self._caught_up = anyio.Event()
        self._stale = anyio.Event()
        self._indexed = anyio.Event()

    def __repr__(self) -> str:
        return f"<Library {self._snapshot.catalog!r}, {len(self._incoming)} listings to come>"

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def adopt(self, judge: Judge) -> None:
        """Another judge, for what is taken from now on."""
        self._judge = judge

    def take(self, *listings: Listing | Gone) -> None:
        """Each listing becomes, soon, all that its owner has."""
        self._incoming += listings
        if self._caught_up.is_set():
            self._caught_up = anyio.Event()
        self._arrived.set()

    async def caught_up(self) -> Snapshot:
        """The snapshot that has every listing taken so far."""
        with anyio.move_on_after(CATCH_UP_SECONDS):
            await self._caught_up.wait()
        return self._snapshot

    async def searchable(self) -> Snapshot:
        """The current snapshot, once there has been a first index. An empty catalogue counts as indexed."""
        if self._snapshot.index is None:
            self._stale.set()
            with anyio.move_on_after(FIRST_INDEX_SECONDS):
                await self._indexed.wait()
        return self._snapshot

    async def indexed(self) -> Snapshot:
        """The snapshot whose index covers every listing taken so far; for those who can wait."""
        await self.caught_up()
        while not (self._is_indexed() and self._snapshot.listed <= self._snapshot.indexed):
            self._stale.set()
            await self._indexed.wait()
        return self._snapshot

    async def run(self) -> None:
        """Catalogues and indexes what comes in. Ends only by cancellation."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._catalogue)
            tasks.start_soon(self._index)

    async def _catalogue(self) -> None:
        while True:
            if not self._incoming:
                self._arrived = anyio.Event()
                self._caught_up.set()
                await self._arrived.wait()
            listings, self._incoming = self._incoming, []
            work = partial(_with_listings, self._snapshot.catalog, listings, self._judge)
            catalog = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            self._snapshot = _followed(self._snapshot, catalog, listings)
            self._stale.set()
            self._on_change()

    async def _index(self) -> None:
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            began, catalog, listed = time.monotonic(), self._snapshot.catalog, self._snapshot.listed
            index = self._snapshot.index
            if not self._is_indexed():
                index = await anyio.to_thread.run_sync(SearchIndex.build, catalog.tools(), abandon_on_cancel=True)
                logger.debug("indexed generation %d", catalog.generation)
            self._snapshot = replace(self._snapshot, index=index, indexed=listed)
            done, self._indexed = self._indexed, anyio.Event()
            done.set()
            await anyio.sleep(min(LONGEST_REST_SECONDS, REST_FACTOR * (time.monotonic() - began)))

    def _is_indexed(self) -> bool:
        index = self._snapshot.index
        return index is not None and index.fingerprint == self._snapshot.catalog.search_fingerprint()


def _with_listings(catalog: Catalog, listings: list[Listing | Gone], judge: Judge) -> Catalog:
    for listing in listings:
        if isinstance(listing, Gone):
            catalog = catalog.without(listing.source, listing.owner)
        else:
            catalog = catalog.with_listing(listing, judge(listing, catalog))
    return catalog


def _followed(snapshot: Snapshot, catalog: Catalog, listings: list[Listing | Gone]) -> Snapshot:
    last = {listing.owner: isinstance(listing, Listing) for listing in listings}
    gone = {listing.owner for listing in listings if isinstance(listing, Gone)}
    listed = (snapshot.listed - last.keys()) | {owner for owner, is_there in last.items() if is_there}
    return replace(snapshot, catalog=catalog, listed=listed, indexed=snapshot.indexed - gone)
