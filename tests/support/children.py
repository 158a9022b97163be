"""One child process over the stdio transport, on this machine's platform or another, and what comes of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio

from tests.support.fleets import LONG_SECONDS
from tests.support.upstreams import Options, spec
from upstream_clients import JsonObject, Launch, UpstreamError
from upstream_clients.platform import Platform, current_platform
from upstream_clients.process import ChildProcess, running_child
from upstream_clients.watchdog import Watchdog

CALL: Final[JsonObject] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "x", "arguments": {}},
}


class Line:
    """What one child has sent, and how it was lost."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self.losses: list[UpstreamError] = []
        self.came = anyio.Event()
        self.lost = anyio.Event()

    def take(self, message: JsonObject) -> None:
        self.messages.append(message)
        self.came.set()

    def lose(self, error: UpstreamError) -> None:
        self.losses.append(error)
        self.lost.set()


def launch_of(options: Options) -> Launch:
    launch = spec("x", **options).target
    assert isinstance(launch, Launch)
    return launch


@asynccontextmanager
async def child_of(launch: Launch, platform: Platform | None = None) -> AsyncIterator[tuple[ChildProcess, Line]]:
    platform, line = platform or current_platform(), Line()
    with Watchdog(platform) as watchdog, anyio.fail_after(LONG_SECONDS):
        async with running_child(launch, platform, watchdog, line.take, line.lose) as child:
            yield child, line


def reasons(line: Line) -> list[str]:
    return [str(error) for error in line.losses]
