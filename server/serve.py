"""`toolfold serve`: a gateway behind the host's standard input and output, until the input ends or a signal comes.

The order of things matters here: the front answers first, then the cache is read and the upstreams are started, then the
SDK is imported. At the end everything is over within 1.5 seconds, because hosts kill after two.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from server.app import Hooks, Running, open_gateway
from server.config import Directories, Settings
from server.face import Face
from server.front import Front, Identity
from server.host_pipe import HostPipe
from server.policy import Policy
from server.redaction import RedactingFormatter, Redactor
from server.state_file import StateFile
from server.status import describe_state
from server.surface import build_surface, instructions
from server.version import __version__
from upstream_clients import JsonObject

if TYPE_CHECKING:
    from server.sdk import SdkServer

logger = logging.getLogger(__name__)

LAST_WRITE_SECONDS: Final = 0.2
"""For the last answers to reach the host, if it still reads."""

FIRST_LIST_SECONDS: Final = 0.25
"""Hosts ask for the list as soon as they are greeted."""

EAGER_SDK_SECONDS: Final = 3.0
"""The SDK is imported when it is needed, after the first list, or at the latest now: a quiet moment is the best one."""


def serve(settings: Settings, directories: Directories) -> None:
    """Runs until the host is gone, then ends the process."""
    _log_to_stderr(settings)
    anyio.run(partial(_serve, settings, directories))
    logging.shutdown()
    sys.stderr.flush()
    # Worker threads may still be importing or indexing; interpreter shutdown would wait for them past the host's patience.
    os._exit(0)


async def _serve(settings: Settings, directories: Directories) -> None:
    session = _Session(settings)
    state = StateFile(directories.state, session.state)
    session.on_change = state.touch
    pipe = HostPipe()
    async with anyio.create_task_group() as tasks:

        def end() -> None:
            session.front.drain()  # before the SDK can answer for us that the connection is closed
            tasks.cancel_scope.cancel()

        session.front.connect(pipe)
        await pipe.open(session.front.take_line, end, settings.gateway.limits.line_bytes)
        tasks.start_soon(_end_on_signal, end)
        try:
            await session.first_list_answered()
            async with open_gateway(
                settings, directories, Hooks(session.catalogue_changed, session.changed)
            ) as running:
                session.start(running)
                tasks.start_soon(state.run)
                tasks.start_soon(session.watch_listing)
                await session.serve_with_sdk(Face(running.gateway))
        finally:
            session.front.drain()
            with anyio.CancelScope(shield=True):  # bounded by LAST_WRITE_SECONDS
                await pipe.close(LAST_WRITE_SECONDS)


class _Session:
    """One host's session: the front, and what changes while it lasts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started = time.time()
        self._identity = Identity(
            {"name": "toolfold", "title": "toolfold", "version": __version__}, instructions(settings.servers)
        )
        self._may_have_direct = bool(Policy(settings.servers, settings.gateway).may_publish_directly())
        self._running: Running | None = None
        self._relisted = anyio.Event()
        self._published = self._listing()
        self._tell_modern_hosts = _nobody
        self.front = Front(self._identity, self._listing)
        self.on_change = _nothing

    def start(self, running: Running) -> None:
        """The catalogue is there: what waited for the direct-only tools can be answered."""
        self._running = running
        self._published = self._listing()
        self.front.listing_known()
        self.on_change()

    async def first_list_answered(self) -> None:
        """Nothing competes with the first answers: all other work waits for them, though not for a host that is slow."""
        if not self._may_have_direct:
            with anyio.move_on_after(FIRST_LIST_SECONDS):
                await self.front.sdk_wanted.wait()

    def catalogue_changed(self) -> None:
        self._relisted.set()
        self.on_change()

    def changed(self, _status: object) -> None:
        self.on_change()

    def state(self) -> JsonObject:
        """For the state file."""
        return {
            "started": self._started,
            "version": __version__,
            "config": [str(path) for path in self._settings.sources],
            "host": self.front.host,
            **(describe_state(self._running) if self._running else {}),
        }

    async def watch_listing(self) -> None:
        """Tells the host when the published list has really changed, and only then."""
        while True:
            await self._relisted.wait()
            self._relisted = anyio.Event()
            listing = self._listing()
            if listing != self._published:
                self._published = listing
                self.front.listing_changed()
                await self._tell_modern_hosts()

    async def serve_with_sdk(self, face: Face) -> None:
        """Imports the SDK once the host has its first list, and lets its server take over the rest."""
        with anyio.move_on_after(EAGER_SDK_SECONDS):
            await self.front.sdk_wanted.wait()
        server = await anyio.to_thread.run_sync(_import_sdk_server, abandon_on_cancel=True)
        sdk = server(face, self._identity)
        self._tell_modern_hosts = sdk.listing_changed
        await sdk.run_behind(self.front)

    def _listing(self) -> JsonObject | None:
        """The result of `tools/list`; None while direct-only tools may still be found in the cache."""
        if self._running is not None:
            return {"tools": list(self._running.gateway.surface().tools)}
        if self._may_have_direct:
            return None
        return {"tools": list(build_surface((), self._settings.gateway.tool_search, {}).tools)}


def _import_sdk_server() -> "type[SdkServer]":
    from server.sdk import SdkServer

    return SdkServer


async def _end_on_signal(end: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            logger.info("ending on %s", number.name)
            end()


async def _nobody() -> None:
    """Nobody listens yet."""


def _nothing() -> None:
    """Nobody watches yet."""


def _log_to_stderr(settings: Settings) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(Redactor(secret for one in settings.servers for secret in one.secrets)))
    logging.basicConfig(level=settings.gateway.log.level.upper(), handlers=[handler], force=True)
    logging.getLogger("mcp").setLevel(logging.WARNING)
