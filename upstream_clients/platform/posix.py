"""POSIX: a session of its own for each child, signals to whole groups, exits seen through a pidfd where there is one.

A child's environment gets one variable of ours, by which the watchdog finds what is left of it.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

WATCHDOG_SCRIPT = Path(__file__).with_name("watchdog_process.py")

MARK_VARIABLE = "TOOLFOLD_CHILD_OF"
"""Its value tells the watchdog whose children a process and its descendants are, whatever groups they have moved to."""


class Posix:
    """See `Platform`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._mark = uuid4().hex

    def start(self, argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            argv,
            env={**env, MARK_VARIABLE: self._mark},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )

    def end_softly(self, group: int) -> None:
        _signal_group(group, signal.SIGTERM)

    def end_hard(self, group: int) -> None:
        _signal_group(group, signal.SIGKILL)

    def watch_exit(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        descriptor = _pidfd(process.pid)
        if descriptor is None:
            threading.Thread(target=self._wait_in_thread, args=(process, on_exit), daemon=True).start()
            return

        def ended() -> None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            on_exit(process.wait())

        self._loop.add_reader(descriptor, ended)

    def start_watchdog(self) -> "subprocess.Popen[bytes]":
        # -I -S: nothing of the working folder, the environment or site-packages is imported, and it starts in 15 ms.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(WATCHDOG_SCRIPT), f"{MARK_VARIABLE}={self._mark}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            cwd="/",
        )

    def _wait_in_thread(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        code = process.wait()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(on_exit, code)


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # the group is empty already; macOS answers EPERM where only zombies are left


def _pidfd(pid: int) -> int | None:
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3, or a sandbox that refuses the call
        return None
