"""However a gateway ends, nothing that it started is left, and no question of its host stays without an answer."""

import os
import signal
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.support.hosts import Host, open_host, part
from tests.support.processes import all_gone, all_there, descendants, running
from tests.support.upstreams import Script, entry, received, write_config
from tests.support.waiting import until


def unruly(folder: Path, marker: str) -> Path:
    """Upstreams that end badly, with grandchildren that hold the pipes, ignore signals or leave their group."""
    return write_config(
        folder,
        {
            "plain": entry(marker=marker, tools=3),
            "stubborn": entry(marker=marker, tools=3, ignore_eof=True, ignore_sigterm=True),
            "parent": entry(marker=marker, tools=3, children=["holding", "detached", "escaped"]),
            "worst": entry(
                marker=marker, ignore_eof=True, ignore_sigterm=True, children=["holding", "detached", "holding"]
            ),
            "hangs": entry(marker=marker, hang=True, ignore_sigterm=True),
            "crashes": entry(marker=marker, exit=1),
            "orphans": entry(marker=marker, children=["holding"], on={"tools/list": {"do": "crash"}}),
        },
        {"startup": {"concurrency": 8}},
    )


async def end(host: Host, way: str) -> None:
    if way == "closed input":
        await host.close_input()
    else:
        os.kill(host.process.pid, signal.Signals[way])


@pytest.mark.parametrize(
    ("way", "code"), [("closed input", 0), ("SIGTERM", 0), ("SIGINT", 0), ("SIGHUP", 0), ("SIGKILL", -signal.SIGKILL)]
)
async def test_nothing_is_left_running(way: str, code: int, tmp_path: Path, marker: str) -> None:
    async with open_host(unruly(tmp_path, marker)) as host:
        await host.ask("tools/list")
        await anyio.to_thread.run_sync(all_there, marker, 10)
        await until(lambda: len(descendants(host.process.pid)) >= 10)  # one of them ends and is started again
        family = descendants(host.process.pid)
        await end(host, way)
        assert await host.ended() == code
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}
        await until(lambda: running(family) == set())  # the watchdog, too


async def test_nothing_is_left_when_the_gateways_whole_group_is_killed(tmp_path: Path, marker: str) -> None:
    async with open_host(unruly(tmp_path, marker)) as host:
        await anyio.to_thread.run_sync(all_there, marker, 10)
        os.killpg(host.process.pid, signal.SIGKILL)
        await host.ended()
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize("way", ["closed input", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("started", [0, 1, 8])
async def test_an_end_in_the_middle_of_the_start_leaves_nothing_running(
    way: str, started: int, tmp_path: Path, marker: str
) -> None:
    servers = {f"u{number}": entry(marker=marker, tools=20, children=["holding"]) for number in range(12)}
    async with open_host(write_config(tmp_path, servers), era="ungreeted") as host:
        if started:
            await anyio.to_thread.run_sync(all_there, marker, started)
        await end(host, way)
        await host.ended()
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}
    assert "Traceback" not in host.stderr


async def test_a_second_signal_ends_at_once_and_leaves_nothing_running(tmp_path: Path, marker: str) -> None:
    async with open_host(unruly(tmp_path, marker)) as host:
        await anyio.to_thread.run_sync(all_there, marker, 10)
        await end(host, "SIGTERM")
        await host.said("SIGTERM")
        await end(host, "SIGTERM")
        assert await host.ended() in (0, -signal.SIGTERM)
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize("way", ["closed input", "SIGTERM"])
async def test_calls_under_way_are_answered_that_the_gateway_drains(way: str, tmp_path: Path, marker: str) -> None:
    log = tmp_path / "log"
    config = write_config(tmp_path, {"slow": entry(marker=marker, does={"never": {"do": "never"}}, log=str(log))})
    async with open_host(config) as host:
        calls = [await host.post_call("tool_call", {"id": "mcp:slow:never", "args": {}}) for _ in range(5)]
        await until(lambda: methods(log).count("tools/call") == 5)
        await end(host, way)
        answers = [await host.answer(number) for number in calls]
        assert await host.ended() == 0
    errors = [part(answer, "error") for answer in answers]
    assert [error["code"] for error in errors] == [-32000] * 5
    assert all(str(error["message"]).startswith("draining") for error in errors)
    assert methods(log).count("notifications/cancelled") == 5


def methods(log: Path) -> list[object]:
    return [message["method"] for message in received(log)]


async def test_a_gateway_in_development_mode_complains_of_no_leak(tmp_path: Path, marker: str) -> None:
    does: dict[str, Script] = {
        "never": {"do": "never"},
        "crash": {"do": "crash"},
        "big": {"do": "text", "bytes": 999_999},
    }
    config = write_config(
        tmp_path,
        {"a": entry(marker=marker, does=does), "b": entry(marker=marker, hang=True), "c": entry(marker=marker, exit=1)},
    )
    async with open_host(config, added={"PYTHONDEVMODE": "1"}) as host:
        for name in ("big", "crash"):
            await host.call("tool_call", {"id": f"mcp:a:{name}", "args": {}})
        under_way = await host.post_call("tool_call", {"id": "mcp:a:never", "args": {}})
        await host.close_input()
        await host.answer(under_way)
        assert await host.ended() == 0
    for complaint in ("ResourceWarning", "was destroyed", "never retrieved", "never awaited", "Traceback"):
        assert complaint not in host.stderr


async def test_a_host_that_reads_no_more_does_not_keep_the_gateway(tmp_path: Path, marker: str) -> None:
    config = write_config(tmp_path, {"a": entry(marker=marker, does={"big": {"do": "text", "bytes": 60_000}})})
    async with open_host(config) as host:
        await host.call("tool_call", {"id": "mcp:a:big", "args": {}})
        host.stop_reading()
        for _ in range(20):
            await host.post_call("tool_call", {"id": "mcp:a:big", "args": {}})
        await host.close_input()
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}
        host.read_on()
        assert await host.ended() == 0
