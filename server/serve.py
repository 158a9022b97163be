"""`toolfold serve`: a gateway behind the host's standard input and output, until the input ends or a signal comes.

The order of things matters here: the front answers first, then the cache is read and the upstreams are started, then the
SDK is imported. At the end everything is over within 1.5 seconds, because hosts kill after two.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from server.access import Caller, check_profile
from server.app import Hooks, Running, open_gateway
from server.config import Directories, Settings
from server.face import Face
from server.front import Front
from server.host_pipe import HostPipe
from server.identity import Identity
from server.modes import Modes
from server.process import Log, on_signals, run_to_the_end
from server.published import Audience, Published
from server.reloading import Following, follow
from server.session_log import SessionLog, log_folder
from server.state_file import StateFile
from upstream_clients import JsonObject, new_node

if TYPE_CHECKING:
    from server.sdk import SdkServer

LAST_WRITE_SECONDS: Final = 0.2
"""For the last answers to reach the host, if it still reads."""

FIRST_LIST_SECONDS: Final = 0.25
"""Hosts ask for the list as soon as they are greeted."""

EAGER_SDK_SECONDS: Final = 3.0
"""The SDK is imported when it is needed, after the first list, or at the latest now: a quiet moment is the best one."""


def serve(settings: Settings, directories: Directories, reread: Callable[[], Settings], profile: str = "") -> None:
    """Runs until the host is gone, then ends the process. `reread` reads the same files again, and raises ConfigError."""
    check_profile(settings, profile)
    session = partial(_Session, settings, directories, Log(settings), profile)
    run_to_the_end(partial(_serve, settings, directories, reread, session))


async def _serve(
    settings: Settings,
    directories: Directories,
    reread: Callable[[], Settings],
    new_session: "Callable[[], _Session]",
) -> None:
    session = new_session()
    front, pipe = session.front, HostPipe()
    async with anyio.create_task_group() as tasks:

        def end() -> None:
            front.drain()  # before the SDK can answer for us that the connection is closed
            tasks.cancel_scope.cancel()

        front.connect(pipe)
        await pipe.open(front.take_line, end, settings.gateway.limits.line_bytes)
        tasks.start_soon(on_signals, end)
        try:
            await session.first_list_answered()
            async with open_gateway(await session.decided(), directories, session.published.hooks) as running:
                session.start(running)
                tasks.start_soon(session.state_file.run)
                tasks.start_soon(session.log_file.run)
                tasks.start_soon(session.published.watch, session.tell, session.introduce)
                tasks.start_soon(follow, settings, Following(reread, session.adopt, session.published.report))
                await session.serve_with_sdk(Face(running.gateway, session.modes.run_code))
        finally:
            front.drain()
            with anyio.CancelScope(shield=True):  # bounded by LAST_WRITE_SECONDS
                await pipe.close(LAST_WRITE_SECONDS)
    await session.log_file.finish()


class _Session:
    """One host's session: its front, and the SDK's server once that is there."""

    def __init__(self, settings: Settings, directories: Directories, log: Log, profile: str) -> None:
        self._log = log
        self._profile = profile
        self.state_file = StateFile(directories.state, self._state)
        self.log_file = SessionLog(log_folder(settings.gateway.log, directories))
        self.modes = Modes(directories)
        hooks, audience = Hooks(node=new_node(), sinks=(self.log_file.take,)), Audience(profile, self._client)
        self.published = Published(settings, self.modes, audience, self.state_file.touch, hooks)
        self.front = Front(self.published.identity, self.published.listing)
        self._sdk: SdkServer | None = None

    def start(self, running: Running) -> None:
        """There is a gateway, and what had to wait for it can be answered."""
        self.published.start(running)
        self.introduce(self.published.introduction)
        self.front.catalogue_known()

    async def serve_with_sdk(self, face: Face) -> None:
        """Imports the SDK once the host has its first list, and lets its server take over the rest."""
        with anyio.move_on_after(EAGER_SDK_SECONDS):
            await self.front.sdk_wanted.wait()
        server = await anyio.to_thread.run_sync(_import_sdk_server, abandon_on_cancel=True)
        self._sdk = server(face, self.published.introduction, Caller(self._profile))
        await self._sdk.run_behind(self.front)

    async def first_list_answered(self) -> None:
        """Nothing competes with the first answers: all other work waits for them, though not for a host that is slow."""
        if self.published.listing() is not None and self.published.identity is not None:
            with anyio.move_on_after(FIRST_LIST_SECONDS):
                await self.front.sdk_wanted.wait()

    async def decided(self) -> Settings:
        """The settings with the mode that is in force."""
        settings = await self.published.settle()
        self.front.adopt(self.published.identity)
        return settings

    async def adopt(self, settings: Settings) -> None:
        """The configuration has changed. Raises ConfigError, and then nothing has."""
        check_profile(settings, self._profile)
        self._log.adopt(settings)
        await self.published.adopt(settings)
        self.introduce(self.published.introduction)

    def introduce(self, identity: Identity) -> None:
        """What a host that comes later is told."""
        self.front.adopt(identity)
        if self._sdk is not None:
            self._sdk.adopt(identity)

    async def tell(self, published: bool) -> None:
        """The published list is another one, or only what is behind it."""
        self.front.listing_changed(published=published)
        if self._sdk is not None:
            await self._sdk.tell_modern_hosts()

    def _client(self) -> str:
        return str(self.front.host.get("name", ""))

    def _state(self) -> JsonObject:
        return {**self.published.state(), "host": self.front.host}


def _import_sdk_server() -> "type[SdkServer]":
    from server.sdk import SdkServer

    return SdkServer
