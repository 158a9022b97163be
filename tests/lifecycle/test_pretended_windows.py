"""A whole gateway that reads, starts and ends as on Windows: threads for every pipe, a job for each child."""

import sys
from pathlib import Path

import anyio
import anyio.to_thread

from tests.support.hosts import open_host, part, text_of
from tests.support.processes import all_there
from tests.support.upstreams import Options, entry, write_config

COMMAND = (sys.executable, "-P", "-m", "tests.support.pretended_windows", "serve")


async def test_as_on_windows_calls_go_through_and_nothing_is_left(tmp_path: Path, marker: str) -> None:
    echo: Options = {"does": {"echo": {"do": "echo"}}, "marker": marker}
    stubborn: Options = {**echo, "children": ["holding"], "ignore_eof": True}
    config = write_config(tmp_path, {"one": entry(**echo), "two": entry(**stubborn)})
    async with open_host(config, command=COMMAND) as host:
        for upstream in ("one", "two"):
            result = await host.call("tool_call", {"id": f"mcp:{upstream}:echo", "args": {"text": upstream}})
            assert text_of(result) == upstream
        assert len(await anyio.to_thread.run_sync(all_there, marker, 3)) == 3
    assert host.process.returncode == 0


async def test_as_on_windows_a_host_that_does_not_read_for_a_while_gets_every_answer(tmp_path: Path) -> None:
    big = entry(does={"big": {"do": "text", "text": "x" * 60_000}})
    async with open_host(write_config(tmp_path, {"one": big}), command=COMMAND) as host:
        await host.call("tool_call", {"id": "mcp:one:big"})
        host.stop_reading()
        asked = [await host.post_call("tool_call", {"id": "mcp:one:big"}) for _ in range(8)]
        host.read_on()
        answers = [text_of(part(await host.answer(number), "result")) for number in asked]
    assert answers == ["x" * 60_000] * 8
    assert host.process.returncode == 0
