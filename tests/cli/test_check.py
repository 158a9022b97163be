"""`toolfold check`, as a command."""

from pathlib import Path

import pytest

from tests.support.cli_runs import PROJECT, Ran, toolfold
from tests.support.upstreams import entry, write_config

SECRET = "hunter2-hunter2-hunter2"
TRACEBACK = f"""Traceback (most recent call last):
  File "server.py", line 3, in <module>
    @server.list_resources()
AttributeError: 'Server' object has no attribute 'list_resources' \x1b[31m {SECRET}
"""


def codes(ran: Ran) -> list[object]:
    return [(finding["severity"], finding["code"]) for finding in ran.member("findings")]


def script(path: Path, *lines: str) -> None:
    path.write_text("\n".join(("#!/bin/sh", *lines)), encoding="utf-8")
    path.chmod(0o755)


def test_without_findings_it_says_so_and_succeeds(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": entry(starts=str(tmp_path / "starts"))})
    ran = toolfold(tmp_path, "check")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"Nothing to mend in {tmp_path}/mcp.json; nothing was started.\n"
    assert not (tmp_path / "starts").exists()


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ({}, "There are no servers in it."),
        ({"a": {"command": "x", "disabled": True}}, "Every server in it is disabled."),
    ],
)
def test_a_file_without_a_server_in_use_is_warned_about(
    tmp_path: Path, servers: dict[str, dict[str, object]], message: str
) -> None:
    path = write_config(tmp_path, servers)
    ran = toolfold(tmp_path, "check", "--json")
    (finding,) = ran.member("findings")
    assert (ran.code, finding["severity"], finding["code"], finding["where"]) == (0, "warning", "no_servers", str(path))
    assert finding["message"] == f"{message} A host will find no tools."


def test_findings_say_where_and_what_to_do_and_an_error_among_them_ends_with_1(tmp_path: Path) -> None:
    script(tmp_path / "npx")
    script(tmp_path / "start-git")
    servers: dict[str, dict[str, object]] = {
        "git": {"command": "start-git", "env": {"API_TOKEN": SECRET}},
        "git.lost": {"command": "nowhere-to-be-found"},
        "newest": {"command": f"{tmp_path}/npx", "args": ["-y", "server-newest"]},
        "off": {"command": "nowhere-to-be-found", "disabled": True},
    }
    write_config(tmp_path, servers)
    machine = toolfold(tmp_path, "check", "--json", PATH=str(tmp_path))
    assert machine.code == 1
    assert codes(machine) == [
        ("error", "command_not_found"),
        ("warning", "literal_secret"),
        ("warning", "path_of_the_shell"),
        ("warning", "unpinned_package"),
    ]
    assert all(finding["where"] and finding["message"] and finding["fix"] for finding in machine.member("findings"))

    one = toolfold(tmp_path, "check", "git", PATH=str(tmp_path))
    assert (one.code, one.err) == (0, f"2 warnings in {tmp_path}/mcp.json; nothing was started.\n")
    assert f'  → Write "command": "{tmp_path}/start-git".\n' in one.out
    assert "lost" not in one.out
    assert SECRET not in machine.out + one.out


def test_another_distributions_package_of_our_name_is_an_error(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": entry()})
    about = tmp_path / "site" / "other_app-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-app\nVersion: 1.0\n", encoding="utf-8")
    (about / "top_level.txt").write_text("server\n", encoding="utf-8")
    ran = toolfold(tmp_path, "check", "--json", PYTHONPATH=f"{PROJECT}:{tmp_path}/site")
    (finding,) = ran.member("findings")
    assert (ran.code, finding["code"]) == (1, "foreign_package")
    assert "`other-app`" in str(finding["message"])


