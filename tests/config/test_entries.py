from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from index import owner_for_key
from server.config import ServerEntry, Settings, load


def only(
    settings_of: Callable[..., Settings], entry: object, **environ: str
) -> tuple[ServerEntry, list[tuple[str, str]]]:
    """The entry, and what was found about it. A good entry stands beside it, and must stay good."""
    settings = settings_of({"mcpServers": {"a": entry, "good": {"command": "good"}}}, **environ)
    assert settings.servers[-1].problem == ""
    assert settings.servers[-1].command == "good"
    return settings.servers[0], [(finding.severity, finding.code) for finding in settings.findings]


def test_an_entry_of_every_key_is_read(settings_of: Callable[..., Settings], tmp_path: object) -> None:
    entry, findings = only(
        settings_of,
        {
            "type": "stdio",
            "command": "${BIN:-npx}",
            "args": ["-y", "${PACKAGE}"],
            "env": {"MODE": "${MODE}", "PORT": 8080, "NOT_SET": None, "DEBUG": True},
            "passEnv": ["EXTRA"],
            "cwd": "${workspaceFolder}",
            "timeout": 90_000,
            "totalTimeout": 300_000,
            "disabled": False,
            "description": "About ${PACKAGE}",
            "includeTools": ["read_*"],
            "excludeTools": "delete_*",
            "alwaysLoad": True,
            "trusted": True,
            "hints": "safe",
            "protocol": "auto",
        },
        PACKAGE="pkg", MODE="fast", EXTRA="more", PATH="/usr/bin", OTHER="x",
    )  # fmt: skip
    expected = ServerEntry(
        key="a",
        owner="a",
        command="npx",
        args=("-y", "pkg"),
        env={"MODE": "fast", "PORT": "8080", "DEBUG": "true", "EXTRA": "more", "PATH": "/usr/bin"},
        cwd=str(tmp_path),
        description="About pkg",
        timeout_seconds=90.0,
        total_timeout_seconds=300.0,
        include_tools=("read_*",),
        exclude_tools=("delete_*",),
        always_load=True,
        trusted=True,
        hints="safe",
        protocol="auto",
        fingerprint=entry.fingerprint,
    )
    assert replace(entry, env=dict(entry.env)) == expected
    assert findings == []


def test_an_entry_with_only_a_command_has_defaults(settings_of: Callable[..., Settings]) -> None:
    entry, findings = only(settings_of, {"command": "x"})
    assert replace(entry, env=dict(entry.env)) == ServerEntry(
        key="a", owner="a", command="x", env={}, fingerprint=entry.fingerprint
    )
    assert findings == []


