"""The demo as a person runs it: the real command, over three real servers."""

import json
from pathlib import Path

from tests.support.cli_runs import toolfold


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


def test_as_json_the_demo_prints_the_bill_and_nothing_else(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "demo", "--json")
    bill = json.loads(ran.out)
    assert (ran.code, ran.err, bill["tools"]) == (0, "", 40)
    assert bill["folded_bytes"] < bill["direct_bytes"] / 10
