"""A child's standard output, from bytes to messages: in order, a bounded share of the loop at a time, in bounded memory.

Knows nothing of the process behind it nor of what a message means.

Laws
1. Messages are handed on in the order in which their lines came.
2. Nothing more is read while lines are left, so that what waits is one chunk at most, beside the line under way.
3. After the first fault, and after `stop`, nothing is handed on. `on_fault` and `on_end` are called at most once in all.
4. The content of a line is never logged nor put into an error.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import anyio.to_thread

from upstream_clients.errors import UpstreamProtocolFault
from upstream_clients.framing import JsonObject, LineSplitter, NotAMessage, looks_like_message, parse

INLINE_PARSE_BYTES: Final = 256 * 1024
"""A longer line is parsed in a worker thread: JSON of this size costs the loop about 2 ms."""

LINES_PER_TURN: Final = 500
"""Lines handled before others have the loop again: at some 8 µs each, 4 ms."""


class Output(asyncio.Protocol):
    """The reading end. `finish` says that no more is expected, `stop` that no more is wanted."""

    def __init__(
        self,
        line_bytes: int,
        on_message: Callable[[JsonObject], None],
        on_fault: Callable[[UpstreamProtocolFault], None],
        on_end: Callable[[], None],
    ) -> None:
        self._splitter = LineSplitter(line_bytes)
        self._on_message = on_message
        self._on_fault = on_fault
        self._on_end = on_end
        self._lines: deque[bytes | None] = deque()
        self._transport: asyncio.ReadTransport | None = None
        self._parsing: asyncio.Task[None] | None = None
        self._is_finished = False
        self._is_stopped = False
        self._is_reading = True
        self.skipped_lines = 0

    def __repr__(self) -> str:
        return f"<Output {len(self._lines)} lines waiting, {self.skipped_lines} skipped>"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._is_stopped:
            self._lines += self._splitter.feed(data)
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self.finish()

    def finish(self) -> None:
        """Hands on what has come already, and then reports the end."""
        self._is_finished = True
        self._go_on()

    def stop(self) -> None:
        """What still comes is read and thrown away, so that a child that is ending does not wait for us."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._lines.clear()
        if self._parsing is not None:
            self._parsing.cancel()
        self._read_on(wanted=True)

    def _go_on(self) -> None:
        for _ in range(LINES_PER_TURN):
            if not self._lines or self._parsing is not None:
                break
            self._take(self._lines.popleft())
        if self._is_stopped:
            return
        self._read_on(wanted=not self._lines and self._parsing is None)
        if self._parsing is not None:
            return
        if self._lines:
            asyncio.get_running_loop().call_soon(self._go_on)
        elif self._is_finished:
            self.stop()
            self._on_end()

    def _read_on(self, *, wanted: bool) -> None:
        if self._transport is None or self._transport.is_closing() or self._is_reading == wanted:
            return
        self._is_reading = wanted  # kept here: pipes of CPython before 3.11.4 do not tell
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def _take(self, line: bytes | None) -> None:
        if line is None:
            self._fail("a line over the limit", hint="Raise gateway.limits.lineBytes.")
        elif not looks_like_message(line):
            self.skipped_lines += 1
        elif len(line) > INLINE_PARSE_BYTES:
            self._parsing = asyncio.get_running_loop().create_task(self._parse_in_thread(line))
        else:
            self._deliver(_parse_quietly(line))

    async def _parse_in_thread(self, line: bytes) -> None:
        message = await anyio.to_thread.run_sync(_parse_quietly, line, abandon_on_cancel=True)
        self._parsing = None
        self._deliver(message)
        self._go_on()

    def _deliver(self, message: JsonObject | NotAMessage) -> None:
        if isinstance(message, NotAMessage):
            self._fail(f"a message that is not acceptable: {message}")
        else:
            self._on_message(message)

    def _fail(self, what: str, *, hint: str = "") -> None:
        self.stop()
        self._read_on(wanted=False)  # it may never stop writing
        self._on_fault(UpstreamProtocolFault(f"it sent {what}", hint=hint))


def _parse_quietly(line: bytes) -> JsonObject | NotAMessage:
    try:
        return parse(line)
    except NotAMessage as fault:
        return fault
