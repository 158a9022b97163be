"""The live catalogue: takes listings as they come, keeps one snapshot for readers, and has it indexed off the event loop.
What is published of it goes with it: both change in one step.

Laws
1. A reader keeps the snapshot that it was given; the next one is built completely and then assigned once.
2. Cataloguing, publishing and indexing run in worker threads, which give way to calls. A build of the index is followed by a
   rest of twice its time, so that building never takes more than a third of one processor for long.
3. What comes in is catalogued by the rules of the moment; of several listings of one owner that wait, only the latest.
4. A listing whose searchable text has not changed builds nothing; one that has changed is indexed alone.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

import anyio
import anyio.to_thread

from index import Catalog, Classify, JsonObject, Listing, SearchIndex
from server.surface import NOTHING_PUBLISHED, Surface

logger = logging.getLogger(__name__)

REST_FACTOR: Final = 2.0
LONGEST_REST_SECONDS: Final = 5.0
"""A big catalogue must still become searchable soon after a change."""

FIRST_INDEX_SECONDS: Final = 30.0
"""How long a search waits for the very first index; one of 50,000 tools takes about 15 on a processor of its own."""

CATCH_UP_SECONDS: Final = 5.0
"""How long a question about an unknown id waits for listings that have come in but are not catalogued yet."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Stands for the listing of an owner that has no tools any more.

    `upstream` is the one that is gone with it; "" if that still has other owners' tools.
    """

    source: str
    owner: str
    upstream: str


Judge: TypeAlias = Callable[[Listing, Catalog], Classify]
"""What judges the tools of a listing, given what is catalogued already."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a catalogue is made by under one configuration: what is left of each tool of a listing, who judges that, what is
    in it besides the listings, and what is published of it, given the upstreams that have listed and what was published
    before. All are called in a worker thread, one at a time.
    """

    shown: Callable[[JsonObject], JsonObject]
    judge: Judge
    complete: Callable[[Catalog], Catalog]
    publish: Callable[[Catalog, frozenset[str], Surface], Surface]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A catalogue, what is published of it, and an index over it, which may lag behind by a build; ids are looked up in the
    catalogue.

    `listed` are the upstreams that the catalogue has a listing of, `indexed` those of which the index has just that listing.
    """

    catalog: Catalog
    surface: Surface
    index: SearchIndex | None = None
    listed: frozenset[str] = frozenset()
    indexed: frozenset[str] = frozenset()


class Library:
    """Holds the current snapshot. `run` is its task; everything else is called on the event loop."""

    def __init__(
        self, rules: Rules, on_change: Callable[[], None], give_way: Callable[[], None] = lambda: None
    ) -> None:
        """`give_way` is called between the small steps of what is done in threads, and may rest there."""
        self._rules = rules
        self._on_change = on_change
        self._give_way = give_way
        self._snapshot = _with_listings(Snapshot(Catalog.empty(), NOTHING_PUBLISHED), (), rules, give_way)
        self._incoming: dict[tuple[str, str], Listing | Gone] = {}
        self._arrived = anyio.Event()
        self._caught_up = anyio.Event()
        self._stale = anyio.Event()
        self._indexed = anyio.Event()

    def __repr__(self) -> str:
        return f"<Library {self._snapshot.catalog!r}, {len(self._incoming)} listings to come>"

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def adopt(self, rules: Rules) -> None:
        """Other rules, for what is taken from now on; what is published follows at once."""
        self._rules = rules
        self.take()

    def take(self, *listings: Listing | Gone) -> None:
        """Each listing becomes, soon, all that its owner has, unless a later one of the owner comes before that."""
        for listing in listings:
            self._incoming[listing.source, listing.owner] = listing
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
            if not self._arrived.is_set():
                self._caught_up.set()
                await self._arrived.wait()
            self._arrived = anyio.Event()
            listings, self._incoming = tuple(self._incoming.values()), {}
            work = partial(_with_listings, self._snapshot, listings, self._rules, self._give_way)
            made = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            self._snapshot = _with_index(made, self._snapshot.index)  # another index may have come meanwhile
            self._stale.set()
            self._on_change()

    async def _index(self) -> None:
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            began, catalog = time.monotonic(), self._snapshot.catalog
            known = index = self._snapshot.index
            if not self._is_indexed():
                work = partial(_indexed, catalog, known, self._give_way)
                index = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
                logger.debug("indexed generation %d", catalog.generation)
            self._snapshot = _with_index(self._snapshot, index)
            done, self._indexed = self._indexed, anyio.Event()
            done.set()
            if index is not known and index is not None:
                await anyio.to_thread.run_sync(index.warm, self._give_way, abandon_on_cancel=True)
            await anyio.sleep(min(LONGEST_REST_SECONDS, REST_FACTOR * (time.monotonic() - began)))

    def _is_indexed(self) -> bool:
        index = self._snapshot.index
        return index is not None and index.fingerprint == self._snapshot.catalog.search_fingerprint()


def _indexed(catalog: Catalog, known: SearchIndex | None, give_way: Callable[[], None]) -> SearchIndex:
    return (known or SearchIndex.build(())).followed_by(catalog.searchable(), give_way)


def _with_index(snapshot: Snapshot, index: SearchIndex | None) -> Snapshot:
    if index is None:
        return snapshot
    behind = {one.tools[0].upstream for one in snapshot.catalog.searchable() if not index.covers(one)}
    return replace(snapshot, index=index, indexed=snapshot.listed - behind)


def _with_listings(
    snapshot: Snapshot, listings: Sequence[Listing | Gone], rules: Rules, give_way: Callable[[], None]
) -> Snapshot:
    catalog = snapshot.catalog
    for listing in listings:
        if isinstance(listing, Gone):
            catalog = catalog.without(listing.source, listing.owner)
        else:
            shown = replace(listing, tools=tuple(_shown(listing, rules, give_way)))
            catalog = catalog.with_listing(shown, rules.judge(shown, catalog), give_way)
    catalog, listed = rules.complete(catalog), _listed(snapshot.listed, listings)
    return replace(snapshot, catalog=catalog, listed=listed, surface=rules.publish(catalog, listed, snapshot.surface))


def _shown(listing: Listing, rules: Rules, give_way: Callable[[], None]) -> Iterator[JsonObject]:
    for tool in listing.tools:
        give_way()
        yield rules.shown(tool)


def _listed(known: frozenset[str], listings: Sequence[Listing | Gone]) -> frozenset[str]:
    last = {listing.upstream: isinstance(listing, Listing) for listing in listings if listing.upstream}
    return (known - last.keys()) | {upstream for upstream, is_there in last.items() if is_there}
