from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import ConfigError, Finding, LimitSettings, PolicySettings, Settings, load
from server.config.findings import MAX_FINDINGS
from server.config.loading import MAX_SERVERS


def codes(settings: Settings) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in settings.findings]


def test_a_file_with_comments_is_read(settings_of: Callable[..., Settings], tmp_path: Path) -> None:
    settings = settings_of("{mcpServers: {'a': {command: 'x',}, /* b */ }, // c\n}")
    assert [server.command for server in settings.servers] == ["x"]
    assert (settings.findings, settings.sources) == ((), (tmp_path / "mcp.json",))


@pytest.mark.parametrize(
    "text", ["{}", '{"mcpServers": {}}', '{"mcpServers": null, "gateway": null}', '{"$schema": "x"}']
)
def test_a_file_without_servers_is_no_error(settings_of: Callable[..., Settings], text: str) -> None:
    settings = settings_of(text)
    assert (settings.servers, settings.findings) == ((), ())


def test_no_file_at_all_gives_the_defaults(tmp_path: Path) -> None:
    assert load([], {}, tmp_path).servers == ()


def test_a_syntax_error_names_file_line_and_column_and_the_way_out(
    settings_of: Callable[..., Settings], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of('{\n  "mcpServers": {\n    "a": {"command": "x"}\n    "b": {}\n  }\n}')
    assert caught.value.code == "config_syntax"
    assert caught.value.message == f"{tmp_path}/mcp.json:4:5: this is not JSON or JSON5."
    assert caught.value.hint == "Look for a missing comma, quote or bracket here or just before."


@pytest.mark.parametrize("text", ["[]", "3", '"mcpServers"', "null"])
def test_a_file_that_is_not_an_object_is_refused(settings_of: Callable[..., Settings], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(text)
    assert caught.value.code == "config_syntax"


def test_a_file_over_the_cap_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load([write(" " * (4 * 1024 * 1024 + 1))], {}, tmp_path)
    assert caught.value.code == "config_too_large"


def test_a_file_that_everyone_may_change_is_refused_and_one_that_its_group_may_is_warned_about(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        load([write("{}", mode=0o646)], {}, tmp_path)
    assert (caught.value.code, caught.value.hint) == ("config_writable_by_all", f"Run: chmod o-w {tmp_path}/mcp.json")
    path = write("{}", mode=0o664)
    assert load([path], {}, tmp_path).findings == (
        Finding(
            "warning", "group_writable", str(path), "The file can be changed by its group.", f"Run: chmod g-w {path}"
        ),
    )


def test_a_key_given_twice_is_warned_about(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y", "env": {}, "env": {}}}}')
    assert [server.command for server in settings.servers] == ["y"]
    assert codes(settings) == [("warning", "duplicate_key")] * 2
    assert sorted(finding.message.split("`")[1] for finding in settings.findings) == [
        "mcpServers.a",
        "mcpServers.a.env",
    ]


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ('{"gateway": {"policy": {"deny": ["*"]}}, "gateway": {}}', "duplicate_key", "Put the two into one."),
        ('{"gateway": {"policy": {"deny": ["*"], "deny": []}}}', "duplicate_key", "Put the two into one."),
        ('{"mcpServers": {}, "policy": {"deny": ["*"]}}', "misplaced_key", "Move it: gateway.policy"),
        ('{"mcpServers": {}, "hooks": {"beforeCall": ["x"]}}', "misplaced_key", "Move it: gateway.hooks"),
        ('{"mcpServers": {}, "Gateway": {"policy": {"deny": ["*"]}}}', "unknown_key", "Did you mean `gateway`?"),
    ],
)
def test_a_file_in_which_a_guard_would_count_for_nothing_is_refused(
    settings_of: Callable[..., Settings], text: str, code: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(text)
    assert (caught.value.code, caught.value.hint) == (code, hint)


def test_hooks_of_a_hosts_own_kind_are_none_of_ours(settings_of: Callable[..., Settings]) -> None:
    assert codes(settings_of({"mcpServers": {}, "hooks": {"PreToolUse": []}})) == [("warning", "misplaced_key")]


@pytest.mark.parametrize("servers", ["a", 3, False])
def test_servers_that_are_not_an_object_are_an_error_finding(
    settings_of: Callable[..., Settings], servers: object
) -> None:
    settings = settings_of({"mcpServers": servers})
    assert settings.servers == ()
    assert codes(settings) == [("error", "wrong_type")]


@pytest.mark.parametrize(
    ("root", "severity", "code", "fix"),
    [
        ({"mcpservers": {}}, "warning", "unknown_key", "Did you mean `mcpServers`?"),
        ({"gatway": {}}, "warning", "unknown_key", "Did you mean `gateway`?"),
        ({"policy": {}}, "warning", "misplaced_key", "Move it: gateway.policy"),
        ({"inputs": {}}, "warning", "wrong_type", "What is not one is left out; correct it."),
        ({"tools": {}}, "warning", "unknown_key", "Remove it, or check its spelling."),
        (
            {"mcpServers": {}, "servers": {"a": {"command": "x"}}},
            "warning",
            "other_root",
            "Put them in one place, or in two files.",
        ),
        ({"context_servers": {}, "gatway": {}, "theme": "x"}, "warning", "unknown_key", "Did you mean `gateway`?"),
    ],
)
def test_keys_beside_the_two_roots_are_told(
    settings_of: Callable[..., Settings], root: object, severity: str, code: str, fix: str
) -> None:
    settings = settings_of(root)
    assert [(finding.severity, finding.code, finding.fix) for finding in settings.findings] == [(severity, code, fix)]


def test_files_merge_in_order_and_a_later_entry_replaces_the_whole_of_an_earlier_one(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    first = write(
        {
            "mcpServers": {"a": {"command": "one", "args": ["1"]}, "b": {"command": "b"}},
            "gateway": {"limits": {"lineBytes": 5000, "resultBytes": 2000}, "policy": {"deny": ["mcp:b:*"]}},
        },
        "one.json",
    )
    second = write(
        {
            "mcpServers": {"c": {"command": "c"}, "a": {"command": "two"}},
            "gateway": {"limits": {"lineBytes": 6000}, "policy": {"allow": ["mcp:*"]}, "toolSearch": {"mode": "tools"}},
        },
        "two.json",
    )
    settings = load([first, Path("two.json")], {}, tmp_path)
    assert [(server.key, server.command, server.args) for server in settings.servers] == [
        ("a", "two", ()),
        ("b", "b", ()),
        ("c", "c", ()),
    ]
    assert settings.gateway.limits == LimitSettings(line_bytes=6000, result_bytes=2000)
    assert settings.gateway.policy == PolicySettings(allow=("mcp:*",), deny=("mcp:b:*",))
    assert (settings.sources, settings.findings) == ((first, second), ())


def test_one_unusable_file_among_several_stops_the_reading(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load([write("{}"), tmp_path / "gone.json"], {}, tmp_path)
    assert caught.value.code == "config_missing"


def test_servers_and_findings_are_bounded(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {f"s{number}": {"comand": "x"} for number in range(MAX_SERVERS + 7)}})
    assert len(settings.servers) == MAX_SERVERS
    assert len(settings.findings) == MAX_FINDINGS + 1
    assert settings.findings[0].message == f"More than {MAX_SERVERS} servers; 7 are left out."
    assert settings.findings[-1].code == "more_findings"


def test_what_a_host_keeps_beside_its_servers_does_not_stop_the_reading(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"numStartups": 5, "projects": {"/a": {}}, "mcpServers": {"a": {"command": "x"}}})
    assert [server.problem for server in settings.servers] == [""]
    assert codes(settings) == [("warning", "unknown_key")] * 2
