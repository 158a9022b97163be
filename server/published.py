"""What hosts are shown of the gateway that runs, and who is told when that has changed. The same for every transport."""

import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import anyio

from index import Catalog
from server.app import Hooks, Running
from server.config import Settings
from server.identity import Identity
from server.modes import Modes
from server.policy import Policy
from server.publishing import Publisher
from server.reloading import Refused
from server.status import describe_state
from server.surface import HOW_UNDECIDED, NOTHING_PUBLISHED, Surface, instructions
from server.telemetry import Publication, Sink, observe
from server.version import __version__
from upstream_clients import JsonObject

Tell: TypeAlias = Callable[[bool], Awaitable[None]]
"""Tells the hosts. True: the published list is another one. False: only what is behind it is, which concerns gateways."""

Introduce: TypeAlias = Callable[[Identity], None]

FOLDED: Final = frozenset({"tools", "code"})
"""The modes whose list does not depend on the catalogue, direct-only tools apart."""


class Published:
    """Follows one gateway, whose id among gateways is `node`. `on_change` is called when `state` may show otherwise."""

    def __init__(
        self,
        settings: Settings,
        modes: Modes,
        on_change: Callable[[], None],
        node: str,
        sinks: tuple[Sink, ...] = (),
    ) -> None:
        decided = modes.known(settings)
        self._settings = decided or settings
        self._is_undecided = decided is None
        self._modes = modes
        self._on_change = on_change
        self._started = time.time()
        self.hooks = Hooks(self._catalogue_changed, lambda _status: on_change(), node, sinks)
        self._first = _first_surface(self._settings)
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._told, self._introduced = self.listing(), self.identity
        self._generation = 0
        self._refused: Refused | None = None
        self._observed: Publication | None = None
        self._sinks = sinks

    @property
    def identity(self) -> Identity | None:
        """What this server says of itself; None while a directory is still to be made of what the cache has."""
        if self._running is None and self._settings.gateway.tool_search.mode == "directory":
            return None
        about: JsonObject = {"name": "toolfold", "title": "toolfold", "version": __version__}
        told = (
            instructions(self._settings.servers, HOW_UNDECIDED) if self._is_undecided else self._surface().instructions
        )
        return Identity(about, told, self.hooks.node)

    @property
    def introduction(self) -> Identity:
        """The same once there is a gateway."""
        identity = self.identity
        assert identity is not None
        return identity

    async def settle(self) -> Settings:
        """The settings with the mode that is in force. From now on that is decided."""
        if self._is_undecided:
            self._settings = await self._modes.settled(self._settings)
            self._first = _first_surface(self._settings)
            self._is_undecided = False
        return self._settings

    async def adopt(self, settings: Settings) -> None:
        """Puts other settings into force."""
        assert self._running is not None
        decided = await self._modes.settled(settings)
        await self._running.adopt(decided)
        self._settings = decided
        self._catalogue_changed()

    def report(self, refused: Refused | None) -> None:
        """Whether the files say something else than what is in force."""
        self._refused = refused
        self._on_change()

    def start(self, running: Running) -> None:
        """There is a gateway, and what is stored of its upstreams has been read."""
        self._running = running
        self._told, self._introduced = self.listing(), self.identity
        self._generation = running.library.snapshot.catalog.generation
        self._observe()
        self._on_change()

    def listing(self) -> JsonObject | None:
        """The result of `tools/list`; None while the mode is not decided, or while tools that are published by themselves
        may still be in the cache.
        """
        if self._is_undecided or (self._running is None and not self._is_listed_first()):
            return None
        return {"tools": list(self._surface().tools)}

    def state(self) -> JsonObject:
        """For the state file."""
        refused = self._refused
        return {
            "started": self._started,
            "version": __version__,
            "config": [str(path) for path in self._settings.sources],
            "mode": self._surface().mode_as_written,
            **self._modes.state(),
            **({"refused": {"since": refused.since, "why": refused.why}} if refused else {}),
            **(describe_state(self._running) if self._running else {}),
        }

    async def watch(self, tell: Tell, introduce: Introduce) -> None:
        """Tells hosts when the list is another one, and gateways when the catalogue is; whoever comes later hears what is
        true by then. Ends only by cancellation.
        """
        while True:
            await self._relisted.wait()
            self._relisted = anyio.Event()
            assert self._running is not None
            self._observe()
            identity = self.introduction
            if identity != self._introduced:
                self._introduced = identity
                introduce(identity)
            listing, generation = self.listing(), self._running.library.snapshot.catalog.generation
            is_another = listing != self._told
            if is_another or generation != self._generation:
                self._told, self._generation = listing, generation
                await tell(is_another)

    def _observe(self) -> None:
        """Reports what is published, when that is something else."""
        surface = self._surface()
        bill = surface.bill
        publication = Publication(
            mode=surface.mode_as_written,
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

    def _is_listed_first(self) -> bool:
        """Whether the list is known before the cache has been read."""
        settings = self._settings
        folds = settings.gateway.tool_search.mode in FOLDED
        return folds and not Policy(settings.servers, settings.gateway).may_publish_directly()

    def _surface(self) -> Surface:
        return self._first if self._running is None else self._running.gateway.surface()

    def _catalogue_changed(self) -> None:
        self._relisted.set()
        self._on_change()


def _first_surface(settings: Settings) -> Surface:
    """What is published before anything is known of any upstream."""
    return Publisher(settings)(Catalog.empty(), frozenset(), NOTHING_PUBLISHED)
