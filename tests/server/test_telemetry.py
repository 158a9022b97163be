"""What is reported of searches, describes and calls, what of it reaches the session log, and what never does."""

import json
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

import server.session_log as session_log
from server.cli.sessions import read_records, summaries
from server.session_log import SessionLog
from server.telemetry import Event, Operation
from tests.support.gateways import Opened, gateway
from tests.support.hosts import open_host
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

CANARY = "canary-5ec2e7"
DOES = {"echo": {"do": "echo"}, "fails": {"do": "error", "text": "no"}}


@pytest.fixture
async def opened(tmp_path: Path, events: list[Event]) -> AsyncIterator[Opened]:
    settings = {"directTools": ["mcp:one:fails"], "clientTools": [{"name": "own", "description": "The host's."}]}
    async with gateway(tmp_path, {"one": entry(does=DOES)}, settings, sinks=(events.append,)) as opened:
        yield opened


@pytest.fixture
def events() -> list[Event]:
    return []


async def test_each_operation_is_one_event_whatever_comes_of_it(opened: Opened, events: list[Event]) -> None:
    await opened.search("echo")
    await opened.ask("tool_search", {"queries": ["echo", "own"]})
    await opened.describe("echo")
    await opened.call("echo", {"text": CANARY})
    await opened.ask("fails")
    await opened.call("own")
    await opened.call(CANARY)
    await opened.ask("tool_search", {"query": ""})
    told = [(e.kind, e.via, e.outcome, e.ids) for e in events if isinstance(e, Operation)]
    found = ("mcp:one:echo",)
    assert told == [
        ("search", "tools", "ok", told[0][3]),
        ("search", "tools", "ok", told[1][3]),
        ("describe", "tools", "ok", found),
        ("call", "tools", "ok", found),
        ("call", "direct", "tool_error", ("mcp:one:fails",)),
        ("call", "tools", "client_tool", ("client:client:own",)),
        ("call", "tools", "unknown_tool", ()),
        ("search", "tools", "invalid_arguments", ()),
    ]
    assert told[0][3][0] == "mcp:one:echo"
    assert {"mcp:one:echo", "client:client:own"} <= set(told[1][3])
    called = events[3]
    assert isinstance(called, Operation)
    assert called.answered_bytes == len(CANARY)
    assert CANARY not in repr(events)


async def test_a_session_log_is_private_and_answers_what_was_done(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"one": entry(does=DOES)}, {"log": {"sessionDir": "logs"}})
    folder = tmp_path / "toolfold-state" / "logs"
    async with open_host(config) as host:
        await host.ask("tools/list")
        await until(lambda: '"catalogue":2' in read(folder))
        await host.call("tool_search", {"query": f"echo {CANARY}"})
        await host.call("tool_call", {"id": "echo", "args": {"text": CANARY}})
        await host.leave()
    assert CANARY not in read(folder)
    [path] = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [session] = summaries(read_records(folder))
    assert session["counts"] == {"search": 1, "describe": 0, "call": 1, "code": 0}
    assert session["sources"] == {"mcp": 1}
    assert session["catalogue"] == {"tools": 2, "sources": {"mcp": 2}}


async def test_a_call_that_is_under_way_when_the_host_leaves_is_in_the_log(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    one = entry(does={"wait": {"do": "never"}}, log=str(asked))
    async with open_host(write_config(tmp_path, {"one": one})) as host:
        await host.post_call("tool_call", {"id": "mcp:one:wait"})
        await until(lambda: "tools/call" in [message["method"] for message in received(asked)])
        await host.leave()
    [session] = summaries(read_records(tmp_path / "toolfold-state" / "sessions"))
    assert (session["chosen"], session["outcomes"]) == ({"mcp:one:wait": 1}, {"given_up": 1})


def read(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("*.jsonl"))


async def test_no_log_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"one": entry(does=DOES)}, {"log": {"sessionDir": False}})
    async with open_host(config) as host:
        await host.call("tool_search", {"query": "echo"})
    assert list((tmp_path / "toolfold-state").glob("**/*.jsonl")) == []


def operation(number: int) -> Operation:
    return Operation("call", "tools", "ok", (f"mcp:one:tool{number}",), 0.001, 10, 1.0)


async def test_the_log_is_bounded_and_what_is_lost_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, bound in {"FILE_BYTES": 2000, "ALL_BYTES": 8000, "WAITING": 30, "SPACING_SECONDS": 0}.items():
        monkeypatch.setattr(session_log, name, bound)
    log = SessionLog(tmp_path / "logs")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.run)
        for round_ in range(12):
            for number in range(40):
                log.take(operation(round_ * 100 + number))
            await until(lambda: repr(log).endswith(" 0 waiting>"))
        tasks.cancel_scope.cancel()
    files = sorted((tmp_path / "logs").iterdir())
    assert sum(path.stat().st_size for path in files) <= 8000 + 4000
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert {line["events"] for line in lines if line["kind"] == "lost"} == {10}
    assert [line["kind"] for line in lines].count("session") == len(files)
    assert "mcp:one:tool1129" in read(tmp_path / "logs")


async def test_a_full_disk_costs_no_file_and_none_of_an_older_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, bound in {"ALL_FILES": 3, "SPACING_SECONDS": 0}.items():
        monkeypatch.setattr(session_log, name, bound)
    for number in range(2):
        (tmp_path / f"{number}.jsonl").write_text("{}\n")
    full: list[Path] = []

    def refuse(path: Path, _content: bytes) -> None:
        path.touch()
        full.append(path)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session_log, "append_file", refuse)
    log = SessionLog(tmp_path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.run)
        for number in range(5):
            log.take(operation(number))
            await until(lambda: len(full) > number)  # noqa: B023  (awaited here and now)
        tasks.cancel_scope.cancel()
    assert sorted(os.listdir(tmp_path))[:2] == ["0.jsonl", "1.jsonl"]
    assert len(os.listdir(tmp_path)) == 3
    assert caplog.text.count("could not be written") == 1


async def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    log = SessionLog(tmp_path / "file")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.run)
        log.take(operation(1))
        await until(lambda: "could not be written" in caplog.text)
        tasks.cancel_scope.cancel()
