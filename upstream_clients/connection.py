"""What a connection is to those who use it, and how one is opened: to a child process, an address or an OpenClaw Gateway.

Owns the choice between them. Knows nothing of what is said over either.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

import anyio.to_thread

from upstream_clients.endpoint import Endpoint
from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw import OpenClawGateway
from upstream_clients.platform import Platform
from upstream_clients.process import Launch, running_child
from upstream_clients.watchdog import Watchdog

Target: TypeAlias = Launch | Endpoint | OpenClawGateway


class Receiver(Protocol):
    """Who hears what a connection brings. Nothing is called after `end`."""

    def receive(self, message: JsonObject) -> None:
        """Takes one whole message."""

    def fail(self, request_id: int, error: UpstreamError) -> None:
        """This request will have no answer; the connection lives on."""

    def end(self, error: UpstreamError) -> None:
        """The connection is over."""


class Connection(Protocol):
    """What is open for as long as its context lasts."""

    @property
    def pid(self) -> int | None: ...

    def send(self, message: JsonObject) -> None:
        """Queues one message. Raises an UpstreamError if it surely will not be sent."""


Opening: TypeAlias = AbstractAsyncContextManager[Connection]
OpenHttp: TypeAlias = Callable[[Endpoint, Receiver], Opening]


class Opener:
    """Opens the connections of one fleet, and keeps what they share."""

    def __init__(self, platform: Platform, watchdog: Watchdog) -> None:
        self._platform = platform
        self._watchdog = watchdog
        self._open_http: OpenHttp | None = None

    async def opening(self, target: Target, receiver: Receiver) -> Opening:
        """A connection to enter. What it takes to speak over a network is imported when it is first needed, in a thread."""
        if isinstance(target, Launch):
            return running_child(target, self._platform, self._watchdog, receiver.receive, receiver.end)
        if isinstance(target, OpenClawGateway):
            open_openclaw = await anyio.to_thread.run_sync(_imported_openclaw, abandon_on_cancel=True)
            return open_openclaw(target, receiver)
        if self._open_http is None:
            open_http = await anyio.to_thread.run_sync(_imported_http, abandon_on_cancel=True)
            self._open_http = self._open_http or open_http  # another address may have been as quick
        return self._open_http(target, receiver)


def _imported_http() -> OpenHttp:
    """The SDK takes over a second of processor time, and a configuration without addresses never needs it here."""
    from upstream_clients.http import HttpOpener

    return HttpOpener().open


def _imported_openclaw() -> Callable[[OpenClawGateway, Receiver], Opening]:
    from upstream_clients.openclaw.connection import open_openclaw

    return open_openclaw
