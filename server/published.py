"""What hosts are shown of the gateway that runs, and who is told when that has changed. The same for every transport."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from server.access import Accesses, Caller
from server.app import Hooks, Running
from server.config import Settings
from server.front import Identity
from server.policy import Policy
from server.reloading import Refused
from server.status import describe_state
from server.surface import build_surface, instructions
from server.version import __version__
from upstream_clients import JsonObject

Tell: TypeAlias = Callable[[], Awaitable[None]]


class Published:
    """Follows one gateway. `on_change` is called at whatever `state` may show otherwise; `profile` is what hosts
    are served under, and `client` how the only one calls itself."""

    def __init__(
        self, settings: Settings, on_change: Callable[[], None], profile: str, client: Callable[[], str]
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._client = client
        self._on_change = on_change
        self._started = time.time()
        self._may_have_direct = bool(Policy(settings.servers, settings.gateway).may_publish_directly())
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._told = self.listing()
        self._refused: Refused | None = None
        self.hooks = Hooks(self._catalogue_changed, lambda _status: on_change())

    @property
    def identity(self) -> Identity:
        """What this server says of itself."""
        about: JsonObject = {"name": "toolfold", "title": "toolfold", "version": __version__}
        access = Accesses(self._settings.gateway).of(Caller(self._profile))
        return Identity(
            about, instructions(server for server in self._settings.servers if access.may_reach(server.owner))
        )

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
        self._told = self.listing()
        self._on_change()

    def listing(self) -> JsonObject | None:
        """The result of `tools/list`; None while direct-only tools may still be found in the cache."""
        if self._running is not None:
            return {"tools": list(self._running.gateway.seen_by(Caller(self._profile, self._client())).surface().tools)}
        if self._may_have_direct:
            return None
        return {"tools": list(build_surface((), self._settings.gateway.tool_search, {}).tools)}

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

    async def watch(self, tell: Tell) -> None:
        """Tells the hosts when the list is another one, and only then. Ends only by cancellation."""
        while True:
            await self._relisted.wait()
            self._relisted = anyio.Event()
            listing = self.listing()
            if listing != self._told:
                self._told = listing
                await tell()

    def _catalogue_changed(self) -> None:
        self._relisted.set()
        self._on_change()
