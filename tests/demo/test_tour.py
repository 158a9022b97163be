"""The demo as a person runs it: the real command, over three real servers."""

import json
from pathlib import Path

from tests.support.cli_runs import toolfold
from tests.support.hosts import open_host, text_of


def test_the_demo_finds_calls_repairs_refuses_and_shows_a_bill_that_pays(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "demo")
    assert ran.code == 0, ran.err
    for shown in (
        "mcp:data:query",
        "new chain for the tandem",
        "repaired:",
        "Invalid arguments for mcp:everyday:convert_time",
    ):
        assert shown in ran.out
    assert "The bill for 40 tools of 3 servers" in ran.out


async def test_a_newcomer_gets_a_configuration_that_a_host_can_be_pointed_at(tmp_path: Path) -> None:
    config = tmp_path / "new" / "mcp.json"
    ran = toolfold(tmp_path, "demo", "--config", "new/mcp.json", "--json")
    host = ran.json()["host"]
    assert isinstance(host, dict)
    entry = host["mcpServers"]["toolfold"]
    async with open_host(config, command=[entry["command"], *entry["args"][:-2]]) as opened:
        asked = await opened.call("tool_call", {"id": "mcp:data:list_tables", "args": {}})
    assert "orders" in text_of(asked)
    assert entry["args"][-2:] == ["--config", str(config)]
    assert config.stat().st_mode & 0o777 == 0o600
    again = toolfold(tmp_path, "demo", "--config", "new/mcp.json", "--json")
    assert (again.code, again.error()["code"]) == (1, "file_exists")
    person = toolfold(tmp_path, "demo", "--config", "new/other.json")
    assert json.loads(person.out)["mcpServers"]["toolfold"]["args"][-1] == str(tmp_path / "new" / "other.json")


def test_as_json_the_demo_prints_the_bill_and_nothing_else(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "demo", "--json")
    bill = json.loads(ran.out)
    assert (ran.code, ran.err, bill["tools"]) == (0, "", 40)
    assert bill["folded_bytes"] < bill["direct_bytes"] / 10
