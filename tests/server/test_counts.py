"""What one operation costs, counted: function calls in the gateway, and messages to the upstream. No clock decides."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.hosts import Host, open_host, text_of
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

MOST_CALLS = 900
PROFILED = (sys.executable, "-P", "-m", "tests.support.profiled", "serve")


async def started(host: Host, log: Path) -> None:
    """Returns once the SDK, the upstream and the index are all there."""
    await host.ask("tools/list")
    await until(lambda: len(received(log)) >= 3)
    await host.call("tool_search", {"query": "echo"})


async def function_calls(folder: Path, calls: int) -> int:
    """The function calls of a gateway's whole life with so many calls of echo in it."""
    log = folder / "log"
    config = write_config(folder, {"one": entry(log=str(log), does={"echo": {"do": "echo"}})})
    async with open_host(config, added={"COUNT_TO": str(folder / "count")}, command=PROFILED) as host:
        await started(host, log)
        for number in range(calls):
            result = await host.call("tool_call", {"id": "mcp:one:echo", "args": {"text": f"{number}"}})
            assert text_of(result) == f"{number}"
    return int((folder / "count").read_text())


async def one_call(folders: pytest.TempPathFactory) -> float:
    few = await function_calls(folders.mktemp("few"), 100)
    many = await function_calls(folders.mktemp("many"), 700)
    return (many - few) / 600


async def test_a_call_of_echo_takes_at_most_900_function_calls(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What runs on timers counts as well, and runs more often the longer a busy machine takes: the better of two."""
    assert await one_call(tmp_path_factory) <= MOST_CALLS or await one_call(tmp_path_factory) <= MOST_CALLS


async def test_an_operation_sends_one_message_upstream_or_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    config = write_config(tmp_path, {"one": entry(log=str(log), does={"echo": {"do": "echo"}})})
    async with open_host(config) as host:
        await started(host, log)
        sent = [len(received(log))]
        for name, arguments in (
            ("tool_call", {"id": "mcp:one:echo", "args": {"text": "x"}}),
            ("tool_search", {"query": "echo"}),
            ("tool_describe", {"id": "mcp:one:echo"}),
        ):
            for _ in range(5):
                await host.call(name, arguments)
            sent.append(len(received(log)))
        await host.leave()
    assert [after - before for before, after in pairwise(sent)] == [5, 0, 0]
    assert len(received(log)) == sent[-1]
