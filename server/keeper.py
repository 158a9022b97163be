"""Carries listings between the upstreams, the live catalogue and the disk: the stored ones at first, then the live ones.

Owns what upstreams say of themselves besides their tools (era, instructions). Disk work runs in worker threads.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Final

import anyio
import anyio.to_thread

from index import Listing, owner_for_key
from server.config import OPENCLAW, ServerEntry
from server.library import Gone, Library
from server.listing_cache import ListingCache, StoredListing
from upstream_clients import CORE_OWNER, OWNER_META, Era, JsonObject, UpstreamListing

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
        gone = [Gone(*place, owner) for owner in outdated for place in self._places(owner)]
        self._servers = servers
        for owner in outdated:
            del self._newest[owner]
            self._live.discard(owner)
            self._unsaved.discard(owner)
        self._newest.update(stored)
        self._library.take(*gone)
        self.relist(stored)

    def relist(self, owners: Iterable[str]) -> None:
        """Has what is known of these upstreams catalogued anew."""
        known = {owner: self._newest[owner] for owner in owners if owner in self._newest}
        self._library.take(*(listing for owner, one in known.items() for listing in self._listings(owner, one)))

    def take(self, listing: UpstreamListing) -> None:
        """A live listing has come in."""
        known = self._newest.get(listing.owner)
        before = self._places(listing.owner)
        self._live.add(listing.owner)
        fresh = StoredListing(
            listing.tools, listing.greeting.era, listing.greeting.instructions, time.time(), listing.gateway
        )
        self._newest[listing.owner] = fresh
        gone = [Gone(*place, "") for place in before if place not in self._places(listing.owner)]
        self._library.take(*gone, *self._listings(listing.owner, fresh))
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

    def _listings(self, upstream: str, stored: StoredListing) -> list[Listing]:
        """What one upstream lists, by source and owner."""
        server, is_cached, is_gateway = self._servers[upstream], upstream not in self._live, bool(stored.gateway)
        return [
            Listing(source, owner, tools, server.trusted, is_cached, is_gateway, via=upstream)
            for (source, owner), tools in _by_place(server, stored.tools).items()
        ]

    def _places(self, upstream: str) -> list[tuple[str, str]]:
        """The sources and owners under which the upstream's tools are in the catalogue."""
        known, server = self._newest.get(upstream), self._servers.get(upstream)
        return list(_by_place(server, known.tools)) if known and server else []


def upstream_in(reference: str) -> str:
    """The upstream that an exact id names; empty for a bare name."""
    source, _, rest = reference.strip().partition(":")
    owner, colon, _ = rest.partition(":")
    if not colon:
        return ""
    return {SOURCE: owner, OPENCLAW: OPENCLAW}.get(source, "")


def _by_place(server: ServerEntry, tools: tuple[JsonObject, ...]) -> dict[tuple[str, str], tuple[JsonObject, ...]]:
    if server.openclaw is None:
        return {(SOURCE, server.owner): tools}
    places: dict[tuple[str, str], list[JsonObject]] = {(OPENCLAW, CORE_OWNER): []}
    for tool in tools:
        meta = tool.get("_meta")
        owner = meta.get(OWNER_META) if isinstance(meta, dict) else None
        place = (OPENCLAW, owner_for_key(owner) if isinstance(owner, str) else CORE_OWNER)
        places.setdefault(place, []).append(tool)
    return {place: tuple(own) for place, own in places.items()}


def _is_same(known: StoredListing, fresh: StoredListing) -> bool:
    told_the_same = _told(known) == _told(fresh)
    return told_the_same and fresh.saved - known.saved < REFRESH_SECONDS


def _told(stored: StoredListing) -> tuple[object, ...]:
    return stored.tools, stored.era, stored.instructions, stored.gateway
