"""When code is not run: no Node, an old or broken one, no engine or another one, something open. And what is remembered."""

import os
import shutil
from pathlib import Path

import pytest

from server.code import CodeRunner, Gate, Runtime, Verdict
from server.code.engine import LOADED, engine_folder
from server.code.judging import ATTEMPTS, open_doors
from server.code.node import INSTALL_NODE, Node
from server.code.run import Method

GOOD = {name: next(iter(good)) for name, good in ATTEMPTS.items()}


async def no_answer(_method: Method, _values: list[object]) -> object:
    raise NotImplementedError


def program(folder: Path, text: str) -> Path:
    path = folder / "node"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


async def test_without_a_node_it_says_what_to_install(data: Path, tmp_path: Path) -> None:
    gate = Gate(None, data, tmp_path)
    assert gate.known() == await gate.tried() == Verdict(None, "Node.js was not found", INSTALL_NODE)


async def test_without_an_engine_it_says_what_to_run(tmp_path: Path) -> None:
    gate = Gate(Path("/bin/sh"), tmp_path, tmp_path)
    assert gate.known() == Verdict(None, "the engine is not installed", "Run: toolfold code install")


@pytest.mark.parametrize(
    ("script", "why", "is_remembered"),
    [
        ("""echo '["/opt/node", "18.20.4"]'""", "Node 18.20.4 (/opt/node) is too old", True),
        ("exit 3", "{path} is no Node that works (it ended with 3)", False),
        ("echo hello", "{path} is no Node that works (it ended with 0)", False),
        ("""echo '["/opt/node", "latest"]'""", "{path} is no Node that works (it ended with 0)", False),
        ("""echo '["/nowhere/node", "22.23.5"]'""", "the isolated Node ended at its start", False),
        ("""echo '["/bin/false", "22.23.5"]'""", "the isolated Node ended at its start", False),
    ],
)
async def test_a_node_that_is_old_or_broken_is_refused(
    data: Path, tmp_path: Path, script: str, why: str, is_remembered: bool
) -> None:
    path = program(tmp_path, script)
    gate = Gate(path, data, tmp_path / "cache")
    verdict = await gate.tried()
    assert verdict.runtime is None
    assert verdict.why.startswith(why.format(path=path))
    assert gate.known() == (verdict if is_remembered else None)


async def test_a_node_that_has_no_such_permission_mode_is_refused(runtime: Runtime) -> None:
    if runtime.node.version >= (23,):
        pytest.skip("later ones still know the older flag")
    mistaken = Runtime(Node(runtime.node.program, (99, 0, 0)), runtime.engine)
    outcome = await CodeRunner(mistaken).run("return 1", no_answer, 5)
    assert outcome.failure is not None
    assert outcome.failure.code == "runtime_unavailable"


async def test_what_was_tried_is_known_from_then_on_without_a_process(
    node: Node, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(Path(node.program), data, tmp_path)
    assert gate.known() is None
    verdict = await gate.verdict()
    assert verdict == Verdict(Runtime(node, engine_folder(data)))
    monkeypatch.setattr("subprocess.Popen", NotImplemented)
    assert await gate.verdict() == gate.known() == Gate(Path(node.program), data, tmp_path).known() == verdict
    assert (tmp_path / "code" / "verdict.json").stat().st_mode & 0o777 == 0o600


async def test_another_node_at_the_same_place_is_tried_anew(node: Node, data: Path, tmp_path: Path) -> None:
    link = tmp_path / "node"
    link.symlink_to(node.program)
    gate = Gate(link, data, tmp_path / "cache")
    assert (await gate.verdict()).runtime is not None
    link.unlink()
    program(tmp_path, "exit 1")
    assert gate.known() is None
    assert (await gate.verdict()).runtime is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": 1}', b"\xff", b"[" * 100_000])
async def test_a_verdict_that_is_damaged_counts_as_none(node: Node, data: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "verdict.json").write_bytes(content)
    assert Gate(Path(node.program), data, tmp_path).known() is None


@pytest.mark.parametrize("name", LOADED)
async def test_an_engine_that_was_touched_is_not_run(runtime: Runtime, tmp_path: Path, name: str) -> None:
    engine = tmp_path / "engine"
    shutil.copytree(runtime.engine, engine)
    file = engine / name
    file.write_bytes(file.read_bytes() + b"\n")
    outcome = await CodeRunner(Runtime(runtime.node, engine)).run("return 1", no_answer, 5)
    assert outcome.failure is not None
    assert outcome.failure.code == "runtime_unavailable"
    assert outcome.failure.message == f"The engine's file {name} is not the one that was installed."


async def test_a_node_that_is_gone_is_an_error_and_no_weaker_run(runtime: Runtime, tmp_path: Path) -> None:
    link = tmp_path / "node"
    link.symlink_to(runtime.node.program)
    runner = CodeRunner(Runtime(Node(str(link), runtime.node.version), runtime.engine))
    assert (await runner.run("return 1", no_answer, 20)).value == 1
    link.unlink()
    gone = await runner.run("return 1", no_answer, 20)
    assert gone.failure is not None
    assert gone.failure.code == "runtime_unavailable"


def test_a_child_for_which_all_is_closed_is_isolated() -> None:
    assert open_doors({"type": "ready", "attempts": GOOD}, was_written=False) == []


@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.parametrize(
    "came", ["open", "ECONNREFUSED", "ENOENT", "ENETUNREACH", "false", "", None, True, 0, ["EPERM"]]
)
def test_any_other_end_of_an_attempt_is_an_open_door(name: str, came: object) -> None:
    assert len(open_doors({"type": "ready", "attempts": {**GOOD, name: came}}, was_written=False)) == 1


@pytest.mark.parametrize("ready", [{}, {"type": "ready"}, {"type": "ready", "attempts": []}, {"attempts": GOOD}])
def test_a_child_that_did_not_try_is_not_isolated(ready: dict[str, object]) -> None:
    assert open_doors(ready, was_written=False) == ["it did not try"]


def test_a_file_that_is_there_counts_more_than_what_was_said() -> None:
    assert open_doors({"type": "ready", "attempts": GOOD}, was_written=True) == ["files can be written"]


async def test_a_child_that_tells_of_an_open_door_is_given_no_code(runtime: Runtime, tmp_path: Path) -> None:
    script = tmp_path / "child.js"
    text = Path(__file__).with_name("hostile.js").read_text(encoding="utf-8")
    assert 'tcp: "EPERM"' in text
    script.write_text(text.replace('tcp: "EPERM"', 'tcp: "ECONNREFUSED"'), encoding="utf-8")
    hostile = Runtime(runtime.node, runtime.engine, script)
    outcome = await CodeRunner(hostile).run("fs.writeSync(1, 'never'); done('returned', '1')", no_answer, 5)
    assert outcome.failure is not None
    assert outcome.failure.code == "runtime_unavailable"
    assert outcome.failure.message == "The isolated Node is not isolated: TCP is open."


async def test_the_child_has_no_environment(runtime: Runtime, tmp_path: Path) -> None:
    script = tmp_path / "child.js"
    text = Path(__file__).with_name("hostile.js").read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8")
    assert os.environ["TOOLFOLD_STATE_DIR"]
    hostile = Runtime(runtime.node, runtime.engine, script)
    outcome = await CodeRunner(hostile).run("done('returned', JSON.stringify(process.env)); hang()", no_answer, 20)
    assert outcome.value == {}
