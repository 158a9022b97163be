"""The file in which a gateway that runs says how it fares."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from server.state_file import StateFile, running_gateways
from tests.support.waiting import until
from upstream_clients import JsonObject, process_birth


def own(folder: Path) -> Path:
    return folder / "gateways" / f"{os.getpid()}.json"


async def written(folder: Path, holds: str = "") -> JsonObject:
    """What the file says, once it says this."""
    await until(lambda: own(folder).exists() and holds in own(folder).read_text(encoding="utf-8"))
    document: JsonObject = json.loads(own(folder).read_bytes())
    return document


async def test_each_change_is_written_and_the_file_goes_with_its_process(tmp_path: Path) -> None:
    said = "first"
    state = StateFile(tmp_path / "state", lambda: {"upstreams": said})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(state.run)
        state.touch()
        first = await written(tmp_path / "state")
        modes = [
            stat.S_IMODE(path.stat().st_mode) for path in (own(tmp_path / "state"), tmp_path / "state" / "gateways")
        ]
        said = "second"
        state.touch()
        second = await written(tmp_path / "state", "second")
        tasks.cancel_scope.cancel()
    assert modes == [0o600, 0o700]
    assert set(first) == {"pid", "born", "written", "upstreams"}
    assert (first["pid"], first["upstreams"], second["upstreams"]) == (os.getpid(), "first", "second")
    assert list((tmp_path / "state" / "gateways").iterdir()) == []


async def test_nothing_is_written_without_a_change(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(StateFile(tmp_path / "state", dict).run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert not own(tmp_path / "state").parent.exists()


async def test_a_folder_that_can_not_be_written_only_warns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    state = StateFile(tmp_path / "state", dict)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(state.run)
        state.touch()
        await until(lambda: bool(caplog.records))
        tasks.cancel_scope.cancel()
    assert "the state file could not be written" in caplog.text
    assert running_gateways(tmp_path / "state") == []


def test_gateways_that_are_gone_or_make_no_sense_are_not_among_the_running(tmp_path: Path) -> None:
    folder = tmp_path / "gateways"
    folder.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive = {"pid": os.getpid(), "born": process_birth(os.getpid()), "n": 1}
    contents = {
        "alive": alive,
        "dead": {"pid": ended.pid},
        "reused": {"pid": os.getpid(), "born": "1"},
        "huge": {"pid": 10**22},
        "odd": {"pid": "x"},
        "list": [],
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "torn.json").write_text('{"pid": 1', encoding="utf-8")
    (folder / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    assert running_gateways(tmp_path) == [alive]
    assert not {"dead.json", "reused.json", "huge.json"} & set(os.listdir(folder))


def test_no_folder_is_no_gateway(tmp_path: Path) -> None:
    assert running_gateways(tmp_path / "none") == []