@pytest.mark.parametrize(
    ("entry", "code", "named"),
    [
        ("npx", "wrong_type", "object"),
        (None, "wrong_type", "object"),
        (["npx"], "wrong_type", "object"),
        ({}, "no_command", "`command`"),
        ({"command": ""}, "no_command", "`command`"),
        ({"command": []}, "no_command", "`command`"),
        ({"command": None}, "no_command", "`command`"),
        ({"args": ["x"]}, "no_command", "`command`"),
        ({"command": " ", "args": ["x"]}, "no_command", "`command`"),
        ({"command": 3}, "wrong_type", "`command`"),
        ({"command": ["x", 3]}, "wrong_type", "`command[1]`"),
        ({"command": {"paht": "x"}}, "wrong_type", "`command`"),
        ({"command": "x", "args": "-y pkg"}, "wrong_type", "`args`"),
        ({"command": "x", "args": ["a", None]}, "wrong_type", "`args[1]`"),
        ({"command": "x", "args": ["a", 1.10]}, "wrong_type", "`args[1]`"),
        ({"command": "x", "env": ["A=1"]}, "wrong_type", "`env`"),
        ({"command": "x", "env": {"A": [None]}}, "wrong_type", "`env.A`"),
        ({"url": "http://x/", "headers": {"A": None}}, "wrong_type", "`headers.A`"),
        ({"command": "x", "env": {"A": 1.10}}, "wrong_type", "`env.A`"),
        ({"command": "x", "cwd": 1}, "wrong_type", "`cwd`"),
        ({"command": "x", "envFile": []}, "wrong_type", "`envFile`"),
        ({"command": "x", "passEnv": 1}, "wrong_type", "`passEnv`"),
        ({"command": "x", "disabled": "yes"}, "wrong_type", "`disabled`"),
        ({"command": "x", "enabled": "no"}, "wrong_type", "`disabled`"),
        ({"command": "x", "includeTools": {"a": 1}}, "wrong_type", "`includeTools`"),
        ({"command": "x", "excludeTools": [1]}, "wrong_type", "`excludeTools[0]`"),
        ({"command": "x", "args": ["${UNSET}"]}, "variable_not_set", "`UNSET`"),
        ({"command": "${UNSET}/x"}, "variable_not_set", "`UNSET`"),
        ({"command": "x", "env": {"A": "${env:UNSET}"}}, "variable_not_set", "`UNSET`"),
        ({"command": "x", "cwd": "${UNSET}"}, "variable_not_set", "`UNSET`"),
        ({"command": "x", "envFile": "${UNSET}"}, "variable_not_set", "`UNSET`"),
        ({"command": "x", "description": "${UNSET}"}, "variable_not_set", "`UNSET`"),
        ({"command": "x", "args": ["${input:key}"]}, "input_not_answered", "TOOLFOLD_INPUT_KEY"),
        ({"command": "x", "args": ["${keyring:key}"]}, "variable_not_supported", "`${keyring:key}`"),
        ({"command": "x", "args": ["${A:-${B}}"]}, "variable_not_supported", "`${A}`"),
        ({"command": "x", "args": ["a\0b"]}, "unusable_text", "NUL"),
        ({"command": "x", "args": ["\ud800"]}, "unusable_text", "surrogate"),
        ({"command": "x", "cwd": "a\0b"}, "unusable_text", "`cwd`"),
        ({"command": "x", "env": {"A": "\0"}}, "unusable_text", "`A`"),
        ({"command": "x", "env": {"A=B": "1"}}, "unusable_text", "`A=B`"),
        ({"command": "x", "env": {"": "1"}}, "unusable_text", "empty"),
        ({"command": "x", "args": ["${BIG}"] * 1100}, "too_long", "longer"),
    ],
)
def test_a_bad_entry_is_marked_and_the_rest_works(
    settings_of: Callable[..., Settings], entry: object, code: str, named: str
) -> None:
    marked, findings = only(settings_of, entry, BIG="x" * 1000)
    assert named in marked.problem
    assert ("error", code) in findings
    assert {severity for severity, found in findings if found != "no_such_folder"} == {"error"}


def test_every_problem_of_an_entry_is_told(settings_of: Callable[..., Settings]) -> None:
    entry, findings = only(settings_of, {"command": "x", "args": ["${A}", "${B}", "${A}"], "env": {"C": {}}})
    assert entry.problem == (
        "`env.C` should be a string. Correct it. "
        "The variable `A` is not set. Set it where toolfold is started, or write ${A:-default}. "
        "The variable `B` is not set. Set it where toolfold is started, or write ${B:-default}."
    )
    assert findings == [("error", "wrong_type"), ("error", "variable_not_set"), ("error", "variable_not_set")]


def test_a_problem_stays_short_and_the_findings_have_it_all(settings_of: Callable[..., Settings]) -> None:
    entry, findings = only(settings_of, {"command": "x", "args": [f"${{V{number}}}" for number in range(40)]})
    assert "`V4`" in entry.problem
    assert "`V5`" not in entry.problem
    assert findings == [("error", "variable_not_set")] * 40


def test_the_problem_of_a_disabled_entry_is_only_noted(settings_of: Callable[..., Settings]) -> None:
    entry, findings = only(settings_of, {"command": "${UNSET}", "disabled": True})
    assert entry.disabled
    assert "UNSET" in entry.problem
    assert findings == [("note", "variable_not_set")]


