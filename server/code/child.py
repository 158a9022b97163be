"""A code child: started behind every wall, fed the engine, judged by what it could not do, and only then given code.

Owns the process, its pipes and its end. Knows nothing of tools.

Laws
1. Nobody gets a child that could do anything it must not do: `ready_child` raises instead.
2. Whatever a child says is read under limits and believed only where it is judged.
3. After the context no process of the child's group is left.
"""

import os
import signal
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Final
from uuid import uuid4

import anyio
import anyio.abc
import anyio.to_thread

from server.clean import one_line
from server.code.engine import read_engine
from server.code.frames import FrameSplitter, FrameTooLong, frame
from server.code.judging import open_doors
from server.code.node import Node
from server.code.unavailable import Unavailable
from server.code.walls import LAUNCHER, command, guest_text
from upstream_clients import JsonObject, NotAMessage, dump, parse

FRAME_BYTES: Final = 1024 * 1024
"""Of one frame of the child. A result of 256 KiB takes half of it when every character has to be escaped twice."""

WORDS_BYTES: Final = 4 * 1024
WORDS_SECONDS: Final = 0.2
READY_SECONDS: Final = 10.0
"""From the start to `ready`: 0.2 s on an idle machine, several on a busy one."""

START_CPU_SECONDS: Final = 20
"""Processor time on top of the run's own: V8 compiles on several threads, which count together."""

END_SECONDS: Final = 2.0
"""For the kernel to take a killed process away."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a child is made of."""

    node: Node
    engine: Path


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one run may use. The child keeps them for the sake of good messages, the parent for safety."""

    calls: int = 64
    pending: int = 16
    logBytes: int = 64 * 1024  # noqa: N815 - as the child has them
    logLines: int = 2_000  # noqa: N815
    resultBytes: int = 256 * 1024  # noqa: N815
    argumentBytes: int = 256 * 1024  # noqa: N815
    errorCharacters: int = 4_000  # noqa: N815
    memoryBytes: int = 64 * 1024 * 1024  # noqa: N815
    stackBytes: int = 256 * 1024  # noqa: N815


class ChildEnded(Exception):
    """The child is gone, or has said what no child of ours says. The message is for people."""


class Child:
    """A child that runs. Made by `ready_child`."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._frames = FrameSplitter(FRAME_BYTES)
        self._whole: deque[bytes] = deque()
        self._sending = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Child pid {self._process.pid}>"

    async def send(self, *bodies: bytes) -> None:
        """Raises ChildEnded."""
        assert self._process.stdin is not None
        async with self._sending:
            try:
                for body in bodies:
                    await self._process.stdin.send(frame(body))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                raise await self._ended() from None

    async def next(self) -> JsonObject:
        """The next message. Raises ChildEnded."""
        assert self._process.stdout is not None
        try:
            while not self._whole:
                self._whole += self._frames.feed(await self._process.stdout.receive())
            return parse(self._whole.popleft())
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise await self._ended() from None
        except (FrameTooLong, NotAMessage):
            raise ChildEnded("it broke the protocol") from None

    async def end(self) -> None:
        """Kills its group. Bounded by END_SECONDS."""
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            with anyio.move_on_after(END_SECONDS):
                await self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream is not None:
                    await stream.aclose()

    async def _ended(self) -> ChildEnded:
        with anyio.move_on_after(END_SECONDS):
            await self._process.wait()
        code = self._process.returncode
        how = "it closed its pipes" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        said = one_line((await self._first_words()).decode("utf-8", "replace"), 300)
        return ChildEnded(f"{how}: {said}" if said else how)

    async def _first_words(self) -> bytes:
        """Of standard error, which nobody reads before: what is too much for the pipe makes its writer wait."""
        assert self._process.stderr is not None
        with anyio.move_on_after(WORDS_SECONDS), suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            return await self._process.stderr.receive(WORDS_BYTES)
        return b""


@asynccontextmanager
async def ready_child(runtime: Runtime, bounds: Bounds, run_seconds: float) -> AsyncIterator[Child]:
    """A child that has the engine and nothing else, for as long as the context lasts.

    Raises:
        Unavailable: it could not be started, or something was open to it that must be closed.
    """
    parts = await anyio.to_thread.run_sync(read_engine, runtime.engine)
    canary = Path(tempfile.gettempdir(), f"toolfold-canary-{uuid4().hex}")
    async with _started(runtime.node, run_seconds) as child:
        try:
            with anyio.fail_after(READY_SECONDS):
                await child.send(_preface(bounds, canary), *parts)
                ready = await child.next()
        except TimeoutError:
            raise Unavailable(f"the isolated Node was not ready within {READY_SECONDS:.0f} s") from None
        except ChildEnded as ended:
            raise Unavailable(f"the isolated Node ended at its start ({ended})", "Try another Node.") from None
        if doors := open_doors(ready, was_written=await _was_written(canary)):
            hint = "Use Node 25 or newer." if not runtime.node.denies_network else ""
            raise Unavailable(f"the isolated Node is not isolated: {', '.join(doors)}", hint, lasting=True)
        yield child


@asynccontextmanager
async def _started(node: Node, run_seconds: float) -> AsyncIterator[Child]:
    argv = command(node, START_CPU_SECONDS + round(run_seconds))
    try:
        # From the loop's own thread, which lives as long as we do: the parent-death signal is bound to a thread.
        process = await anyio.open_process(
            argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env={}, cwd="/", start_new_session=True
        )
    except OSError as error:
        raise Unavailable(f"{argv[0]} could not be started ({error.strerror})") from None
    child = Child(process)
    try:
        yield child
    finally:
        await child.end()


def _preface(bounds: Bounds, canary: Path) -> bytes:
    limits = {name: getattr(bounds, name) for name in Bounds.__slots__}
    paths = {"readable": str(LAUNCHER), "writable": str(canary), "port": 9, "socket": str(canary)}
    return dump({"paths": paths, "bounds": limits, "guest": guest_text()})


async def _was_written(canary: Path) -> bool:
    there = await anyio.Path(canary).exists()
    if there:
        await anyio.Path(canary).unlink(missing_ok=True)
    return there
