import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from server.config import Settings, load

NEEDED = {
    "PATH": "/usr/bin", "HOME": "/home/ann", "USER": "ann", "LOGNAME": "ann", "SHELL": "/bin/sh", "TERM": "xterm",
    "LANG": "C.UTF-8", "LC_ALL": "C", "LC_TIME": "de_DE", "TMPDIR": "/tmp/ann", "XDG_RUNTIME_DIR": "/run/1",
    "XDG_CONFIG_HOME": "/c", "HTTP_PROXY": "http://p", "https_proxy": "http://p", "ALL_PROXY": "s", "no_proxy": "l",
    "SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b", "REQUESTS_CA_BUNDLE": "/c", "CURL_CA_BUNDLE": "/d",
    "NODE_EXTRA_CA_CERTS": "/e", "SSH_AUTH_SOCK": "/s", "SYSTEMROOT": "C:\\Windows", "PATHEXT": ".EXE",
    "APPDATA": "C:\\a", "LOCALAPPDATA": "C:\\l", "USERPROFILE": "C:\\u", "TEMP": "C:\\t", "COMSPEC": "cmd",
    "PROGRAMFILES": "C:\\p",
}  # fmt: skip
KEPT_BACK = {
    "AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "OPENAI_API_KEY": "x", "LD_PRELOAD": "x", "NODE_OPTIONS": "x",
    "DYLD_INSERT_LIBRARIES": "x", "PYTHONPATH": "x", "PYTHONSTARTUP": "x", "BASH_ENV": "x", "TOOLFOLD_CONFIG": "x",
    "LD_LIBRARY_PATH": "x", "VIRTUAL_ENV": "x", "MY_LC_ALL": "x", "LC": "x",
}  # fmt: skip


def child(settings_of: Callable[..., Settings], entry: Mapping[str, object], environ: dict[str, str]) -> dict[str, str]:
    settings = settings_of({"mcpServers": {"a": {"command": "x", **entry}}}, **environ)
    assert settings.servers[0].problem == ""
    return dict(settings.servers[0].env)


def test_a_child_gets_what_programs_need_and_nothing_else(settings_of: Callable[..., Settings]) -> None:
    assert child(settings_of, {}, {**NEEDED, **KEPT_BACK}) == NEEDED


def test_an_exported_shell_function_is_kept_back(settings_of: Callable[..., Settings]) -> None:
    assert child(settings_of, {}, {"LC_X": "() { :; }; echo", "LANG": "C"}) == {"LANG": "C"}


@pytest.mark.parametrize(
    ("pass_env", "expected"),
    [
        (["GITHUB_TOKEN"], {"GITHUB_TOKEN"}),
        (["GIT*", "NODE_?PTIONS"], {"GITHUB_TOKEN", "NODE_OPTIONS"}),
        ("LD_*", {"LD_PRELOAD", "LD_LIBRARY_PATH"}),
        (["github_token"], set()),
        ([], set()),
    ],
)
def test_pass_env_hands_on_names_and_globs(
    settings_of: Callable[..., Settings], pass_env: object, expected: set[str]
) -> None:
    assert set(child(settings_of, {"passEnv": pass_env}, KEPT_BACK)) == expected


def test_passing_everything_is_warned_about(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", "passEnv": ["*"]}}}, **KEPT_BACK)
    assert dict(settings.servers[0].env) == KEPT_BACK
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("warning", "passes_everything")]


def test_a_name_to_pass_that_is_not_set_is_noted(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", "passEnv": ["NOPE", "NO_*"]}}})
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("note", "not_set")]
    assert "`NOPE`" in settings.findings[0].message


def test_env_wins_over_the_env_file_that_wins_over_pass_env_that_wins_over_what_is_inherited(
    settings_of: Callable[..., Settings], write: Callable[..., Path]
) -> None:
    write("B=file\nC=file\nLANG=file\n", ".env")
    environ = {"A": "ours", "B": "ours", "C": "ours", "LANG": "ours", "LC_ALL": "ours"}
    entry = {"passEnv": ["A", "B", "C"], "envFile": ".env", "env": {"C": "entry"}}
    assert child(settings_of, entry, environ) == {
        "A": "ours", "B": "file", "C": "entry", "LANG": "file", "LC_ALL": "ours",
    }  # fmt: skip


