"""Pipes that no event loop can wait for, read and written by a thread each: Windows' own, files, and consoles.

To their protocols they are asyncio's transports; what a protocol hears, it hears on the event loop.

Laws
1. The next chunk is read once the protocol has the one before, so that one waits at most; none is handed on while paused.
2. `connection_lost` comes once, and after everything else.
3. The file is closed by its thread alone: closing it under a thread that waits there blocks on Windows. Such a thread ends
   when the other end does, and holds up nobody: it is a daemon.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

READ_BYTES: Final = 64 * 1024

HIGH_WATER_BYTES: Final = 64 * 1024
LOW_WATER_BYTES: Final = 16 * 1024
"""asyncio's own: over the first the protocol is asked to pause, under the second to go on."""


class ThreadedReader(asyncio.ReadTransport):
    """Reads from `source` until its end."""

    def __init__(self, source: IO[bytes], protocol: asyncio.Protocol) -> None:
        super().__init__({"pipe": source})
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._protocol = protocol
        self._go_on = threading.Event()
        self._go_on.set()
        self._held: bytes | None = None
        self._is_paused = False
        self._is_closing = False
        protocol.connection_made(self)
        threading.Thread(target=self._read, name="pipe reader", daemon=True).start()

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not (self._is_paused or self._is_closing)

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._loop.call_soon(self._hand_on)

    def close(self) -> None:
        self._is_closing = True
        self._held = None
        self._go_on.set()

    def _read(self) -> None:
        with suppress(OSError):  # the other end is gone: an end like any other
            while self._wait() and (chunk := self._source.read(READ_BYTES)):
                self._go_on.clear()
                _on(self._loop, self._take, chunk)
        self._source.close()
        _on(self._loop, self._protocol.connection_lost, None)

    def _wait(self) -> bool:
        self._go_on.wait()
        return not self._is_closing

    def _take(self, chunk: bytes) -> None:
        self._held = chunk
        self._hand_on()

    def _hand_on(self) -> None:
        if self._held is None or (self._is_paused and not self._is_closing):
            return
        chunk, self._held = self._held, None
        if not self._is_closing:
            self._protocol.data_received(chunk)
        self._go_on.set()


class ThreadedWriter(asyncio.WriteTransport):
    """Writes to `sink`. `close` lets everything be written first, `abort` nothing more."""

    def __init__(self, sink: IO[bytes], protocol: asyncio.BaseProtocol) -> None:
        super().__init__({"pipe": sink})
        self._loop = asyncio.get_running_loop()
        self._sink = sink
        self._protocol = protocol
        self._waiting: deque[bytes | None] = deque()  # None: the end
        self._something = threading.Semaphore(0)
        self._size = 0
        self._is_full = False
        self._is_closing = False
        self._is_aborted = False
        protocol.connection_made(self)
        threading.Thread(target=self._write, name="pipe writer", daemon=True).start()

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return self._size

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or not data:
            return
        self._size += len(data)
        self._add(bytes(data))
        if self._size > HIGH_WATER_BYTES and not self._is_full:
            self._is_full = True
            self._protocol.pause_writing()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._add(None)

    def abort(self) -> None:
        self._is_aborted = True
        self.close()

    def _add(self, chunk: bytes | None) -> None:
        self._waiting.append(chunk)
        self._something.release()

    def _next(self) -> bytes | None:
        self._something.acquire()
        chunk = self._waiting.popleft()
        return None if self._is_aborted else chunk

    def _write(self) -> None:
        fault: OSError | None = None
        try:
            while (chunk := self._next()) is not None:
                view = memoryview(chunk)
                while view and not self._is_aborted:
                    view = view[self._sink.write(view) :]
                _on(self._loop, self._written, len(chunk))
        except OSError as error:  # nobody reads any more
            fault = error
        with suppress(OSError):
            self._sink.close()
        _on(self._loop, self._lost, fault)

    def _written(self, size: int) -> None:
        self._size -= size
        if self._is_full and self._size <= LOW_WATER_BYTES:
            self._is_full = False
            self._protocol.resume_writing()

    def _lost(self, fault: OSError | None) -> None:
        self._is_closing = True
        self._waiting.clear()
        self._size = 0
        self._protocol.connection_lost(fault)


def _on(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: object) -> None:
    """Calls it on the event loop, if that still runs."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)
