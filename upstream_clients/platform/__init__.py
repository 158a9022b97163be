"""What differs between operating systems when a child process is started, watched and ended."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Protocol


class Platform(Protocol):
    """One operating system's way with process groups. `group` is what `group_of` gave for a started process."""

    def start(self, argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
        """Starts a child in a group of its own with three pipes. Raises OSError when it can't be started."""

    def end_softly(self, group: int) -> None:
        """Asks every process of the group to end."""

    def end_hard(self, group: int) -> None:
        """Ends every process of the group now."""

    def watch_exit(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        """Calls `on_exit(return code)` on the running event loop once the child has ended."""

    def start_watchdog(self) -> "subprocess.Popen[bytes]":
        """Starts the process that ends the groups told to it on standard input when that pipe closes."""


def current_platform() -> Platform:
    """Raises NotImplementedError where stdio upstreams can't be run safely yet."""
    if sys.platform == "win32":
        raise NotImplementedError("stdio upstreams need POSIX process groups; Windows is not supported yet")
    from upstream_clients.platform.posix import Posix

    return Posix(asyncio.get_running_loop())
