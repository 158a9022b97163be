"""Pipes that are read and written by threads behave as those that the event loop waits for."""

import asyncio
import os
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.support.fleets import LONG_SECONDS
from tests.support.waiting import until
from upstream_clients import ThreadedReader, ThreadedWriter
from upstream_clients.platform.threaded_pipes import HIGH_WATER_BYTES, READ_BYTES


class Heard(asyncio.Protocol):
    """What a protocol hears, in order. Everything must be said on the loop's own thread."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.content = b""
        self.over = anyio.Event()
        self._thread = threading.get_ident()

    def _hear(self, word: str) -> None:
        assert threading.get_ident() == self._thread
        self.words.append(word)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._hear("made")

    def data_received(self, data: bytes) -> None:
        self._hear("data")
        self.content += data

    def pause_writing(self) -> None:
        self._hear("pause")

    def resume_writing(self) -> None:
        self._hear("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self._hear("lost" if exc is None else type(exc).__name__)
        self.over.set()


def pipe() -> tuple[int, int]:
    return os.pipe()


async def over(heard: Heard) -> None:
    with anyio.fail_after(LONG_SECONDS):
        await heard.over.wait()


async def test_what_was_written_comes_out_in_order_and_then_the_end() -> None:
    source, sink = pipe()
    reading, writing = Heard(), Heard()
    ThreadedReader(os.fdopen(source, "rb", 0), reading)
    writer = ThreadedWriter(os.fdopen(sink, "wb", 0), writing)
    sent = [bytes([number]) * (number * 50) for number in range(200)]
    for chunk in sent:
        writer.write(chunk)
    assert writer.get_write_buffer_size() > HIGH_WATER_BYTES
    writer.close()
    writer.write(b"too late")
    await over(reading)
    await over(writing)
    assert reading.content == b"".join(sent)
    assert writing.words == ["made", "pause", "resume", "lost"]
    assert (reading.words[0], set(reading.words[1:-1]), reading.words[-1]) == ("made", {"data"}, "lost")
    assert (writer.get_write_buffer_size(), writer.is_closing()) == (0, True)


async def test_of_a_paused_pipe_one_chunk_is_read_at_most_and_nothing_handed_on() -> None:
    source, sink = pipe()
    heard = Heard()
    reader = ThreadedReader(os.fdopen(source, "rb", 0), heard)
    reader.pause_reading()
    assert not reader.is_reading()
    filling = threading.Thread(target=_write_all, args=(sink, b"x" * (8 * READ_BYTES)))
    filling.start()
    held = reader._held
    with anyio.fail_after(LONG_SECONDS):
        while held is None:
            await anyio.sleep(0.001)
            held = reader._held
    await asyncio.sleep(0)
    assert (heard.words, filling.is_alive()) == (["made"], True)
    reader.resume_reading()
    await over(heard)
    await anyio.to_thread.run_sync(filling.join)
    assert heard.content == b"x" * (8 * READ_BYTES)


async def test_nothing_is_lost_when_reading_is_paused_again_before_a_chunk_has_been_handed_on() -> None:
    source, sink = pipe()
    heard = Heard()
    reader = ThreadedReader(os.fdopen(source, "rb", 0), heard)
    reader.pause_reading()
    reader.resume_reading()
    asyncio.get_running_loop().call_soon(reader.pause_reading)
    content = b"".join(bytes([number]) * READ_BYTES for number in range(4))
    filling = threading.Thread(target=_write_all, args=(sink, content))
    filling.start()
    while reader._go_on.is_set():  # not one turn of the loop before the first chunk has been read
        pass
    await until(lambda: reader._held is not None)
    reader.resume_reading()
    await over(heard)
    await anyio.to_thread.run_sync(filling.join)
    assert heard.content == content


def _write_all(sink: int, content: bytes) -> None:
    with os.fdopen(sink, "wb") as file:
        file.write(content)


async def test_a_reader_that_was_closed_says_no_more_than_that() -> None:
    source, sink = pipe()
    heard = Heard()
    reader = ThreadedReader(os.fdopen(source, "rb", 0), heard)
    reader.close()
    os.write(sink, b"unheard")
    os.close(sink)
    await over(heard)
    assert heard.words == ["made", "lost"]


@pytest.mark.parametrize("ends", ["close", "abort"])
async def test_a_writer_whose_reader_is_gone_ends_with_an_error(ends: str) -> None:
    source, sink = pipe()
    heard = Heard()
    writer = ThreadedWriter(os.fdopen(sink, "wb", 0), heard)
    writer.write(b"x" * (1 << 20))  # more than a pipe takes: the thread waits
    if ends == "abort":
        writer.abort()
    os.close(source)
    await over(heard)
    assert heard.words[:2] == ["made", "pause"]
    assert heard.words[-1] in {"BrokenPipeError", "lost" if ends == "abort" else "BrokenPipeError"}
    assert writer.is_closing()


async def test_what_waits_is_not_written_after_an_abort() -> None:
    source, sink = pipe()
    heard = Heard()
    writer = ThreadedWriter(os.fdopen(sink, "wb", 0), heard)
    writer.write(b"x" * (1 << 20))
    writer.write(b"never")
    writer.abort()
    reader = Heard()
    ThreadedReader(os.fdopen(source, "rb", 0), reader)
    await over(heard)
    await over(reader)
    assert b"never" not in reader.content


async def test_a_file_is_read_to_its_end_and_closed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content" * READ_BYTES)
    file, heard = (tmp_path / "file").open("rb", 0), Heard()
    ThreadedReader(file, heard)
    await over(heard)
    assert heard.content == b"content" * READ_BYTES
    await until(lambda: file.closed)