@pytest.mark.parametrize(
    ("entry", "command", "args"),
    [
        ({"command": ["npx", "-y", "pkg"]}, "npx", ("-y", "pkg")),
        ({"command": ["npx"], "args": ["-y"]}, "npx", ("-y",)),
        ({"command": "npx", "args": [1, True, "a b"]}, "npx", ("1", "true", "a b")),
        ({"command": "npx", "args": None, "env": None, "cwd": None}, "npx", ()),
        ({"command": "x", "args": ["$HOME", "a$b", "${x%%.*}"]}, "x", ("$HOME", "a$b", "${x%%.*}")),
    ],
)
def test_command_lines_are_read_as_hosts_write_them(
    settings_of: Callable[..., Settings], entry: object, command: str, args: tuple[str, ...]
) -> None:
    read, _ = only(settings_of, entry)
    assert (read.command, read.args, read.problem) == (command, args, "")


@pytest.mark.parametrize(
    ("key", "written", "code"),
    [
        ("timeout", "60000", "wrong_type"),
        ("timeout", -5, "wrong_type"),
        ("timeout", 0, "wrong_type"),
        ("timeout", True, "wrong_type"),
        ("timeout", 10**12, "out_of_bounds"),
        ("alwaysLoad", "yes", "wrong_type"),
        ("trusted", 1, "wrong_type"),
        ("hints", "on", "wrong_type"),
        ("protocol", "2026", "wrong_type"),
        ("description", 5, "wrong_type"),
        ("type", "pipe", "unknown_type"),
        ("comand", "x", "unknown_key"),
    ],
)
def test_what_has_a_default_falls_back_with_a_warning(
    settings_of: Callable[..., Settings], key: str, written: object, code: str
) -> None:
    entry, findings = only(settings_of, {"command": "x", key: written})
    assert entry.problem == ""
    assert (entry.always_load, entry.trusted, entry.hints, entry.protocol) == (False, False, "off", "legacy")
    assert entry.timeout_seconds in (None, 86_400.0)
    assert findings == [("warning", code)]


@pytest.mark.parametrize(
    ("written", "seconds", "codes"),
    [
        (60_000, 60.0, []),
        (1000, 1.0, []),
        (1500.5, 1.5005, []),
        (999, 999.0, ["timeout_in_seconds"]),
        (60, 60.0, ["timeout_in_seconds"]),
    ],
)
def test_a_timeout_is_milliseconds_and_a_small_one_seconds(
    settings_of: Callable[..., Settings], written: float, seconds: float, codes: list[str]
) -> None:
    entry, findings = only(settings_of, {"command": "x", "timeout": written, "totalTimeout": 700_000})
    assert (entry.timeout_seconds, entry.total_timeout_seconds) == (seconds, 700.0)
    assert findings == [("note", code) for code in codes]


def test_a_timeout_beyond_the_gateways_total_raises_the_total(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of(
        {
            "mcpServers": {
                "long": {"command": "x", "timeout": 60_000},
                "short": {"command": "x", "timeout": 5000},
                "own": {"command": "x", "timeout": 60_000, "totalTimeout": 70_000},
            },
            "gateway": {"limits": {"callTotalMs": 30_000}},
        }
    )
    assert [server.total_timeout_seconds for server in settings.servers] == [60.0, None, 70.0]


def test_hints_of_the_gateway_are_the_default_of_an_entry(settings_of: Callable[..., Settings]) -> None:
    servers = {"a": {"command": "x"}, "b": {"command": "x", "hints": "off"}}
    settings = settings_of({"mcpServers": servers, "gateway": {"hints": "safe"}})
    assert [server.hints for server in settings.servers] == ["safe", "off"]


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "https://x"},
        {"type": "http", "url": "https://x"},
        {"type": "sse", "url": "https://x"},
        {"type": "streamableHttp", "url": "https://x", "headers": {"A": "b"}},
        {"transport": "streamable_http", "url": "https://x"},
        {"serverUrl": "https://x"},
        {"httpUrl": "https://x"},
        {"baseUrl": "https://x"},
        {"uri": "https://x", "type": "sse"},
    ],
)
def test_a_remote_entry_is_as_good_as_any_other(settings_of: Callable[..., Settings], entry: object) -> None:
    read, findings = only(settings_of, entry)
    assert read.remote is not None
    assert (read.problem, read.remote.url, read.command) == ("", "https://x", "")
    assert [found for found in findings if found[0] != "note"] == []


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"type": "http", "command": "x"}, "no_url"),
        ({"type": "ws", "url": "wss://x"}, "no_websocket"),
        ({"type": "http", "url": "${UNSET}"}, "variable_not_set"),
    ],
)
def test_a_remote_entry_that_cannot_be_used_is_marked(
    settings_of: Callable[..., Settings], entry: object, code: str
) -> None:
    read, findings = only(settings_of, entry)
    assert read.remote is None
    assert read.problem != ""
    assert ("error", code) in findings


