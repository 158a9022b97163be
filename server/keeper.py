"""Carries listings between the upstreams, the live catalogue and the disk: the stored ones at first, then the live ones.

Owns what upstreams say of themselves besides their tools (era, instructions). Disk work runs in worker threads.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Final

import anyio
import anyio.to_thread

from index import Listing
from server.config import ServerEntry
from server.library import Gone, Library
from server.listing_cache import ListingCache, StoredListing
from upstream_clients import Era, UpstreamListing

logger = logging.getLogger(__name__)

SOURCE: Final = "mcp"

REFRESH_SECONDS: Final = 7 * 24 * 3600
"""An unchanged listing is written again once a week, so that it is not taken for one that nobody uses."""


class ListingKeeper:
    """Knows the newest listing of every upstream. `run` is the task that stores them."""

    def __init__(self, servers: Mapping[str, ServerEntry], library: Library, cache: ListingCache) -> None:
        self._servers = servers
        self._library = library
        self._cache = cache
        self._newest: dict[str, StoredListing] = {}
        self._live: set[str] = set()
        self._unsaved: set[str] = set()
        self._arrived = anyio.Event()

    def __repr__(self) -> str:
        return f"<ListingKeeper of {len(self._newest)}, {len(self._unsaved)} unsaved>"

    async def load(self) -> None:
        """Puts the stored listings into the catalogue, and returns when they are in it."""
        self._newest.update(await self.stored(self._servers))
        self.relist(self._newest)
        await self._library.caught_up()

    async def stored(self, servers: Mapping[str, ServerEntry]) -> dict[str, StoredListing]:
        """What is on disk of these upstreams."""
        return await anyio.to_thread.run_sync(self._read_all, servers, abandon_on_cancel=True)

    def changed(self, servers: Mapping[str, ServerEntry]) -> dict[str, ServerEntry]:
        """Those of which the listing that is known, if one is, says nothing: they are new, or start otherwise."""
        known = {owner: server.fingerprint for owner, server in self._servers.items()}
        return {owner: server for owner, server in servers.items() if known.get(owner) != server.fingerprint}

    def adopt(self, servers: Mapping[str, ServerEntry], stored: Mapping[str, StoredListing]) -> None:
        """From now on these are the upstreams; `stored` is what is on disk of those that have changed."""
        changed = self.changed(servers)
        outdated = [owner for owner in self._newest if owner not in servers or owner in changed]
        self._servers = servers
        for owner in outdated:
            del self._newest[owner]
            self._live.discard(owner)
            self._unsaved.discard(owner)
        self._newest.update(stored)
        self._library.take(*(Gone(SOURCE, owner) for owner in outdated))
        self.relist(stored)

    def relist(self, owners: Iterable[str]) -> None:
        """Has what is known of these upstreams catalogued anew."""
        known = {owner: self._newest[owner] for owner in owners if owner in self._newest}
        self._library.take(*(self._listing(owner, one) for owner, one in known.items()))

    def take(self, listing: UpstreamListing) -> None:
        """A live listing has come in."""
        known = self._newest.get(listing.owner)
        self._live.add(listing.owner)
        fresh = StoredListing(
            listing.tools, listing.greeting.era, listing.greeting.instructions, time.time(), listing.gateway
        )
        self._newest[listing.owner] = fresh
        self._library.take(self._listing(listing.owner, fresh))
        if known is None or not _is_same(known, fresh):
            self._unsaved.add(listing.owner)
            self._arrived.set()

    def era(self, owner: str) -> Era | None:
        """The era in which the upstream was met last."""
        known = self._newest.get(owner)
        return known.era if known else None

    def instructions(self, owner: str) -> str:
        """What the upstream says of itself. Untrusted text."""
        known = self._newest.get(owner)
        return known.instructions if known else ""

    def gateways(self) -> Mapping[str, str]:
        """The upstreams that are gateways, and the ids that they had when they were listed."""
        return {owner: known.gateway for owner, known in self._newest.items() if known.gateway}

    def owners(self) -> frozenset[str]:
        """The upstreams whose tools are known, live or stored."""
        return frozenset(self._newest)

    async def run(self) -> None:
        """Stores listings as they come. Ends only by cancellation."""
        await anyio.to_thread.run_sync(self._cache.prune, abandon_on_cancel=True)
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            await self.save()

    async def save(self) -> None:
        """Stores what is not stored yet."""
        while self._unsaved:
            owner = self._unsaved.pop()
            fingerprint = self._servers[owner].fingerprint
            await anyio.to_thread.run_sync(self._cache.write, owner, fingerprint, self._newest[owner])

    def _read_all(self, servers: Mapping[str, ServerEntry]) -> dict[str, StoredListing]:
        read = {owner: self._cache.read(owner, server.fingerprint) for owner, server in servers.items()}
        return {owner: stored for owner, stored in read.items() if stored is not None}

    def _listing(self, owner: str, stored: StoredListing) -> Listing:
        is_cached = owner not in self._live
        trusted, is_gateway = self._servers[owner].trusted, bool(stored.gateway)
        return Listing(SOURCE, owner, stored.tools, trusted=trusted, cached=is_cached, gateway=is_gateway)


def owner_in(reference: str) -> str:
    """The upstream that an exact id names; empty for a bare name."""
    source, _, rest = reference.strip().partition(":")
    owner, colon, _ = rest.partition(":")
    return owner if source == SOURCE and colon else ""


def _is_same(known: StoredListing, fresh: StoredListing) -> bool:
    told_the_same = _told(known) == _told(fresh)
    return told_the_same and fresh.saved - known.saved < REFRESH_SECONDS


def _told(stored: StoredListing) -> tuple[object, ...]:
    return stored.tools, stored.era, stored.instructions, stored.gateway
