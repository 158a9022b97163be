"""One run of an operator's program that is asked for something: what it is given on standard input, and what it prints.

Laws
1. It is started without a shell. What it prints is bounded, and never logged. How long it is waited for, its caller says.
2. Whatever it has started ends with it: when it ends by itself, and when nobody waits for it any more.
"""

import asyncio
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.platform import Platform, current_platform

END_SECONDS: Final = 1.0
"""After it was killed; nothing survives that, and a busy machine sees it soon."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, and how much it may print. `given` is its standard input."""

    argv: Sequence[str] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    most_bytes: int
    given: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Printed:
    """What came of a run. `code` is None for one that printed too much, and was ended for that."""

    code: int | None
    output: bytes = field(repr=False)


async def run_program(program: Program) -> Printed:
    """Runs it to its end. Cancelled, it ends the program with all that it has started.

    Raises:
        OSError: it cannot be started.
    """
    platform = current_platform()
    process = await anyio.to_thread.run_sync(platform.start, list(program.argv), dict(program.env), None)
    run = _Run(program.most_bytes)
    platform.watch_exit(process, run.exit_seen)
    try:
        await run.attach(platform, process, program.given)
        await run.printed.wait()
        if run.is_too_long:
            return Printed(None, run.output)
        await run.exited.wait()
        return Printed(run.code, run.output)
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(END_SECONDS):
            platform.end_hard(process.pid)
            await run.exited.wait()
        run.close()


class _Run(asyncio.Protocol):
    """What a program has printed so far, and how it ended. What it says on standard error is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self.output = b""
        self.printed = anyio.Event()
        self.exited = anyio.Event()
        self.code: int | None = None
        self._most_bytes = most_bytes
        self._readers: list[asyncio.ReadTransport] = []
        self._writer: asyncio.WriteTransport | None = None

    @property
    def is_too_long(self) -> bool:
        return len(self.output) > self._most_bytes

    async def attach(self, platform: Platform, process: "subprocess.Popen[bytes]", given: bytes) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with anyio.CancelScope(shield=True):  # takes no time; the pipes must belong to somebody who closes them
            self._readers.append(await platform.read_pipe(process.stderr, asyncio.Protocol()))
            self._readers.append(await platform.read_pipe(process.stdout, self))
            writer = self._writer = await platform.write_pipe(process.stdin, _Writing(self._written))
        if given:
            writer.write(given)
        writer.close()

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        if self._writer is not None:  # what it has not taken, it never will
            self._writer.abort()

    def _written(self) -> None:
        self._writer = None

    def data_received(self, data: bytes) -> None:
        if not self.is_too_long:
            self.output += data
        if self.is_too_long:
            self.printed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.printed.set()

    def exit_seen(self, code: int) -> None:
        self.code = code
        self.exited.set()


class _Writing(asyncio.BaseProtocol):
    """Says when all is written, or nobody reads it."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()
