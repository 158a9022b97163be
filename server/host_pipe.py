"""Standard input and output as two asyncio pipes, taken away from everyone else.

POSIX pipes, sockets and terminals are read by the event loop itself. Anything else can't be waited for, such as a file or
/dev/null, and on Windows all that others have opened: that is read and written by a thread each.
"""

import asyncio
import os
import select
import stat
import sys
from collections.abc import Callable
from typing import IO, Final

import anyio

from upstream_clients import LineSplitter, ThreadedReader, ThreadedWriter

HANG_UP_SECONDS: Final = 0.25
"""How often a host that does not read is looked at for having gone. A host kills two seconds after it closes our input."""


class HostPipe:
    """The host's end of the conversation. Made by `open_host_pipe`."""

    def __init__(self) -> None:
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._reasons_to_pause: set[str] = set()
        self._drained = anyio.Event()
        self._drained.set()
        self._written = anyio.Event()
        self._on_end: Callable[[], None] = lambda: None
        self._watch: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<HostPipe {'paused' if self._reasons_to_pause else 'reading'}>"

    def write(self, line: bytes) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(line)

    async def drained(self) -> None:
        """Returns once the host has taken enough of what was written; at once, as a rule."""
        if not self._drained.is_set():
            await self._drained.wait()

    def host_reads(self, reads: bool) -> None:
        """The write buffer is full, or has room again: until then nothing more is read, and `drained` waits."""
        if reads:
            self.resume("host is not reading")
            self._drained.set()
        else:
            self.pause("host is not reading")
            self._drained = anyio.Event()
            self._end_if_gone()

    def _end_if_gone(self) -> None:
        """A paused reader does not see the end of its input, so it is looked for while the host does not read."""
        if self._drained.is_set() or self._reader is None or self._reader.is_closing():
            return
        if _has_hung_up(self._reader.get_extra_info("pipe").fileno()):
            self._on_end()
        else:
            self._watch = asyncio.get_running_loop().call_later(HANG_UP_SECONDS, self._end_if_gone)

    def pause_reading(self) -> None:
        self.pause("busy")

    def resume_reading(self) -> None:
        self.resume("busy")

    def pause(self, reason: str) -> None:
        """Stops reading until no reason is left: the SDK is behind, or the host does not read our answers."""
        if not self._reasons_to_pause and self._reader is not None and not self._reader.is_closing():
            self._reader.pause_reading()
        self._reasons_to_pause.add(reason)

    def resume(self, reason: str) -> None:
        self._reasons_to_pause.discard(reason)
        if not self._reasons_to_pause and self._reader is not None and not self._reader.is_closing():
            self._reader.resume_reading()

    async def open(self, on_line: Callable[[bytes | None], None], on_end: Callable[[], None], line_bytes: int) -> None:
        self._on_end = on_end
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)  # a stray print goes to standard error
        self._writer = await _writer(os.fdopen(sink, "wb", 0), _Sink(self, on_end))
        splitter = LineSplitter(line_bytes)
        self._reader = await _reader(os.fdopen(source, "rb", 0), _Source(splitter, on_line, on_end))

    async def close(self, seconds: float) -> None:
        """Lets the last answers be written, for as long as the host reads them, at most `seconds`."""
        if self._watch is not None:
            self._watch.cancel()
        if self._reader is not None:
            self._reader.close()
        if self._writer is None:
            return
        self._writer.close()
        with anyio.move_on_after(seconds):
            await self._written.wait()

    def all_written(self) -> None:
        """Nothing more will be written, because all is or because the host is gone."""
        self._written.set()
        self._drained.set()


class _Source(asyncio.Protocol):
    def __init__(
        self, splitter: LineSplitter, on_line: Callable[[bytes | None], None], on_end: Callable[[], None]
    ) -> None:
        self._splitter = splitter
        self._on_line = on_line
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self._on_line(line)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class _Sink(asyncio.Protocol):
    def __init__(self, pipe: HostPipe, on_end: Callable[[], None]) -> None:
        self._pipe = pipe
        self._on_end = on_end

    def pause_writing(self) -> None:
        self._pipe.host_reads(False)

    def resume_writing(self) -> None:
        self._pipe.host_reads(True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pipe.all_written()
        self._on_end()


async def _reader(source: IO[bytes], protocol: asyncio.Protocol) -> asyncio.ReadTransport:
    if not _is_waitable(source.fileno()):
        return ThreadedReader(source, protocol)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, source)
    return transport


async def _writer(sink: IO[bytes], protocol: asyncio.BaseProtocol) -> asyncio.WriteTransport:
    if not _is_waitable(sink.fileno()):
        return ThreadedWriter(sink, protocol)
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: protocol, sink)
    return transport


def _is_waitable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor))


def _has_hung_up(descriptor: int) -> bool:
    """Whether nothing can come from there any more, without reading what may still be waiting.

    Windows can't be asked. A host that is gone there is noticed by writing to it, and one that kills us ends the jobs.
    """
    if sys.platform == "win32":
        gone = False
    else:
        poll = select.poll()
        poll.register(descriptor, getattr(select, "POLLRDHUP", 0))
        gone = any(event & ~select.POLLIN for _descriptor, event in poll.poll(0))
    return gone
