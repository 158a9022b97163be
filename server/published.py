"""What hosts are shown of the gateway that runs, and who is told when that has changed. The same for every transport."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import anyio

from index import Catalog
from server.access import Accesses, Caller
from server.app import Hooks, Running
from server.config import GatewaySettings, Settings
from server.identity import Identity
from server.modes import Modes
from server.policy import Policy
from server.publishing import Publisher, how_in
from server.reloading import Refused
from server.status import describe_state
from server.surface import HOW_UNDECIDED, NOTHING_PUBLISHED, Surface, instructions
from server.telemetry import Publication, observe
from server.version import __version__
from upstream_clients import JsonObject

Tell: TypeAlias = Callable[[bool], Awaitable[None]]
"""Tells the hosts. True: the published list is another one. False: what is behind it is, or what some callers are shown."""

Introduce: TypeAlias = Callable[[Identity], None]

FOLDED: Final = frozenset({"tools", "code"})
"""The modes whose list does not depend on the catalogue, direct-only tools apart."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is shown it: the profile that is served under, and what the only host calls itself; None if there may be many,
    of which each is known by its own requests alone.
    """

    profile: str = ""
    client: Callable[[], str] | None = None

    @property
    def anybody(self) -> Caller:
        """One of whom nothing more is known."""
        return Caller(self.profile, is_known=self.client is not None)

    @property
    def caller(self) -> Caller:
        """One of whom all is known that is."""
        return self.anybody if self.client is None else Caller(self.profile, self.client())

    def is_mixed(self, settings: GatewaySettings) -> bool:
        """Whether callers of several kinds may be among it: what is told to all must then speak of no tool or upstream. Over
        HTTP each is told something else instead, once it is known (`server.sdk`).
        """
        profiles = settings.profiles.values()
        by_token = self.client is None and any(
            token.profile or settings.policy.owner_only for token in settings.http.tokens.values()
        )
        return by_token or any(profile.clients for profile in profiles)


class Published:
    """Follows one gateway, for one audience. `on_change` is called when `state` may show otherwise.

    `hooks` are the gateway's; those that say what has changed are filled in here.
    """

    def __init__(
        self,
        settings: Settings,
        modes: Modes,
        audience: Audience,
        on_change: Callable[[], None],
        hooks: Hooks,
    ) -> None:
        decided = modes.known(settings)
        self._settings = decided or settings
        self._is_undecided = decided is None
        self._modes = modes
        self._audience = audience
        self._on_change = on_change
        self._started = time.time()
        self._sinks = hooks.sinks
        self.hooks = replace(hooks, on_catalogue=self._catalogue_changed, on_status=lambda _status: on_change())
        self._first = self._first_surface()
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._told, self._introduced = self.listing(), self.identity
        self._generation, self._told_by = 0, self._settings.gateway
        self._refused: Refused | None = None
        self._observed: Publication | None = None

    @property
    def identity(self) -> Identity | None:
        """What this server says of itself; None while a directory is still to be made of what the cache has."""
        if self._running is None and self._settings.gateway.tool_search.mode == "directory":
            return None
        about: JsonObject = {"name": "toolfold", "title": "toolfold", "version": __version__}
        return Identity(about, self._told_to_all(), self.hooks.node)

    def _told_to_all(self) -> str:
        """The instructions: nothing that one of the audience may not hear of."""
        settings = self._settings.gateway
        if self._audience.is_mixed(settings):
            return HOW_UNDECIDED if self._is_undecided else how_in(settings.tool_search.mode)
        if not self._is_undecided:
            return self._surface().instructions
        access = Accesses(settings).of(self._audience.anybody)
        servers = (server for server in self._settings.servers if access.may_reach(server.owner))
        return instructions(servers, HOW_UNDECIDED)

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
            self._first = self._first_surface()
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
            **(describe_state(self._running, self._surface()) if self._running else {}),
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
            is_edited, self._told_by = self._settings.gateway != self._told_by, self._settings.gateway
            is_another = listing != self._told
            if is_another or is_edited or generation != self._generation:
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
        if self._running is None:
            return self._first
        return self._running.gateway.seen_by(self._audience.caller).surface()

    def _first_surface(self) -> Surface:
        """What is published before anything is known of any upstream."""
        publisher, access = Publisher(self._settings), Accesses(self._settings.gateway).of(self._audience.anybody)
        if access.sees_all:
            return publisher(Catalog.empty(), frozenset(), NOTHING_PUBLISHED)
        return publisher.view(Catalog.empty(), frozenset(), {}, access)

    def _catalogue_changed(self) -> None:
        self._relisted.set()
        self._on_change()