def test_the_helper_of_a_remote_entry_gets_an_environment_and_other_entries_none(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    entry = {"url": "https://x", "env": {"PROFILE": "garden"}, "passEnv": ["VAULT_TOKEN"]}
    servers = {"plain": entry, "helped": {**entry, "headersHelper": "y"}}
    environ = {"HOME": str(tmp_path), "VAULT_TOKEN": "vault-hunter2", "OTHER": "x"}
    plain, helped = load([write({"mcpServers": servers}, ".config/mcp.json")], environ, tmp_path).servers
    assert dict(plain.env) == {}
    assert dict(helped.env) == {"HOME": str(tmp_path), "VAULT_TOKEN": "vault-hunter2", "PROFILE": "garden"}
    assert helped.secrets == {"vault-hunter2"}


def test_a_command_beside_a_url_is_started(settings_of: Callable[..., Settings]) -> None:
    assert only(settings_of, {"command": "x", "url": "https://x"})[0].problem == ""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"enabled": False}, {"disabled": True}),
        ({"enabled": True}, {}),
        ({"enabled": True, "disabled": True}, {"disabled": True}),
        ({"enabled": False, "disabled": False}, {"disabled": True}),
        ({"disabledTools": ["a"]}, {"exclude_tools": ("a",)}),
        ({"enabled_tools": ["a"], "disabled_tools": ["b"]}, {"include_tools": ("a",), "exclude_tools": ("b",)}),
        ({"excludeTools": ["ours"], "disabledTools": ["theirs"]}, {"exclude_tools": ("ours", "theirs")}),
        ({"environment": {"A": "1"}}, {"env": {"A": "1"}}),
        ({"workingDirectory": "/"}, {"cwd": "/"}),
        ({"transport": "stdio"}, {}),
    ],
)
def test_other_hosts_spellings_are_read(
    settings_of: Callable[..., Settings], written: dict[str, object], expected: dict[str, object]
) -> None:
    entry, findings = only(settings_of, {"command": "x", **written})
    plain = ServerEntry(key="a", owner="a", command="x", env={}, fingerprint=entry.fingerprint)
    assert replace(entry, env=dict(entry.env)) == replace(plain, **expected)  # type: ignore[arg-type]
    assert {severity for severity, _ in findings} <= {"note"}


def test_keys_of_other_hosts_are_noted_once_and_never_warned_about(settings_of: Callable[..., Settings]) -> None:
    foreign = {
        "autoApprove": ["a"], "alwaysAllow": [], "trust": True, "toolPermissions": {"a": "ask"}, "oauth": {}, "dev": {},
        "sandbox": {}, "icon": "x", "default_tools_approval_mode": "auto", "startup_timeout_sec": 5, "envs": {},
        "supportsParallelToolCalls": True, "tools": [],
    }  # fmt: skip
    settings = settings_of({"mcpServers": {key: {"command": "x", **foreign} for key in "abc"}})
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("note", "known_elsewhere")] * 13
    assert all(finding.where.endswith("mcpServers.a") for finding in settings.findings)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("comand", "command"),
        ("Command", "command"),
        ("env_file", "envFile"),
        ("includeTool", "includeTools"),
        ("pass_env", "passEnv"),
        ("timeOut", "timeout"),
        ("alwaysload", "alwaysLoad"),
        ("truested", "trusted"),
        ("qqqqqq", ""),
    ],
)
def test_an_unknown_key_is_answered_with_the_one_that_was_meant(
    settings_of: Callable[..., Settings], key: str, meant: str
) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", key: 1}}})
    fix = f"Did you mean `{meant}`?" if meant else "Remove it, or check its spelling."
    assert [(finding.code, finding.fix) for finding in settings.findings] == [("unknown_key", fix)]