def test_probing_starts_every_upstream_and_explains_those_that_fail(tmp_path: Path) -> None:
    script(tmp_path / "uvx", "printf '%s' \"$TEXT\" >&2", "exit 1")
    old = {"command": f"{tmp_path}/uvx", "args": ["old-server@1.0", "--token", SECRET], "env": {"TEXT": TRACEBACK}}
    unsound = {"name": "two words", "inputSchema": {"type": "object"}}
    write_config(
        tmp_path,
        {
            "fine": entry(tools=[unsound, {**unsound, "name": "ok"}]),
            "old": old,
            "off": {"command": "x", "disabled": True},
        },
    )
    ran = toolfold(tmp_path, "check", "--probe", "--json")
    assert ran.code == 1
    assert codes(ran) == [
        ("error", "old_server_new_sdk"),
        ("warning", "literal_secret"),
        ("warning", "quarantined_tool"),
    ]
    failed, _, quarantined = ran.member("findings")
    assert failed["where"] == f"{tmp_path}/mcp.json: mcpServers.old"
    assert failed["fix"] == (
        "Start it with the SDK that it knows: uvx --with 'mcp<2' old-server@1.0 --token '[redacted]'"
    )
    assert failed["last_words"] == [
        "Traceback (most recent call last):",
        'File "server.py", line 3, in <module>',
        "@server.list_resources()",
        "AttributeError: 'Server' object has no attribute 'list_resources' [redacted]",
    ]
    assert quarantined["where"] == "mcp:fine:two words"
    states = {upstream["upstream"]: upstream["state"] for upstream in ran.member("upstreams")}
    assert (set(states), states["fine"], SECRET in ran.out) == ({"fine", "old"}, "ready", False)

    one = toolfold(tmp_path, "check", "fine", "--probe")
    assert one.code == 0
    assert one.out.endswith("upstream  state  tools\nfine      ready  2\n")


def test_a_hook_that_cannot_be_started_is_told_before_it_blocks_a_call(tmp_path: Path) -> None:
    hook = tmp_path / "hook.py"
    write_config(tmp_path, {"one": entry()}, {"hooks": {"beforeCall": [str(hook)]}})
    missing = toolfold(tmp_path, "check", "--json", XDG_CONFIG_HOME=str(tmp_path))
    hook.write_text("#!/bin/sh\n", encoding="utf-8")
    closed = toolfold(tmp_path, "check", "--json", XDG_CONFIG_HOME=str(tmp_path))
    hook.chmod(0o755)
    right = toolfold(tmp_path, "check", "--json", XDG_CONFIG_HOME=str(tmp_path))
    told = [(ran.code, [(one["message"], one["fix"]) for one in ran.member("findings")]) for ran in (missing, closed)]
    assert told == [
        (
            1,
            [
                (
                    f"There is no program {hook}; no tool is called.",
                    "Write its absolute path, and install it if need be.",
                )
            ],
        ),
        (1, [(f"{hook} may not be executed; no tool is called.", f"Run: chmod +x {hook}")]),
    ]
    assert (right.code, right.member("findings")) == (0, [])


def test_probing_says_that_a_server_that_never_answers_logs_where_messages_belong(tmp_path: Path) -> None:
    script(tmp_path / "chatty", "echo listening", "exec sleep 60")
    write_config(tmp_path, {"chatty": {"command": f"{tmp_path}/chatty", "startupTimeout": 1000}})
    ran = toolfold(tmp_path, "check", "--probe", "--json")
    (finding,) = ran.member("findings")
    assert (finding["code"], finding["fix"]) == (
        "does_not_start",
        "Start it by hand to see why, or raise `startupTimeout` of its entry. It prints lines on standard output that are "
        "no MCP messages: its log belongs on standard error.",
    )


def test_probing_gives_up_on_what_is_not_ready_in_time(tmp_path: Path) -> None:
    write_config(tmp_path, {"hang": entry(hang=True), "other": entry(starts=str(tmp_path / "starts"))})
    ran = toolfold(tmp_path, "check", "hang", "--probe", "--wait", "0.1", "--json")
    assert (ran.code, codes(ran)) == (1, [("error", "still_starting")])
    assert not (tmp_path / "starts").exists()


def test_a_token_under_a_profile_that_there_is_not_is_an_error_and_opens_nothing(tmp_path: Path) -> None:
    token = {"hash": f"sha256:{'0' * 64}", "profile": "codr"}
    write_config(tmp_path, {"one": entry(tools=1)}, {"profiles": {"coder": {}}, "http": {"tokens": {"anne": token}}})
    ran = toolfold(tmp_path, "check", "--json")
    assert (ran.code, ran.member("findings")) == (
        1,
        [
            {
                "severity": "error",
                "code": "bad_token",
                "where": f"{tmp_path}/mcp.json: gateway.http.tokens",
                "message": "`anne` has the profile `codr`, which there is not; nobody may enter with it.",
                "fix": "Write that profile under gateway.profiles, or correct its name.",
            }
        ],
    )
