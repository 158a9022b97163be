"""The tools that a host runs itself, on the command line: where they collide, every text names both."""

from pathlib import Path

from tests.support.cli_runs import toolfold
from tests.support.upstreams import entry, write_config

OTHERS = {
    "client:client:echo": "mcp:client:echo",
    "client:client:tool_search": "toolfold's own tool_search",
}
SETTINGS = {
    "clientTools": [
        {"name": "open_editor", "description": "Opens a file."},
        {"name": "echo", "description": "The host's own."},
        {"name": "tool_search", "description": "The host's own."},
        {"name": "wipe", "description": "Wipes."},
    ],
    "policy": {"deny": ["client:*:wipe"]},
}


def test_list_shows_the_hosts_own_tools_by_themselves_and_which_names_are_taken_by_what(tmp_path: Path) -> None:
    write_config(tmp_path, {"client": entry(tools=[{"name": "echo", "inputSchema": {"type": "object"}}])}, SETTINGS)
    machine = toolfold(tmp_path, "list", "--json")
    own = [tool for tool in machine.member("tools") if tool.get("source") == "client"]
    assert {tool["id"]: tool.get("reason", "") for tool in own} == {
        "client:client:open_editor": "",
        **{one: f"its name is taken, by {other}" for one, other in OTHERS.items()},
    }
    assert machine.json()["host"] == {"tools": {"catalog": 1, "hidden": 1, "quarantined": 2}}
    assert machine.member("upstreams")[0]["tools"] == {"catalog": 1}

    person = toolfold(tmp_path, "list", "--all")
    heading = "the host's own (gateway.clientTools) · 3 tools · 1 hidden by the configuration"
    lines = person.out.split(heading)[1].splitlines()
    for one, other in OTHERS.items():
        (line,) = [line for line in lines if line.startswith(one)]
        assert f"quarantined: its name is taken, by {other} → Give it another name in the host" in line
    assert "client:client:wipe" in person.out
    assert "client:" not in toolfold(tmp_path, "list", "client", "--all").out.replace("mcp:client:", "")


def test_check_warns_of_taken_names_by_what_is_stored_and_starts_nothing(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "search/all")]
    write_config(tmp_path, {"client": entry(tools=tools, starts=str(starts))}, SETTINGS)
    quarantined = taken(tmp_path)
    assert (set(quarantined), starts.exists()) == ({"client:client:tool_search"}, False)
    toolfold(tmp_path, "list")
    quarantined = taken(tmp_path)
    assert set(quarantined) == {*OTHERS, "mcp:client:search/all"}
    for one, other in OTHERS.items():
        assert other in quarantined[one]
        assert "gateway.clientTools" in quarantined[one]
    assert "another name: tell its maker" in quarantined["mcp:client:search/all"]
    assert len(starts.read_bytes().splitlines()) == 1
    assert "client:client" not in toolfold(tmp_path, "check", "client").out


def test_check_names_the_schemas_to_publish_that_no_tool_has(tmp_path: Path) -> None:
    schemas = ["mcp:one:echo", "mcp:one:ech", "mcp:unlisted:x"]
    settings = {"toolSearch": {"mode": "directory", "directory": {"schemas": schemas}}}
    write_config(tmp_path, {"one": entry(does={"echo": {"do": "echo"}}), "unlisted": entry(exit=3)}, settings)
    toolfold(tmp_path, "list")
    findings = toolfold(tmp_path, "check", "--json").member("findings")
    (unknown,) = [finding for finding in findings if finding["code"] == "unknown_tool"]
    assert (unknown["where"], unknown["fix"]) == (
        "gateway.toolSearch.directory.schemas",
        "Take one of these: toolfold list one",
    )
    assert "`mcp:one:ech`" in str(unknown["message"])


def taken(folder: Path) -> dict[object, str]:
    """What check says of each tool that is quarantined."""
    findings = toolfold(folder, "check", "--json").member("findings")
    found = [finding for finding in findings if finding["code"] == "quarantined_tool"]
    return {finding["where"]: f"{finding['message']} {finding['fix']}" for finding in found}


def test_describe_says_that_the_host_runs_it_itself(tmp_path: Path) -> None:
    write_config(tmp_path, {}, SETTINGS)
    ran = toolfold(tmp_path, "describe", "open_editor")
    assert "The host runs it itself, as open_editor" in ran.out
    assert "Run it:" not in ran.out
    assert toolfold(tmp_path, "call", "open_editor", "--json").error()["code"] == "client_tool"
