"""What differs between operating systems when a child process is started, read, watched and ended."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Protocol


class Platform(Protocol):
    """One operating system's way with a child and all that it starts. `pid` is that of a process from `start`."""

    def start(self, argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
        """Starts a child in a group of its own with three pipes. Raises OSError when it can't be started."""

    async def read_pipe(self, source: IO[bytes], protocol: asyncio.Protocol) -> asyncio.ReadTransport:
        """Has the running event loop hand on what comes from this pipe, which now belongs to the transport."""

    async def write_pipe(self, sink: IO[bytes], protocol: asyncio.BaseProtocol) -> asyncio.WriteTransport:
        """Has the running event loop write to this pipe, which now belongs to the transport."""

    def end_softly(self, pid: int) -> None:
        """Asks the child and its group to end, where there is a way besides closing its input."""

    def end_hard(self, pid: int) -> None:
        """Ends the child and its whole group now. The last that is asked of a child; more often does no harm."""

    def watch_exit(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        """Calls `on_exit(return code)` on the running event loop once the child has ended."""

    def start_watchdog(self) -> "subprocess.Popen[bytes] | None":
        """Starts the process that ends the groups told to it when its input closes. None where the system does that."""


def current_platform() -> Platform:
    """This machine's, for the running event loop."""
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        from upstream_clients.platform.windows import Windows, popen
        from upstream_clients.platform.windows_kernel import SystemKernel

        platform: Platform = Windows(loop, SystemKernel(), popen)
    else:
        from upstream_clients.platform.posix import Posix

        platform = Posix(loop)
    return platform


def process_birth(pid: int) -> str | None:
    """What tells a running process from a later one of the same number, where that is known; None if none runs."""
    if sys.platform == "win32":
        from upstream_clients.platform.windows_kernel import SystemKernel, birth

        born = birth(SystemKernel(), pid)
    else:
        from upstream_clients.platform.posix import birth

        born = birth(pid)
    return born
