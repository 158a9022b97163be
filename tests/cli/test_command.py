"""The command as a whole: what it says of itself, what it does without arguments, what it never imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli_runs import PROJECT, at_a_terminal, environment, toolfold
from tests.support.upstreams import write_config


def test_help_names_every_command_and_at_a_terminal_it_is_what_no_arguments_give(tmp_path: Path) -> None:
    ran = at_a_terminal(tmp_path)
    assert ran.code == 0
    for command in ("serve", "check", "list", "search", "describe", "call", "status", "demo", "config"):
        assert f"│ {command} " in ran.out


def test_without_arguments_it_serves_the_host_that_has_started_it(tmp_path: Path) -> None:
    write_config(tmp_path, {})
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
    greeting = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    ran = toolfold(tmp_path, stdin=f"{greeting}\n")
    answer = ran.json()
    assert (ran.code, answer["id"]) == (0, 1)
    assert isinstance(answer["result"], dict)
    assert answer["result"]["serverInfo"]["name"] == "toolfold"


def test_the_help_of_serve_is_there_although_serve_is_dispatched_before_it(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "serve", "--help")
    assert ran.code == 0
    assert "Usage: toolfold serve" in ran.out
    assert "--config" in ran.out


@pytest.mark.parametrize("arguments", [["serve", "--confg", "x"], ["list", "--wait", "soon"]])
def test_wrong_usage_ends_with_2_and_prints_no_data(tmp_path: Path, arguments: list[str]) -> None:
    ran = toolfold(tmp_path, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "usage" in ran.err.lower()


@pytest.mark.parametrize("command", ["serve", "list"])
def test_without_a_configuration_it_ends_with_4_and_says_where_one_could_be(tmp_path: Path, command: str) -> None:
    ran = toolfold(tmp_path, command, XDG_CONFIG_HOME=str(tmp_path))
    assert (ran.code, ran.out) == (4, "")
    assert "toolfold config path" in ran.err


def test_with_json_an_unusable_configuration_is_a_document_too(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("{", encoding="utf-8")
    ran = toolfold(tmp_path, "check", "--json")
    assert (ran.code, ran.error()["code"]) == (4, "config_syntax")
    assert "mcp.json:1:2" in ran.err


def test_serving_imports_neither_typer_nor_rich() -> None:
    program = (
        "import sys; from server.cli import main, serving; from server.cli.configured import configured;"
        "print([name for name in ('typer', 'rich', 'mcp', 'whoosh', 'jsonschema') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, env=environment({}), capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_a_person_who_starts_serve_is_told_that_it_waits_for_a_host(tmp_path: Path) -> None:
    write_config(tmp_path, {})
    ran = at_a_terminal(tmp_path, "serve", typed=[("Waiting for a host on standard input.", "\x03")])
    assert (ran.code, ran.out) == (130, "")


def test_help_is_wrapped_at_the_terminals_width_and_gives_flags_no_type(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "serve", "--help", COLUMNS="80")
    shown = " ".join(ran.out.split())
    assert "as soon as one is known: from gateway.http.tokens (SHA-256 hashes), --token-file" in shown
    paragraph = ran.out.splitlines()[8:12]  # all of its lines but the last
    assert [len(line.rstrip()) > 65 for line in paragraph] == [True, True, True, True]
    assert "<bool>" not in "".join(line for line in ran.out.splitlines() if "--help" not in line)
