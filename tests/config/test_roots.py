from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import Settings, load
from server.config.findings import Findings
from server.config.roots import find_servers

A = {"command": "x"}


@pytest.mark.parametrize(
    ("root", "place", "dialect"),
    [
        ({"mcpServers": {"a": A}}, "mcpServers", "mcp.json"),
        ({"mcpServers": {"a": A}, "extensions": {"disabled": []}}, "mcpServers", "mcp.json"),
        ({"mcpServers": [{"name": "a", **A}]}, "mcpServers", "mcp.json"),
        ({"mcpServers": {"a": {**A, "autoApprove": []}}}, "mcpServers", "Cline or Roo"),
        ({"mcpServers": {"a": {**A, "trust": True}}}, "mcpServers", "Gemini CLI"),
        ({"mcpServers": {"a": A}, "imports": []}, "mcpServers", "mcporter"),
        ({"servers": {"a": A}}, "servers", "VS Code"),
        ({"mcp": {"servers": {"a": A}}}, "mcp.servers", "OpenClaw"),
        ({"mcp": {"servers": {"a": {"type": "local", "command": ["x"]}}}}, "mcp.servers", "OpenCode"),
        ({"mcp": {"a": {"type": "local", "command": ["x"]}}}, "mcp", "OpenCode"),
        ({"mcp": {"a": A, "servers": A}}, "mcp", "OpenCode"),
        ({"context_servers": {"a": A}}, "context_servers", "Zed"),
        ({"mcp_servers": {"a": A}}, "mcp_servers", "Codex"),
        ({"extensions": {"a": {"cmd": "x"}}}, "extensions", "Goose"),
        ({"a": A, "gateway": {}, "note": "x"}, "", "a plain map of servers"),
    ],
)
def test_the_servers_of_a_file_are_found_under_their_root(root: dict[str, object], place: str, dialect: str) -> None:
    findings = Findings()
    found = find_servers(Path("/x/mcp.json"), root, Path("/srv"), findings)
    assert (found.entries[0].place, found.dialect.name, found.entries[0].key) == (place, dialect, "a")
    assert findings.found() == ()


@pytest.mark.parametrize(
    ("path", "root", "dialect"),
    [
        ("/h/.cline/data/settings/cline_mcp_settings.json", "mcpServers", "Cline"),
        ("/h/x/mcp_settings.json", "mcpServers", "Roo"),
        ("/h/.gemini/settings.json", "mcpServers", "Gemini CLI"),
        ("/h/.gemini/antigravity/mcp_config.json", "mcpServers", "mcp.json"),
        ("/h/.claude.json", "mcpServers", "Claude Code"),
        ("/h/my.claude.json", "mcpServers", "mcp.json"),
    ],
)
def test_a_file_is_known_by_the_end_of_its_path(path: str, root: str, dialect: str) -> None:
    assert find_servers(Path(path), {root: {"a": A}}, Path("/srv"), Findings()).dialect.name == dialect


def test_a_list_of_servers_needs_names(settings_of: Callable[..., Settings]) -> None:
    read = settings_of({"mcpServers": [{"name": "a", **A}, A, "x", {"name": ""}, {"name": "a", "command": "y"}]})
    assert [(server.key, server.command) for server in read.servers] == [("a", "y")]
    assert [(finding.code, finding.where[-13:]) for finding in read.findings if finding.severity != "note"] == [
        ("no_name", "mcpServers[1]"),
        ("no_name", "mcpServers[2]"),
        ("no_name", "mcpServers[3]"),
        ("duplicate_key", "on: mcpServers"[-13:]),
    ]


def test_what_only_has_the_name_of_a_root_is_not_taken_for_one(settings_of: Callable[..., Settings]) -> None:
    assert settings_of({"mcp": {"timeout": 5, "enabled": True}}).servers == ()
    assert settings_of({"mcp": "x", "mcp_servers": {"a": A}}).servers[0].command == "x"


