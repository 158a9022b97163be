"""A host that does not read what it is sent is not read from, and costs no memory."""

import json
from collections.abc import Mapping
from pathlib import Path

import anyio

from tests.support.hosts import hold_sdk, open_host, part, text_of
from tests.support.processes import resident_bytes
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

FLOOD: list[Mapping[str, object]] = [
    {
        "do": "notify",
        "method": "notifications/progress",
        "params": {"progressToken": "TOKEN", "progress": 1, "message": "x" * 4000},
        "times": 10_000,
    },
    {"do": "change"},
    {"do": "text", "text": "flooded"},
]


async def test_a_host_that_does_not_read_is_not_read_from_and_costs_no_memory(tmp_path: Path) -> None:
    batches, lines = 120, 50
    listing = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/list"}\n'
    async with open_host(write_config(tmp_path, {}), added=hold_sdk(tmp_path)) as host:
        await host.ask("tools/list")
        before, sent = resident_bytes(host.process.pid), []

        async def flood() -> None:
            for batch in range(batches):
                await host.write(b"".join(listing % (1000 + batch * lines + line) for line in range(lines)))
                sent.append(batch)

        host.stop_reading()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(flood)
            looks = [-1]
            while len(looks) < 40 or looks[-1] != looks[-40]:  # 0.4 s without any batch going through
                await anyio.sleep(0.01)
                looks.append(len(sent))
            assert len(sent) < batches
            assert resident_bytes(host.process.pid) - before < 8 << 20
            host.read_on()
        last = await host.answer(1000 + batches * lines - 1)
        answered = [message["id"] for message in host.received if isinstance(message.get("id"), int)]
    assert "result" in last
    assert answered[-batches * lines :] == list(range(1000, 1000 + batches * lines))


async def test_progress_that_a_host_does_not_read_costs_no_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"
    # the fourth message that this upstream gets is the call, and its third request: that is its token
    flood = json.loads(json.dumps(FLOOD).replace('"TOKEN"', "3"))
    config = write_config(tmp_path, {"one": entry(log=str(log), does={"flood": flood})})
    async with open_host(config) as host:
        await host.call("tool_search", {"query": "flood"})
        await until(lambda: len(received(log)) == 3)
        before = resident_bytes(host.process.pid)
        host.stop_reading()
        asked = await host.post_call("tool_call", {"id": "mcp:one:flood"}, {"progressToken": 1})
        await until(lambda: len(received(log)) == 5)  # it has been read to its end: the change was heard
        grown = resident_bytes(host.process.pid) - before
        host.read_on()
        assert text_of(part(await host.answer(asked), "result")) == "flooded"
        heard = [message for message in host.received if message.get("method") == "notifications/progress"]
    assert grown < 16 << 20
    assert 0 < len(heard) < 500  # what fits into the buffers on its way; the next progress says more


async def test_a_host_that_has_stopped_reading_and_goes_ends_the_gateway(tmp_path: Path) -> None:
    big = entry(does={"big": {"do": "text", "text": "x" * 60_000}})
    async with open_host(write_config(tmp_path, {"one": big})) as host:
        await host.call("tool_call", {"id": "mcp:one:big"})
        host.stop_reading()
        for _ in range(8):  # more than the pipe and the buffers hold
            await host.post_call("tool_call", {"id": "mcp:one:big"})
        await host.close_input()
        with anyio.fail_after(10):
            await host.process.wait()
    assert host.process.returncode == 0
