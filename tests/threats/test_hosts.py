"""What a host, or whoever can write to our files, can make us start or become. Real processes."""

import json
from pathlib import Path

import pytest

from tests.support.cli_runs import toolfold
from tests.support.hosts import open_host, part
from tests.support.upstreams import entry, received, write_config
from upstream_clients import JsonObject


@pytest.mark.parametrize("mode", [0o666, 0o602])
@pytest.mark.parametrize("command", ["serve", "list"])
def test_a_configuration_that_everybody_may_change_starts_nothing(tmp_path: Path, command: str, mode: int) -> None:
    starts = tmp_path / "starts"
    write_config(tmp_path, {"one": entry(tools=1, starts=str(starts))}).chmod(mode)
    ran = toolfold(tmp_path, command)
    assert (ran.code, ran.out) == (4, "")
    assert "can be changed by every user of this machine" in ran.err
    assert f"chmod o-w {tmp_path}/mcp.json" in ran.err
    assert not starts.exists()


def test_one_that_its_group_may_change_is_pointed_out(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": entry(tools=1)}).chmod(0o660)
    ran = toolfold(tmp_path, "check", "--json")
    assert [finding["code"] for finding in ran.member("findings")] == ["group_writable"]


def test_the_exact_command_line_of_a_server_can_be_read_before_it_is_started(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    server = entry(tools=1, starts=str(starts), marker="$(touch x); a b")
    write_config(tmp_path, {"one": server})
    shown = part(toolfold(tmp_path, "config", "show", "--json").json(), "mcpServers", "one")
    assert (shown["command"], shown["args"]) == (server["command"], server["args"])
    assert not starts.exists()


async def test_no_message_of_a_host_adds_changes_or_starts_an_upstream(tmp_path: Path) -> None:
    pwned, log = tmp_path / "pwned", tmp_path / "log"
    server: JsonObject = {"command": "touch", "args": [str(pwned)], "env": {}, "url": "http://127.0.0.1:9/"}
    said: JsonObject = {"mcpServers": {"evil": server}, "servers": {"evil": server}, "config": str(tmp_path), **server}
    config = write_config(tmp_path, {"one": entry(tools=1, log=str(log))})
    before = config.read_bytes()
    async with open_host(config, era="ungreeted") as host:
        greeting = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"experimental": said},
            "clientInfo": {"name": "x", "version": "1"},
        }
        await host.ask("initialize", {**greeting, **said})
        await host.say("notifications/initialized", said)
        for method in (
            "servers/add",
            "config/set",
            "initialize",
            "roots/list",
            "completion/complete",
            "logging/setLevel",
        ):
            assert "error" in await host.answer(await host.post(method, said))
        await host.say("notifications/roots/list_changed", said)
        for name in ("add_server", "tool_call", "tool_search", "tool_describe", "tool_search_code"):
            for arguments in (
                said,
                {"id": "mcp:evil:x", "args": said},
                {"query": "x", **said},
                {"id": json.dumps(said)},
            ):
                await host.ask("tools/call", {"name": name, "arguments": arguments, "_meta": said})
        state = await host.call("tool_search", {"query": "record"})
        [running] = (tmp_path / "toolfold-state" / "gateways").glob("*.json")
        [upstream] = json.loads(running.read_text())["upstreams"]
    assert upstream["upstream"] == "one"
    assert "evil" not in json.dumps(state)
    assert config.read_bytes() == before
    assert not pwned.exists()
    assert [message for message in received(log) if message["method"] == "tools/call"] == []