@pytest.mark.parametrize("key", ["//", "_comment", "x-note", "$schema"])
def test_keys_that_are_comments_are_left_alone(settings_of: Callable[..., Settings], key: str) -> None:
    assert only(settings_of, {"command": "x", key: "why"})[1] == []


def test_many_unknown_keys_are_told_in_short(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", **{f"qq{number}": 1 for number in range(5000)}}}})
    assert len(settings.findings) == 21
    assert settings.findings[-1].message == "4980 more keys here are not known."


def test_a_key_is_shown_bounded_and_without_control_characters(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {"\x1b[31mred" + "x" * 500: {"command": "x", "\x1b]0;t\x07" + "y" * 500: 1}}})
    (finding,) = settings.findings
    assert "\x1b" not in repr(finding) + finding.where + finding.message
    assert len(finding.message) < 120


def test_an_entry_that_starts_toolfold_is_skipped_with_a_note(settings_of: Callable[..., Settings]) -> None:
    servers = {
        "self": {"command": "uvx", "args": ["toolfold", "serve"]},
        "by variable": {"command": "${BIN}", "args": ["serve"]},
        "time": {"command": "uvx", "args": ["mcp-server-time"]},
    }
    settings = settings_of({"mcpServers": servers}, BIN="/usr/bin/toolfold")
    assert [server.key for server in settings.servers] == ["time"]
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("note", "starts_itself")] * 2


def test_keys_that_become_one_owner_are_all_marked(settings_of: Callable[..., Settings]) -> None:
    owner = owner_for_key("my files")
    servers = {"my files": {"command": "x"}, owner: {"command": "y"}, "other": {"command": "z"}}
    settings = settings_of({"mcpServers": servers})
    assert [(server.owner, bool(server.problem)) for server in settings.servers] == [
        (owner, True),
        (owner, True),
        ("other", False),
    ]
    assert [(finding.severity, finding.code) for finding in settings.findings] == [("error", "same_owner")] * 2


def test_the_fingerprint_changes_with_what_decides_the_listing_and_with_nothing_else(
    settings_of: Callable[..., Settings],
) -> None:
    def fingerprint(entry: dict[str, object], **environ: str) -> str:
        return only(settings_of, {"command": "x", **entry}, **environ)[0].fingerprint

    base = fingerprint({"args": ["a"], "env": {"A": "1"}})
    assert base == fingerprint({"env": {"A": "${V}"}, "args": ["a"]}, V="1", PATH="/elsewhere")
    assert base == fingerprint({"args": ["a"], "env": {"A": "1"}, "timeout": 5000, "trusted": True, "disabled": True})
    changed = [
        fingerprint({"args": ["b"], "env": {"A": "1"}}),
        fingerprint({"args": ["a"], "env": {"A": "2"}}),
        fingerprint({"args": ["a"], "env": {"B": "1"}}),
        fingerprint({"args": ["a"], "env": {"A": "1"}, "cwd": "/"}),
        fingerprint({"args": ["a"]}),
    ]
    assert len({base, *changed}) == 6


def test_doubtful_commands_are_warned_about(settings_of: Callable[..., Settings]) -> None:
    assert only(settings_of, {"command": "npx -y pkg"})[1] == [("warning", "command_with_spaces")]
    assert only(settings_of, {"command": "/Program Files/x"})[1] == []
    assert only(settings_of, {"command": "x", "args": ["${x%%.*}"]})[1] == [("warning", "unknown_variable_form")]
