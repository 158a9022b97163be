"""A code child: started behind every wall, fed the engine, judged by what it could not do, and only then given code.

Owns the process, its pipes and its end. Knows nothing of tools.

Laws
1. Nobody gets a child that could do anything it must not do: `ready_child` raises instead.
2. Whatever a child says is read under limits and believed only where it is judged.
3. After the context no process of the child's group is left.
"""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import anyio
import anyio.to_thread

from server.clean import one_line
from server.code.engine import read_engine
from server.code.judging import open_doors
from server.code.node import Node
from server.code.pipes import Ended, Pipes, start
from server.code.unavailable import Unavailable
from server.code.walls import CHILD, GUEST, LAUNCHER, command, text_of
from upstream_clients import JsonObject, NotAMessage, dump, parse

WORDS_CHARACTERS: Final = 300
EXIT_CODE_SECONDS: Final = 0.5
"""After its pipes are closed a process ends at once; one that does not is killed anyway."""

READY_SECONDS: Final = 10.0
"""From the start to `ready`: 0.2 s on an idle machine, several on a busy one."""

START_CPU_SECONDS: Final = 20
"""Processor time on top of the run's own: V8 compiles on several threads, which count together."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a child is made of."""

    node: Node
    engine: Path
    script: Path = CHILD


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one run may use. The child keeps them for the sake of good messages, the parent for safety."""

    calls: int = 64
    pending: int = 16
    logBytes: int = 64 * 1024  # noqa: N815 - as the child has them
    logLines: int = 2_000  # noqa: N815
    resultBytes: int = 256 * 1024  # noqa: N815
    argumentBytes: int = 256 * 1024  # noqa: N815
    argumentDepth: int = 190  # noqa: N815 - within what the parent takes for a message, 200
    errorCharacters: int = 4_000  # noqa: N815
    memoryBytes: int = 64 * 1024 * 1024  # noqa: N815
    stackBytes: int = 256 * 1024  # noqa: N815


class ChildEnded(Exception):
    """The child is gone, or has said what no child of ours says. The message is for people."""


class Child:
    """A child that runs. Made by `ready_child`."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes

    def __repr__(self) -> str:
        return f"<Child {self._pipes!r}>"

    async def send(self, *bodies: bytes) -> None:
        """Raises ChildEnded."""
        try:
            for body in bodies:
                await self._pipes.send(body)
        except Ended:
            raise await self._ended() from None

    async def next(self) -> JsonObject:
        """The next message. Raises ChildEnded."""
        try:
            return parse(await self._pipes.next())
        except Ended:
            raise await self._ended() from None
        except NotAMessage:
            raise ChildEnded("it broke the protocol") from None

    async def _ended(self) -> ChildEnded:
        if not await self._pipes.exits_within(EXIT_CODE_SECONDS):
            return ChildEnded("it broke the protocol, or closed its pipes")
        code = self._pipes.return_code or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        said = one_line(self._pipes.words.decode("utf-8", "replace"), WORDS_CHARACTERS)
        return ChildEnded(f"{how}: {said}" if said else how)


@asynccontextmanager
async def ready_child(runtime: Runtime, bounds: Bounds, run_seconds: float) -> AsyncIterator[Child]:
    """A child that has the engine and nothing else, for as long as the context lasts.

    Raises:
        Unavailable: it could not be started, or something was open to it that must be closed.
    """
    parts = await anyio.to_thread.run_sync(read_engine, runtime.engine)
    canary = Path(tempfile.gettempdir(), f"toolfold-canary-{uuid4().hex}")
    async with _started(runtime, run_seconds) as child:
        try:
            with anyio.fail_after(READY_SECONDS):
                await child.send(_preface(bounds, run_seconds + READY_SECONDS, canary), *parts)
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
async def _started(runtime: Runtime, run_seconds: float) -> AsyncIterator[Child]:
    argv = command(runtime.node, text_of(runtime.script), START_CPU_SECONDS + round(run_seconds))
    try:
        pipes = await start(argv)
    except OSError as error:
        raise Unavailable(f"{argv[0]} could not be started ({error.strerror})") from None
    try:
        yield Child(pipes)
    finally:
        await pipes.end()


def _preface(bounds: Bounds, seconds: float, canary: Path) -> bytes:
    limits = {**{name: getattr(bounds, name) for name in Bounds.__slots__}, "seconds": seconds}
    paths = {"readable": str(LAUNCHER), "writable": str(canary), "port": 9, "socket": str(canary)}
    return dump({"paths": paths, "bounds": limits, "guest": text_of(GUEST)})


async def _was_written(canary: Path) -> bool:
    there = await anyio.Path(canary).exists()
    if there:
        await anyio.Path(canary).unlink(missing_ok=True)
    return there
