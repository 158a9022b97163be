"""`${input:id}` on the command line: asked for at a terminal, stored when agreed, set, listed and forgotten."""

import json
import stat
from pathlib import Path
from typing import Final

import pytest

from tests.support.cli_runs import Ran, at_a_terminal, toolfold
from tests.support.upstreams import entry

SECRET: Final = "hunter2-hunter2-hunter2"
ASKED: Final = "Key for the maps (maps-key)"
KEEP: Final = "Keep it for the next time"
CALL: Final = ("call", "mcp:maps:tell", "--json")
INPUTS: Final = [
    {"id": "maps-key", "type": "promptString", "description": "Key for the maps", "password": True},
    {"id": "other", "type": "promptString", "description": "Other"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a file as VS Code writes it: a server that tells its environment, and one that wants another input."""
    maps = {**entry(does={"tell": {"do": "environment"}}), "env": {"MAPS": "${input:maps-key}"}}
    servers = {"maps": maps, "other": {**entry(), "env": {"OTHER": "${input:other}"}}}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"inputs": INPUTS, "servers": servers}), encoding="utf-8")
    path.chmod(0o600)
    return tmp_path


def given(ran: Ran) -> object:
    """What the server got."""
    content = ran.json()["structuredContent"]
    assert isinstance(content, dict)
    return content["env"]["MAPS"]


def test_a_secret_is_asked_for_at_a_terminal_without_being_shown_and_kept_only_if_agreed(folder: Path) -> None:
    for agreed in ("\n", "y\n"):
        ran = at_a_terminal(folder, *CALL, typed=((ASKED, ""), ("(hidden): ", f"{SECRET}\n"), (KEEP, agreed)))
        assert (ran.code, given(ran)) == (0, SECRET)
        assert SECRET not in ran.shown
        assert "(other)" not in ran.shown, "only what the called upstream needs is asked for"
    store = folder / "toolfold-state" / "inputs.json"
    assert json.loads(store.read_text()) == {"maps-key": SECRET}
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    again = at_a_terminal(folder, *CALL)
    assert (again.code, given(again), ASKED in again.shown) == (0, SECRET, False)


def test_ctrl_c_at_the_question_ends_the_command(folder: Path) -> None:
    ran = at_a_terminal(folder, *CALL, typed=(("(hidden): ", "\x03"),))
    assert (ran.code, ran.out) == (130, "")


@pytest.mark.parametrize("arguments", [("check",), ("config", "show"), ("status",)])
def test_commands_that_reach_no_upstream_ask_nothing(folder: Path, arguments: tuple[str, ...]) -> None:
    ran = at_a_terminal(folder, *arguments)
    assert ASKED not in ran.shown


def test_without_a_terminal_nobody_is_asked_and_the_way_out_is_said(folder: Path) -> None:
    ran = toolfold(folder, *CALL, stdin=f"{SECRET}\n")
    assert (ran.code, ran.error()["code"]) == (1, "upstream_down")
    assert "toolfold config input set maps-key" in ran.err


def test_an_answer_is_set_listed_used_and_forgotten(folder: Path) -> None:
    assert toolfold(folder, "config", "input", "set", "maps-key", stdin=f"{SECRET}\n").code == 0
    listed = toolfold(folder, "config", "input", "list", "--json")
    assert listed.json() == {"file": str(folder / "toolfold-state/inputs.json"), "inputs": ["maps-key"]}
    assert given(toolfold(folder, *CALL)) == SECRET
    unknown = toolfold(folder, "config", "input", "forget", "maps")
    assert (unknown.code, "Did you mean maps-key?" in unknown.err) == (12, True)
    assert toolfold(folder, "config", "input", "forget", "maps-key").code == 0
    assert toolfold(folder, "config", "input", "list").out == ""


def test_an_answer_is_set_at_a_terminal_without_being_shown(folder: Path) -> None:
    typed = (("(hidden): ", f"{SECRET}\n"),)
    ran = at_a_terminal(folder, "config", "input", "set", "maps-key", typed=typed)
    assert (ran.code, SECRET in ran.shown) == (0, False)
    assert given(toolfold(folder, *CALL)) == SECRET


@pytest.mark.parametrize(("key", "content"), [("maps-key", "\n"), ("", "x\n"), ("maps-key", "x" * (256 * 1024 + 1))])
def test_what_is_no_answer_is_not_stored(folder: Path, key: str, content: str) -> None:
    assert toolfold(folder, "config", "input", "set", key, stdin=content).code == 2
    assert not (folder / "toolfold-state" / "inputs.json").exists()