def test_parts_of_the_host_itself_are_skipped_with_a_note(settings_of: Callable[..., Settings]) -> None:
    servers = {"a": {"type": "builtin"}, "b": {"type": "inline_python"}, "c": {"source": "extension"}, "d": A}
    read = settings_of({"extensions": servers})
    assert [server.key for server in read.servers] == ["d"]
    assert [(finding.severity, finding.code) for finding in read.findings if finding.code == "inside_the_host"] == [
        ("note", "inside_the_host")
    ] * 3


@pytest.mark.parametrize(
    ("root", "mode", "codes"),
    [
        ({"toolSearch": {"mode": "tools", "searchDefaultLimit": 3}}, ("tools", 3), []),
        ({"tools": {"toolSearch": {"mode": "tools", "searchDefaultLimit": 3}}}, ("tools", 3), []),
        ({"toolSearch": False}, ("off", 8), []),
        (
            {"toolSearch": {"mode": "tools"}, "gateway": {"toolSearch": False}},
            ("off", 8),
            ["given_twice"],
        ),
        ({"toolSearch": {"mode": "tools", "searchDefaultLimit": 4}, "gateway": {"hints": "off"}}, ("tools", 4), []),
        ({"tools": {"toolSearch": None}}, ("tools", 8), ["unknown_key"]),
    ],
)
def test_tool_search_is_read_at_the_top_too(
    settings_of: Callable[..., Settings], root: object, mode: tuple[str, int], codes: list[str]
) -> None:
    read = settings_of(root)
    search = read.gateway.tool_search
    assert (search.mode, search.search_default_limit) == mode
    assert [finding.code for finding in read.findings] == codes


def test_a_gateway_section_of_the_hosts_own_is_left_alone_and_one_of_ours_is_read(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    servers = {"mcp": {"servers": {"a": A}}, "agents": {}}
    theirs = write({**servers, "gateway": {"port": 18789, "mode": "local"}}, "openclaw.json")
    ours = write({**servers, "gateway": {"policy": {"deny": ["mcp:a:*"]}}}, "other/openclaw.json")
    read = load([theirs], {}, tmp_path)
    assert (read.gateway.policy.deny, read.findings) == ((), ())
    assert load([ours], {}, tmp_path).gateway.policy.deny == ("mcp:a:*",)


def test_a_slip_in_the_name_of_our_section_is_told_in_a_hosts_whole_file_too(
    settings_of: Callable[..., Settings],
) -> None:
    read = settings_of({"context_servers": {"a": A}, "theme": "x", "vim_mode": True, "gatewy": {"policy": {}}})
    assert [(finding.code, finding.fix) for finding in read.findings] == [("unknown_key", "Did you mean `gateway`?")]


def test_the_servers_of_the_working_folder_in_claude_codes_own_file_count_first(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    projects = {
        str(tmp_path): {"mcpServers": {"a": {"command": "here"}, "b": {"command": "here too"}}, "history": []},
        "/elsewhere": {"mcpServers": {"c": A}},
        "/nothing": {},
    }
    file = write({"mcpServers": {"a": A, "d": A}, "projects": projects}, ".claude.json")
    read = load([file], {}, tmp_path)
    assert [(server.key, server.command) for server in read.servers] == [
        ("a", "here"), ("d", "x"), ("b", "here too")
    ]  # fmt: skip
    assert [(finding.severity, finding.code) for finding in read.findings if finding.code != "command_with_spaces"] == [
        ("note", "other_folders")
    ]
    only_projects = write({"projects": projects}, "other/.claude.json")
    assert [server.key for server in load([only_projects], {}, tmp_path).servers] == ["a", "b"]


def test_a_file_of_something_else_is_no_plain_map_of_servers(settings_of: Callable[..., Settings]) -> None:
    package = {"name": "x", "scripts": {"test": "y"}, "repository": {"type": "git", "url": "https://x.test/x.git"}}
    assert settings_of(package).servers == ()
