"""What hosts are shown of the gateway that runs, and who is told when that has changed. The same for every transport."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from server.app import Hooks, Running
from server.config import Settings
from server.identity import Identity
from server.modes import Modes
from server.policy import Policy
from server.reloading import Refused
from server.status import describe_state
from server.surface import HOW, HOW_IN_CODE, HOW_UNDECIDED, build_surface, instructions
from server.version import __version__
from upstream_clients import JsonObject

Tell: TypeAlias = Callable[[bool], Awaitable[None]]
"""Tells the hosts. True: the published list is another one. False: only what is behind it is, which concerns gateways."""


class Published:
    """Follows one gateway, whose id among gateways is `node`. `on_change` is called when `state` may show otherwise."""

    def __init__(self, settings: Settings, modes: Modes, on_change: Callable[[], None], node: str) -> None:
        decided = modes.known(settings)
        self._settings = decided or settings
        self._is_undecided = decided is None
        self._modes = modes
        self._on_change = on_change
        self._started = time.time()
        self._may_have_direct = bool(Policy(settings.servers, settings.gateway).may_publish_directly())
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._told = self.listing()
        self._generation = 0
        self._refused: Refused | None = None
        self.hooks = Hooks(self._catalogue_changed, lambda _status: on_change(), node)

    @property
    def identity(self) -> Identity:
        """What this server says of itself."""
        about: JsonObject = {"name": "toolfold", "title": "toolfold", "version": __version__}
        return Identity(about, instructions(self._settings.servers, self._how()), self.hooks.node)

    async def settle(self) -> Settings:
        """The settings with the mode that is in force. From now on that is decided."""
        if self._is_undecided:
            self._settings = await self._modes.settled(self._settings)
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
        self._told, self._generation = self.listing(), running.library.snapshot.catalog.generation
        self._on_change()

    def listing(self) -> JsonObject | None:
        """The result of `tools/list`; None while the mode is not decided, or direct-only tools may still be in the cache."""
        if self._running is not None:
            return {"tools": list(self._running.gateway.surface().tools)}
        if self._may_have_direct or self._is_undecided:
            return None
        return {"tools": list(build_surface((), self._settings.gateway.tool_search, {}).tools)}

    def state(self) -> JsonObject:
        """For the state file."""
        refused = self._refused
        return {
            "started": self._started,
            "version": __version__,
            "config": [str(path) for path in self._settings.sources],
            "mode": self._settings.gateway.tool_search.mode,
            **self._modes.state(),
            **({"refused": {"since": refused.since, "why": refused.why}} if refused else {}),
            **(describe_state(self._running) if self._running else {}),
        }

    async def watch(self, tell: Tell) -> None:
        """Tells hosts when the list is another one, and gateways when the catalogue is. Ends only by cancellation."""
        while True:
            await self._relisted.wait()
            self._relisted = anyio.Event()
            assert self._running is not None
            listing, generation = self.listing(), self._running.library.snapshot.catalog.generation
            is_another = listing != self._told
            if is_another or generation != self._generation:
                self._told, self._generation = listing, generation
                await tell(is_another)

    def _how(self) -> str:
        if self._is_undecided:
            return HOW_UNDECIDED
        return HOW_IN_CODE if self._settings.gateway.tool_search.mode == "code" else HOW

    def _catalogue_changed(self) -> None:
        self._relisted.set()
        self._on_change()
