import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import pytest

from upstream_clients import JsonObject, ThreadedReader, UpstreamProtocolFault, dump
from upstream_clients.output import INLINE_PARSE_BYTES, LINES_PER_TURN, Output


class Reading:
    """An output that is read from a real pipe, and what came of it."""

    def __init__(self, limit: int) -> None:
        self.messages: list[JsonObject] = []
        self.faults: list[UpstreamProtocolFault] = []
        self.ends = 0
        self.over = anyio.Event()
        self.came = anyio.Event()
        self.output = Output(limit, self._message, self._fault, self._end)
        source, self.sink = os.pipe()
        self.source = os.fdopen(source, "rb", 0)
        self.transport: asyncio.ReadTransport | None = None

    async def write(self, content: bytes) -> None:
        await anyio.to_thread.run_sync(self._write, content)

    def _write(self, content: bytes) -> None:
        with os.fdopen(os.dup(self.sink), "wb", 0) as file:
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]

    def close(self) -> None:
        os.close(self.sink)
        self.sink = -1

    def is_reading(self) -> bool:
        assert isinstance(self.transport, ThreadedReader)  # pipes of CPython before 3.11.4 do not tell
        return self.transport.is_reading()

    def _message(self, message: JsonObject) -> None:
        self.messages.append(message)
        self.came.set()

    def _fault(self, fault: UpstreamProtocolFault) -> None:
        self.faults.append(fault)
        self.over.set()

    def _end(self) -> None:
        self.ends += 1
        self.over.set()


@asynccontextmanager
async def reading(limit: int = 4 << 20, *, in_thread: bool = False) -> AsyncIterator[Reading]:
    one = Reading(limit)
    if in_thread:
        transport: asyncio.ReadTransport = ThreadedReader(one.source, one.output)
    else:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: one.output, one.source)
    one.transport = transport
    try:
        with anyio.fail_after(30):
            yield one
    finally:
        if one.sink >= 0:
            one.close()
        transport.close()
        await asyncio.sleep(0)


def numbered(number: int, size: int = 0) -> JsonObject:
    return {"id": number, "text": "x" * size}


async def test_messages_keep_their_order_whatever_their_size() -> None:
    sizes = [0, INLINE_PARSE_BYTES + 1, 0, 0, 3 * INLINE_PARSE_BYTES, INLINE_PARSE_BYTES + 1, 0]
    sent = [numbered(number, size) for number, size in enumerate(sizes)]
    async with reading() as one:
        await one.write(b"".join(map(dump, sent)))
        one.close()
        await one.over.wait()
    assert one.messages == sent
    assert (one.faults, one.ends) == ([], 1)


async def test_many_lines_leave_the_loop_to_others() -> None:
    lines = 40 * LINES_PER_TURN
    async with reading() as one:
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while not one.over.is_set():
                turns += 1
                await asyncio.sleep(0)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count_turns)
            await one.write(b"{}\n" * lines)
            one.close()
    assert len(one.messages) == lines
    assert turns >= 40


@pytest.mark.parametrize(
    "line", [b'{"a":"\xff"}\n', b'{"a":NaN}\n', b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n", b"{" + b"x" * 9999]
)
async def test_after_a_fault_nothing_is_handed_on(line: bytes) -> None:
    async with reading(limit=9999) as one:
        await one.write(b'{"id":1}\n' + line)
        await one.over.wait()
        one.output.data_received(b'{"id":2}\n')
        one.close()
    assert one.messages == [{"id": 1}]
    assert (len(one.faults), one.ends) == (1, 0)


async def test_a_fault_in_a_big_line_is_found_in_the_thread() -> None:
    async with reading() as one:
        await one.write(b'{"a":"%s","b":NaN}\n{"id":2}\n' % (b"x" * INLINE_PARSE_BYTES))
        await one.over.wait()
    assert (one.messages, len(one.faults)) == ([], 1)


async def test_nothing_more_is_read_while_a_big_line_is_being_parsed() -> None:
    async with reading(in_thread=True) as one:
        one.output.data_received(dump(numbered(1, 2 << 20)) + dump(numbered(2)))
        assert not one.is_reading()
        assert one.messages == []
        await one.came.wait()
        assert one.messages == [numbered(1, 2 << 20), numbered(2)]
        assert one.is_reading()


async def test_banners_are_skipped_and_counted() -> None:
    async with reading() as one:
        await one.write(b'Starting v1...\n\n[debug] {"a":1}\n{"id":1}\n')
        one.close()
        await one.over.wait()
    assert (one.messages, one.output.skipped_lines, one.faults) == ([{"id": 1}], 2, [])


async def test_half_a_line_at_the_end_is_no_message() -> None:
    async with reading() as one:
        await one.write(b'{"id":1}\n{"id":2}')
        one.close()
        await one.over.wait()
    assert (one.messages, one.ends) == ([{"id": 1}], 1)


async def test_the_end_waits_for_a_message_that_is_still_being_parsed() -> None:
    async with reading() as one:
        one.output.data_received(dump(numbered(1, 2 << 20)))
        one.output.finish()  # the process has ended, but the pipe is held open by another
        one.output.finish()
        await one.over.wait()
    assert (one.messages, one.ends) == ([numbered(1, 2 << 20)], 1)


async def test_what_comes_after_stop_is_read_and_thrown_away() -> None:
    async with reading() as one:
        await one.write(dump(numbered(1, 2 << 20)))
        one.output.stop()
        await one.write(dump(numbered(2)) * 100_000)  # would block for ever if nobody read it
    assert (one.messages, one.faults, one.ends) == ([], [], 0)
