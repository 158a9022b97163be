import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import ConfigError, Input, Settings, forget_input, load, store_input, stored_inputs

INPUTS = [
    {"id": "api-key", "type": "promptString", "description": "Key for the maps", "password": True, "default": "no"},
    {"id": "region", "type": "pickString", "options": ["eu", {"label": "States", "value": "us"}], "default": "eu"},
    {"id": "name", "type": "promptString", "description": "Name"},
    {"id": "made", "type": "command", "command": "make"},
]


def file_with(*references: str, **entry: object) -> dict[str, object]:
    return {"inputs": INPUTS, "servers": {"a": {"command": "x", "args": [*references], **entry}}}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"TOOLFOLD_STATE_DIR": str(tmp_path / "state")}


def test_the_environment_answers_before_the_store_and_the_store_before_anybody_is_asked(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    path = write(file_with("${input:api-key}", "${input:region}", "${input:name}"))
    store_input(environ, "api-key", "stored-key")
    store_input(environ, "region", "us")
    asked: list[Input] = []

    def ask(wanted: Input) -> str:
        asked.append(wanted)
        return "typed"

    answers = {**environ, "TOOLFOLD_INPUT_API_KEY": "from-the-environment"}
    assert load([path], answers, tmp_path, ask).servers[0].args == ("from-the-environment", "us", "typed")
    assert load([path], environ, tmp_path, ask).servers[0].args == ("stored-key", "us", "typed")
    assert asked == [Input("name", "Name", is_secret=False)] * 2


def test_nobody_is_asked_twice_nor_for_a_server_that_is_switched_off(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    asked: list[str] = []

    def ask(wanted: Input) -> str | None:
        asked.append(wanted.id)
        return None

    servers = {
        "a": {"command": "x", "args": ["${input:name}", "${input:name}"]},
        "b": {"command": "x", "env": {"A": "${input:name}"}},
        "off": {"command": "x", "args": ["${input:made}"], "disabled": True},
    }
    read = load([write({"inputs": INPUTS, "servers": servers})], environ, tmp_path, ask)
    assert asked == ["name"]
    assert ["has no answer" in server.problem for server in read.servers] == [True, True, True]
    assert [finding.severity for finding in read.findings] == ["error", "error", "note"]


def test_only_the_entry_that_is_asked_for_is_asked_about(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    asked: list[str] = []

    def ask(wanted: Input) -> str:
        asked.append(wanted.id)
        return "typed"

    servers = {
        "My Maps": {"command": "x", "args": ["${input:name}"]},
        "b": {"command": "x", "args": ["${input:made}"]},
    }
    path = write({"inputs": INPUTS, "servers": servers})
    for ask_for, ids in (("My Maps", ["name"]), ("b", ["made"]), ("", ["name", "made"]), ("nobody", [])):
        asked.clear()
        load([path], environ, tmp_path, ask, ask_for)
        assert asked == ids


def test_a_store_that_could_not_be_read_again_is_not_written(environ: dict[str, str]) -> None:
    store_input(environ, "name", "one")
    with pytest.raises(ConfigError):
        store_input(environ, "huge", "x" * (1024 * 1024))
    assert stored_inputs(environ) == {"name": "one"}
    assert (forget_input(environ, "name"), forget_input(environ, "name"), stored_inputs(environ)) == (True, False, {})


def test_an_input_without_an_answer_marks_its_entry_with_the_exact_way_out(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    (entry,) = load([write(file_with("${input:api-key}"))], environ, tmp_path).servers
    assert entry.problem == (
        "`${input:api-key}` has no answer: Key for the maps. Run `toolfold config input set api-key`, "
        "or set the environment variable TOOLFOLD_INPUT_API_KEY where toolfold is started."
    )


def test_what_the_file_offers_counts_last_and_never_for_a_secret(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    read = load([write(file_with("${input:region}"))], environ, tmp_path)
    assert (read.servers[0].args, read.servers[0].problem) == (("eu",), "")
    assert "api-key" in load([write(file_with("${input:api-key}"))], environ, tmp_path).servers[0].problem


def test_an_answer_is_redacted_unless_the_file_says_that_it_is_no_secret(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    answers = {
        "TOOLFOLD_INPUT_API_KEY": "key-hunter2",
        "TOOLFOLD_INPUT_NAME": "name-hunter2",
        "TOOLFOLD_INPUT_UNDECLARED": "undeclared-hunter2",
    }
    path = write(file_with("${input:api-key}", "--n", "${input:name}", "x${input:undeclared}"))
    read = load([path], {**environ, **answers}, tmp_path)
    assert read.servers[0].secrets == {"key-hunter2", "undeclared-hunter2"}
    assert "hunter2" not in repr(read)


def test_an_answer_is_not_expanded_again(write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]) -> None:
    answers = {"TOOLFOLD_INPUT_NAME": "${HOME} ${input:name}", "HOME": "/home/ann"}
    assert load([write(file_with("${input:name}"))], {**environ, **answers}, tmp_path).servers[0].args == (
        "${HOME} ${input:name}",
    )


def test_inputs_work_beside_every_root(settings_of: Callable[..., Settings]) -> None:
    entry = {"command": "x", "args": ["${input:name}"]}
    assert settings_of({"mcpServers": {"a": entry}}, TOOLFOLD_INPUT_NAME="ann").servers[0].args == ("ann",)


@pytest.mark.skipif(os.name != "posix", reason="mode bits are POSIX")
def test_stored_answers_are_private_and_a_store_that_is_not_is_not_read(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str]
) -> None:
    store_input(environ, "name", "one")
    store_input(environ, "other", "two")
    store = tmp_path / "state/inputs.json"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    path = write(file_with("${input:name}"))
    assert load([path], environ, tmp_path).servers[0].args == ("one",)
    store.chmod(0o602)
    read = load([path], environ, tmp_path)
    assert [(finding.severity, finding.code) for finding in read.findings] == [
        ("warning", "stored_inputs"), ("error", "input_not_answered")
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["{", "[]", '{"name": 3}', "[" * 100_000])
def test_a_damaged_store_answers_nothing_and_stops_nothing(
    write: Callable[..., Path], tmp_path: Path, environ: dict[str, str], content: str
) -> None:
    path = write(file_with("${input:name}"))
    write(content, "state/inputs.json")
    assert "has no answer" in load([path], environ, tmp_path).servers[0].problem


@pytest.mark.parametrize("inputs", [{}, "x", [1], [{"type": "promptString"}]])
def test_inputs_of_a_wrong_type_are_warned_about(settings_of: Callable[..., Settings], inputs: object) -> None:
    read = settings_of({"inputs": inputs, "servers": {"a": {"command": "x"}}})
    assert [(finding.severity, finding.code) for finding in read.findings] == [("warning", "wrong_type")]


TERMINAL = """
import os, pty, sys
program, awaited, typed = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.executable, [sys.executable, "-P", "-c", program])
shown, sent = b"", False
try:
    while part := os.read(terminal, 4096):
        shown += part
        if not sent and awaited.encode() in shown:
            sent = bool(os.write(terminal, typed.encode()))
except OSError:
    pass
os.waitpid(child, 0)
print(shown.decode())
"""


def shown_at_a_terminal(wanted: str, awaited: str, typed: str) -> str:
    program = f"""
from server.config.asking import ask_on_terminal
from server.config.inputs import Input
print("answer:", repr(ask_on_terminal({wanted})), sep="")
"""
    project = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", TERMINAL, program, awaited, typed],
        cwd=project, env={**os.environ, "PYTHONPATH": str(project)}, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(
    ("wanted", "typed", "answer"),
    [
        ("Input('n', 'Name', is_secret=False)", "ann\n", "'ann'"),
        ("Input('n', 'Name', is_secret=False, default='bob')", "\n", "'bob'"),
        ("Input('n', 'Name', is_secret=False)", "\n", "None"),
        ("Input('n', 'Name', is_secret=False)", "\x04", "None"),
        ("Input('n', '', is_secret=False, options=('eu', 'us'))", "2\n", "'us'"),
        ("Input('n', '', is_secret=False, options=('eu', 'us'))", "us\n", "'us'"),
        ("Input('n', '', is_secret=False, options=('eu', 'us'), default='eu')", "\n", "'eu'"),
        ("Input('n', '', is_secret=False, options=('eu', 'us'))", "0\nmars\n9\n", "None"),
    ],
)
def test_a_person_at_a_terminal_is_asked(wanted: str, typed: str, answer: str) -> None:
    assert f"answer:{answer}" in shown_at_a_terminal(wanted, "(n)", typed)


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
def test_a_secret_is_not_shown_while_it_is_typed() -> None:
    shown = shown_at_a_terminal("Input('n', 'Key')", "(hidden)", "hunter2\n")
    assert shown.count("hunter2") == 1
    assert "answer:'hunter2'" in shown


def test_without_a_terminal_nobody_is_asked() -> None:
    program = (
        "from server.config.asking import ask_on_terminal; from server.config.inputs import Input;"
        "print(ask_on_terminal(Input('x')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2], input="typed\n", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("None\n", "")
