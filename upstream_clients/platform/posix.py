"""POSIX: a session of its own for each child, signals to whole groups, exits seen through a pidfd where there is one.

A child's environment gets one variable of ours, by which the watchdog finds what is left of it.
"""

import asyncio
import errno
import math
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from upstream_clients.platform.waiting import wait_in_thread

assert sys.platform != "win32"  # for the type checker, too: nothing below exists there

WATCHDOG_SCRIPT = Path(__file__).with_name("watchdog_process.py")

MARK_VARIABLE = "TOOLFOLD_CHILD_OF"
"""Its value tells the watchdog whose children a process and its descendants are, whatever groups they have moved to."""

KEPT_FREE = 24
"""Descriptors that no child is started with: the SDK is imported, files are stored and hosts let in when all others run.
A start takes eight of them for a moment, and four for good."""

FOLDERS_OF_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")


class Posix:
    """See `Platform`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._mark = uuid4().hex
        self._one_by_one = threading.Lock()

    def start(self, argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
        with self._one_by_one:
            if _descriptors_left() < KEPT_FREE:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
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

    async def read_pipe(self, source: IO[bytes], protocol: asyncio.Protocol) -> asyncio.ReadTransport:
        transport, _ = await self._loop.connect_read_pipe(lambda: protocol, source)
        return transport

    async def write_pipe(self, sink: IO[bytes], protocol: asyncio.BaseProtocol) -> asyncio.WriteTransport:
        transport, _ = await self._loop.connect_write_pipe(lambda: protocol, sink)
        return transport

    def end_softly(self, pid: int) -> None:
        _signal_group(pid, signal.SIGTERM)

    def end_hard(self, pid: int) -> None:
        _signal_group(pid, signal.SIGKILL)

    def watch_exit(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        descriptor = _pidfd(process.pid)
        if descriptor is None:
            wait_in_thread(self._loop, process, on_exit)
            return

        def ended() -> None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            on_exit(process.wait())

        self._loop.add_reader(descriptor, ended)

    def start_watchdog(self) -> "subprocess.Popen[bytes] | None":
        # -I -S: nothing of the working folder, the environment or site-packages is imported, and it starts in 15 ms.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(WATCHDOG_SCRIPT), f"{MARK_VARIABLE}={self._mark}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            cwd="/",
            env={},  # ours may hold secrets
        )


def birth(pid: int) -> str | None:
    """When a process was started, in Linux's own units; elsewhere "" if one of this number runs."""
    if not _runs(pid):
        return None
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="ascii", errors="replace")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # the group is empty already; macOS answers EPERM where only zombies are left


def _descriptors_left() -> float:
    """How many this process may still open, where that can be seen."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    for folder in FOLDERS_OF_DESCRIPTORS:
        try:
            return math.inf if limit == resource.RLIM_INFINITY else limit - len(os.listdir(folder))
        except OSError as error:
            if error.errno == errno.EMFILE:
                return 0
    return math.inf


def _pidfd(pid: int) -> int | None:
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel before 5.3, or a sandbox that refuses the call
            return os.pidfd_open(pid)
    return None
