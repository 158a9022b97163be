"""`toolfold serve --http`: one gateway behind one address, for any number of hosts, until a signal comes.

The first signal drains: nothing new is taken, and the calls under way have DRAIN_SECONDS to finish. At the second they are
answered that the gateway ends, and it does; a third waits for nothing.
"""

import logging
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from server.access import Caller, check_profile
from server.app import Hooks, Running, open_gateway
from server.config import ConfigError, Directories, Settings
from server.face import Face
from server.http.address import Address
from server.http.gate import MCP_PATH, Gate, Rules
from server.http.tokens import Tokens
from server.modes import Modes
from server.node import kept_node
from server.process import Log, on_signals, run_to_the_end
from server.published import Audience, Published
from server.reloading import Following, follow
from server.session_log import SessionLog, log_folder
from server.state_file import StateFile
from upstream_clients import JsonObject

if TYPE_CHECKING:
    from server.http.web import WebServer
    from server.sdk import SdkServer

logger = logging.getLogger(__name__)

DRAIN_SECONDS: Final = 10.0
"""What service managers give as a rule before they kill, and longer than most calls take."""

LAST_ANSWERS_SECONDS: Final = 0.5
"""For the answers of the calls that were given up to reach their hosts."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where hosts come in, and what else opens it besides the configuration: token hashes by name, names of ours."""

    listener: socket.socket
    address: Address
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    hosts: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    needs_token: bool = False
    profile: str = ""  # of whoever has none by a token

    def rules(self, settings: Settings) -> Rules:
        """Raises ConfigError, for a door that must not stand open and would."""
        own = () if self.address.is_everywhere else (self.address.host,)
        named = settings.gateway.http.tokens
        hashes = {name: token.hash for name, token in named.items()}
        profiles = {name: token.profile for name, token in named.items() if name not in self.tokens}
        check_profile(settings, self.profile)
        tokens = Tokens({**hashes, **self.tokens}, profiles)
        if self.needs_token and not tokens:
            fix = "Name one in gateway.http.tokens, or start without --token on 127.0.0.1."
            raise ConfigError("no_token", "No token is left, and the door must not stand open.", fix)
        return Rules.build(own, (*settings.gateway.http.allow_hosts, *self.hosts), tokens)


def serve_http(settings: Settings, directories: Directories, reread: Callable[[], Settings], door: Door) -> None:
    """Runs until it is told to end, then ends the process. `reread` reads the same files again, and raises ConfigError."""
    log = Log(settings, door.secrets)
    node = kept_node(directories.state, str(door.address), settings.sources)
    service = partial(_Service, settings, directories, door, log, node)
    run_to_the_end(partial(_serve, settings, directories, reread, service))


async def _serve(
    settings: Settings,
    directories: Directories,
    reread: Callable[[], Settings],
    new_service: "Callable[[], _Service]",
) -> None:
    service = new_service()
    async with anyio.create_task_group() as tasks:
        web = (await anyio.to_thread.run_sync(_import_web_server))(service.gate, service.listener)
        drain = anyio.Event()

        def end() -> None:
            patience = service.patience
            if drain.is_set() and (patience is None or patience.cancel_called):
                service.gate.cut()
                tasks.cancel_scope.cancel()
            elif patience is not None:
                patience.cancel()
            drain.set()

        tasks.start_soon(on_signals, end)
        tasks.start_soon(web.run)
        decided = await service.published.settle()
        async with open_gateway(decided, directories, service.published.hooks) as running:
            service.published.start(running)
            tasks.start_soon(service.state_file.run)
            tasks.start_soon(service.log_file.run)
            sdk_server = await anyio.to_thread.run_sync(_import_sdk_server, abandon_on_cancel=True)
            face = Face(running.gateway, service.modes.run_code)
            sdk = sdk_server(face, service.published.introduction, Caller(service.profile, is_known=False))
            tasks.start_soon(service.published.watch, sdk.tell_all_hosts, sdk.adopt)
            async with sdk.over_http(settings.gateway.limits.line_bytes) as behind:
                service.open(running, sdk)
                tasks.start_soon(follow, settings, Following(reread, service.adopt, service.published.report))
                service.gate.open(behind)
                await drain.wait()
                await _drain(service, web, sdk)
        tasks.cancel_scope.cancel()
    await service.log_file.finish()


async def _drain(service: "_Service", web: "WebServer", sdk: "SdkServer") -> None:
    service.gate.close()
    web.stop_accepting()
    with anyio.move_on_after(DRAIN_SECONDS) as service.patience:
        await service.gate.idle()
    if service.patience.cancelled_caught:
        sdk.give_up()
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            await service.gate.idle()
    service.gate.cut()


class _Service:
    """What lasts from before there is a gateway until after it."""

    def __init__(self, settings: Settings, directories: Directories, door: Door, log: Log, node: str) -> None:
        self._door = door
        self._log = log
        self._running: Running | None = None
        self._sdk: SdkServer | None = None
        self.listener = door.listener
        self.patience: anyio.CancelScope | None = None  # with the calls under way, once it drains
        self.profile = door.profile
        self.state_file = StateFile(directories.state, self._state)
        self.log_file = SessionLog(log_folder(settings.gateway.log, directories))
        self.modes = Modes(directories)
        hooks = Hooks(node=node, sinks=(self.log_file.take,))
        self.published = Published(settings, self.modes, Audience(door.profile), self.state_file.touch, hooks)
        self.gate = Gate(door.rules(settings), self._readiness)

    def open(self, running: Running, sdk: "SdkServer") -> None:
        self._running, self._sdk = running, sdk
        logger.info("serving MCP at http://%s%s", self._door.address, MCP_PATH)

    async def adopt(self, settings: Settings) -> None:
        """The configuration has changed. Raises ConfigError, and then nothing has."""
        rules = self._door.rules(settings)
        self._log.adopt(settings)
        self.gate.rules = rules  # at once: a token may have been taken away
        await self.published.adopt(settings)
        if self._sdk is not None:
            self._sdk.adopt(self.published.introduction)

    def _readiness(self) -> JsonObject | None:
        if self._running is None:
            return None
        return {"upstreams": dict(Counter(str(status.state) for status in self._running.statuses().values()))}

    def _state(self) -> JsonObject:
        return {**self.published.state(), "address": f"http://{self._door.address}{MCP_PATH}"}


def _import_web_server() -> "type[WebServer]":
    from server.http.web import WebServer

    return WebServer


def _import_sdk_server() -> "type[SdkServer]":
    from server.sdk import SdkServer

    return SdkServer
