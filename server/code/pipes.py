"""A code child's process and its pipes, as the event loop tells of them: frames as they come, held back under limits.

Laws
1. What is held of a child that says too much is bounded: reading stops, and goes on when it was taken.
2. After `end` the process group is killed and every pipe is closed, however full they are.
"""

import asyncio
import os
import signal
import sys
from collections import deque
from contextlib import suppress
from typing import Final

import anyio

from server.code.frames import FrameSplitter, FrameTooLong, frame

FRAME_BYTES: Final = 1024 * 1024
"""Of one frame of the child. A result of 256 KiB takes half of it when every character has to be escaped twice."""

FRAMES_AHEAD: Final = 64
"""As many as may wait to be taken; a run makes that many calls."""

WORDS_BYTES: Final = 4 * 1024
"""Of standard error: what a process says first when it fails. What comes after is not read, and its writer waits."""

END_SECONDS: Final = 2.0
"""For the kernel to take a killed process away."""

INPUT, OUTPUT, ERRORS = 0, 1, 2


class Ended(Exception):
    """The child is gone, or sends what is no frame. The message is for people."""


class Pipes(asyncio.SubprocessProtocol):
    """One child. Made by `start`."""

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._frames = FrameSplitter(FRAME_BYTES)
        self._whole: deque[bytes] = deque()
        self._is_over = False
        self._is_held = False
        self._news = anyio.Event()
        self._exited = anyio.Event()
        self._room = anyio.Event()
        self._room.set()
        self.words = b""

    def __repr__(self) -> str:
        return f"<Pipes of {self._transport and self._transport.get_pid()}, {len(self._whole)} frames waiting>"

    @property
    def return_code(self) -> int | None:
        return None if self._transport is None else self._transport.get_returncode()

    async def send(self, body: bytes) -> None:
        """Waits while the child does not read. Raises Ended."""
        await self._room.wait()
        pipe = self._pipe(INPUT)
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing():
            raise Ended("its input is closed")
        pipe.write(frame(body))

    async def next(self) -> bytes:
        """The body of the next frame. Raises Ended."""
        while not self._whole:
            if self._is_over:
                raise Ended("its output is closed")
            self._news = anyio.Event()
            await self._news.wait()
        body = self._whole.popleft()
        if self._is_held and not self._whole:
            self._is_held = False
            self._hold(OUTPUT, held=False)
        return body

    async def exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    async def end(self) -> None:
        """Bounded by END_SECONDS."""
        assert self._transport is not None
        with anyio.CancelScope(shield=True):
            if sys.platform != "win32" and self.return_code is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._transport.get_pid(), signal.SIGKILL)
            await self.exits_within(END_SECONDS)
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == ERRORS:
            self.words = (self.words + data)[:WORDS_BYTES]
            if len(self.words) == WORDS_BYTES:
                self._hold(ERRORS, held=True)
            return
        if self._is_over:
            return
        try:
            self._whole += self._frames.feed(data)
        except FrameTooLong:
            self._is_over = True
        if len(self._whole) > FRAMES_AHEAD:
            self._is_held = True
            self._hold(OUTPUT, held=True)
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == OUTPUT:
            self._is_over = True
            self._news.set()
        elif fd == INPUT:
            self._room.set()

    def process_exited(self) -> None:
        self._exited.set()

    def pause_writing(self) -> None:
        self._room = anyio.Event()

    def resume_writing(self) -> None:
        self._room.set()

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        assert self._transport is not None
        return self._transport.get_pipe_transport(fd)

    def _hold(self, fd: int, *, held: bool) -> None:
        pipe = self._pipe(fd)
        if isinstance(pipe, asyncio.ReadTransport):
            (pipe.pause_reading if held else pipe.resume_reading)()


async def start(argv: list[str]) -> Pipes:
    """Starts it with no environment, in a group of its own. Raises OSError.

    From the loop's own thread, which lives as long as we do: the parent-death signal is bound to a thread.
    """
    loop = asyncio.get_running_loop()
    _, pipes = await loop.subprocess_exec(Pipes, *argv, env={}, cwd="/", start_new_session=True)
    return pipes