def test_an_env_file_is_read_as_written_and_exports_nothing(
    settings_of: Callable[..., Settings], write: Callable[..., Path]
) -> None:
    before = dict(os.environ)
    write(
        "# comment\nexport A='one two' # three\nB=\"x\\ny\"\nC=${HOME}$HOME\nD=\n\nE=ü=1\nA2=${env:HOME}\n", "conf/.env"
    )
    expected = {"A": "one two", "B": "x\ny", "C": "${HOME}$HOME", "D": "", "E": "ü=1", "A2": "${env:HOME}"}
    entry = {"envFile": "${WHERE}/.env"}
    found = child(settings_of, entry, {"WHERE": "conf", "HOME": "/home/ann"})
    assert found == {"HOME": "/home/ann", **expected}
    assert dict(os.environ) == before


def test_lines_of_an_env_file_that_say_nothing_are_told_by_number(
    settings_of: Callable[..., Settings], write: Callable[..., Path]
) -> None:
    write("A=1\nhunter2 is the word\nB\nC=3\n", ".env")
    settings = settings_of({"mcpServers": {"a": {"command": "x", "envFile": ".env"}}})
    assert dict(settings.servers[0].env) == {"A": "1", "C": "3"}
    assert [finding.code for finding in settings.findings] == ["env_file_line"]
    assert settings.findings[0].message.endswith("NAME=value: 2, 3.")
    assert "hunter2" not in repr(settings)


def test_an_env_file_that_its_group_may_change_is_warned_about(
    settings_of: Callable[..., Settings], write: Callable[..., Path]
) -> None:
    write("A=1", ".env", 0o660)
    settings = settings_of({"mcpServers": {"a": {"command": "x", "envFile": ".env"}}})
    assert dict(settings.servers[0].env) == {"A": "1"}
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("warning", "group_writable")]


def test_an_env_file_that_everyone_may_change_makes_the_entry_misconfigured(
    settings_of: Callable[..., Settings], write: Callable[..., Path]
) -> None:
    path = write("A=1", ".env", 0o666)
    settings = settings_of({"mcpServers": {"a": {"command": "x", "envFile": ".env"}, "b": {"command": "y"}}})
    assert f"Run: chmod o-w {path}" in settings.servers[0].problem
    assert settings.servers[1].problem == ""


@pytest.mark.parametrize("env_file", ["missing.env", ".", "bad.env", "a\0b"])
def test_an_env_file_that_cannot_be_read_makes_the_entry_misconfigured(
    settings_of: Callable[..., Settings], tmp_path: Path, env_file: str
) -> None:
    (tmp_path / "bad.env").write_bytes(b"A=\xff")
    (tmp_path / "bad.env").chmod(0o600)
    settings = settings_of({"mcpServers": {"a": {"command": "x", "envFile": env_file}, "b": {"command": "y"}}})
    assert "envFile" in settings.servers[0].problem
    assert settings.servers[1].problem == ""
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("error", "env_file")]


def test_relative_folders_start_at_the_file_that_names_them(write: Callable[..., Path], tmp_path: Path) -> None:
    write("A=1", "one/.env")
    (tmp_path / "home").mkdir()
    first = write({"mcpServers": {"a": {"command": "x", "cwd": ".", "envFile": ".env"}}}, "one/mcp.json")
    entries = {"b": {"command": "x", "cwd": "../one"}, "c": {"command": "x", "cwd": "~/"}, "d": {"command": "x"}}
    second = write({"mcpServers": {**entries, "e": {"command": "x", "cwd": str(tmp_path)}}}, "two/mcp.json")
    settings = load([first, second], {"HOME": str(tmp_path / "home")}, tmp_path)
    assert {server.key: server.cwd for server in settings.servers} == {
        "a": str(tmp_path / "one"),
        "b": str(tmp_path / "one"),
        "c": str(tmp_path / "home"),
        "d": None,
        "e": str(tmp_path),
    }
    assert settings.servers[0].env["A"] == "1"
    assert settings.findings == ()


def test_a_folder_that_is_not_there_is_warned_about(settings_of: Callable[..., Settings], tmp_path: Path) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", "cwd": "nowhere"}}})
    assert settings.servers[0].cwd == str(tmp_path / "nowhere")
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("warning", "no_such_folder")]
