"""Windows: a Job Object for each child, a thread for each end of a pipe, and no signal to end anything softly.

A child's input is closed first, as everywhere; what does not end then is ended with its job. When this process ends,
however it does, the system closes its jobs, and with them all that is in them.

The system is asked in `windows_kernel.py` and in `popen` alone, and the rules of the command line are in
`windows_rules.py`, so that `Windows` can be run elsewhere, over a kernel that only pretends.
"""

import asyncio
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Final, TypeAlias

from upstream_clients.platform.threaded_pipes import ThreadedReader, ThreadedWriter
from upstream_clients.platform.waiting import wait_in_thread
from upstream_clients.platform.windows_kernel import Job, Kernel
from upstream_clients.platform.windows_rules import command_for, without_twins

CREATE_SUSPENDED: Final = 0x0000_0004
"""It must not start anything before it is in its job."""

CREATE_NO_WINDOW: Final = 0x0800_0000
"""Hosts have windows and no console, and a server is to open none. It does not hear our console's Ctrl-C either."""

Spawn: TypeAlias = Callable[[list[str], dict[str, str], str | None], "subprocess.Popen[bytes]"]


class Windows:
    """See `Platform`. `spawn` starts a child suspended, with three pipes, or raises OSError."""

    def __init__(self, loop: asyncio.AbstractEventLoop, kernel: Kernel, spawn: Spawn) -> None:
        self._loop = loop
        self._kernel = kernel
        self._spawn = spawn
        self._jobs: dict[int, Job] = {}

    def start(self, argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
        if cwd is not None and not os.path.isdir(cwd):
            raise NotADirectoryError(errno.ENOTDIR, "no such folder", cwd)
        with _explained():
            job = Job(self._kernel)
        try:
            process = self._spawn(argv, env, cwd)
        except OSError:
            job.end()
            raise
        try:
            with _explained():
                job.take(process.pid)
        except OSError:
            job.end()
            with process:  # closes the pipes
                process.kill()
            raise
        self._jobs[process.pid] = job
        return process

    async def read_pipe(self, source: IO[bytes], protocol: asyncio.Protocol) -> asyncio.ReadTransport:
        return ThreadedReader(source, protocol)

    async def write_pipe(self, sink: IO[bytes], protocol: asyncio.BaseProtocol) -> asyncio.WriteTransport:
        return ThreadedWriter(sink, protocol)

    def end_softly(self, pid: int) -> None:
        """There is no way: a child without a console hears no Ctrl-C, and its input is closed already."""

    def end_hard(self, pid: int) -> None:
        job = self._jobs.pop(pid, None)
        if job is not None:
            job.end()

    def watch_exit(self, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]) -> None:
        wait_in_thread(self._loop, process, on_exit)

    def start_watchdog(self) -> "subprocess.Popen[bytes] | None":
        return None


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(errno.EIO, f"Windows gives it no job to keep it from outliving us ({error.strerror})") from None


def popen(argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
    """See `Spawn`."""
    env = without_twins(env)
    command = command_for(argv, env, cwd or os.getcwd(), os.path.isfile)
    return subprocess.Popen(
        command.arguments,
        executable=command.executable,
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        creationflags=CREATE_SUSPENDED | CREATE_NO_WINDOW,
    )
