"""What hosts are shown of the gateway that runs, and who is told when that has changed. The same for every transport."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from index import Catalog
from server.app import Hooks, Running
from server.config import Settings
from server.front import Identity
from server.policy import Policy
from server.publishing import Publisher
from server.reloading import Refused
from server.status import describe_state
from server.surface import NOTHING_PUBLISHED, Surface
from server.telemetry import Publication, Sink, observe
from server.version import __version__
from upstream_clients import JsonObject

Tell: TypeAlias = Callable[[], Awaitable[None]]
Introduce: TypeAlias = Callable[[Identity], None]


class Published:
    """Follows one gateway. `on_change` is called at whatever `state` may show otherwise."""

    def __init__(self, settings: Settings, on_change: Callable[[], None], sinks: tuple[Sink, ...] = ()) -> None:
        self._settings = settings
        self._on_change = on_change
        self._started = time.time()
        self._first = Publisher(settings)(Catalog.empty(), NOTHING_PUBLISHED)
        mode = settings.gateway.tool_search.mode
        self._is_told_first = mode != "directory"
        self._is_listed_first = (
            mode == "tools" and not Policy(settings.servers, settings.gateway).may_publish_directly()
        )
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._told, self._introduced = self.listing(), self.identity
        self._refused: Refused | None = None
        self._observed: Publication | None = None
        self._sinks = sinks
        self.hooks = Hooks(self._catalogue_changed, lambda _status: on_change(), sinks)

    @property
    def identity(self) -> Identity | None:
        """What this server says of itself; None while a directory is still to be made of what the cache has."""
        if self._running is None and not self._is_told_first:
            return None
        about: JsonObject = {"name": "toolfold", "title": "toolfold", "version": __version__}
        return Identity(about, self._surface().instructions)

    @property
    def introduction(self) -> Identity:
        """The same once there is a gateway."""
        identity = self.identity
        assert identity is not None
        return identity

    async def adopt(self, settings: Settings) -> None:
        """Puts other settings into force."""
        assert self._running is not None
        await self._running.adopt(settings)
        self._settings = settings
        self._catalogue_changed()

    def report(self, refused: Refused | None) -> None:
        """Whether the files say something else than what is in force."""
        self._refused = refused
        self._on_change()

    def start(self, running: Running) -> None:
        """There is a gateway, and what is stored of its upstreams has been read."""
        self._running = running
        self._told, self._introduced = self.listing(), self.identity
        self._observe()
        self._on_change()

    def listing(self) -> JsonObject | None:
        """The result of `tools/list`; None while tools that are published by themselves may still be in the cache."""
        if self._running is None and not self._is_listed_first:
            return None
        return {"tools": list(self._surface().tools)}

    def state(self) -> JsonObject:
        """For the state file."""
        refused = self._refused
        return {
            "started": self._started,
            "version": __version__,
            "config": [str(path) for path in self._settings.sources],
            **({"refused": {"since": refused.since, "why": refused.why}} if refused else {}),
            **(describe_state(self._running) if self._running else {}),
        }

    async def watch(self, tell: Tell, introduce: Introduce) -> None:
        """Tells the hosts when the list is another one, and only then; whoever comes later hears what is true by then. Ends
        only by cancellation.
        """
        while True:
            await self._relisted.wait()
            self._relisted = anyio.Event()
            self._observe()
            identity, listing = self.identity, self.listing()
            if identity is not None and identity != self._introduced:
                self._introduced = identity
                introduce(identity)
            if listing != self._told:
                self._told = listing
                await tell()

    def _observe(self) -> None:
        """Reports what is published, when that is something else."""
        surface = self._surface()
        bill = surface.bill
        publication = Publication(
            mode="false" if surface.mode == "off" else surface.mode,
            why=surface.why,
            published=len(surface.tools),
            published_bytes=bill.published_bytes,
            direct_bytes=bill.direct_bytes,
            catalogue=sum(bill.sources.values()),
            sources=bill.sources,
            at=time.time(),
        )
        if publication != self._observed:
            self._observed = publication
            observe(self._sinks, publication)

    def _surface(self) -> Surface:
        return self._first if self._running is None else self._running.gateway.surface()

    def _catalogue_changed(self) -> None:
        self._relisted.set()
        self._on_change()
