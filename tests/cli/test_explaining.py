"""`toolfold search --explain`: why a tool is found, for a person and for a machine."""

import re
from pathlib import Path

import pytest

from tests.support.cli_runs import toolfold
from tests.support.upstreams import entry, write_config
from upstream_clients import JsonObject

CREATE: JsonObject = {
    "name": "create_event",
    "description": "Add an event to a calendar.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string", "description": "What it is called."}}},
}
DELETE: JsonObject = {
    "name": "delete_event",
    "description": "Remove an event.",
    "inputSchema": {"type": "object"},
}


def test_each_hit_says_which_words_scored_what_where_and_adds_up(tmp_path: Path) -> None:
    write_config(tmp_path, {"calendar": entry(tools=[CREATE, DELETE])})
    ran = toolfold(tmp_path, "search", "--explain", "--json", "-n", "1", "evento", "zeppelin", "called")
    assert (ran.code, ran.err) == (0, "")
    (hit,) = ran.member("tools")
    why = hit.pop("explanation")
    assert isinstance(why, dict)
    assert hit == {
        "id": "mcp:calendar:create_event",
        "confidence": "low",
        "description": "Add an event to a calendar.",
        "input": "unknown",
    }
    assert [(one["word"], one["met_as"], one["origin"], list(one["fields"])) for one in why["words"]] == [
        ("event", "event", "translation", ["name", "first sentence"]),
        ("called", "call", "said", ["parameter description"]),
    ]
    assert (why["named"], why["unmet"], list(why["bonuses"])) == (False, ["zeppelin"], ["as written", "name"])
    for one in why["words"]:
        assert sum(one["fields"].values()) == pytest.approx(one["score"], abs=0.01)
    parts = [one["score"] for one in why["words"]] + list(why["bonuses"].values())
    assert sum(parts) == pytest.approx(why["score"], abs=0.01)


def test_a_person_gets_a_table_for_each_hit(tmp_path: Path) -> None:
    write_config(tmp_path, {"calendar": entry(tools=[CREATE, DELETE])})
    ran = toolfold(tmp_path, "search", "--explain", "create_event", "zeppelin", "-n", "1")
    assert (ran.code, ran.err) == (0, "")
    assert re.sub(r"\d+\.\d\d", "N", re.sub(r"\d+%", "N%", ran.out)).splitlines() == [
        "mcp:calendar:create_event",
        "  Add an event to a calendar.",
        "  high: N · your words: N% of N, the most that they can score without a bonus · you named it",
        "  word    score  met             where",
        "  create  N   as you said it  creat in name N",
        "  event   N   as you said it  event in name N, first sentence N",
        "  +       N   a bonus         words in the very form that you wrote",
        "  +       N   a bonus         words side by side",
        "  +       N   a bonus         the name covered",
        "  not met: zeppelin",
        "",
    ]


def test_an_empty_answer_has_nothing_to_explain(tmp_path: Path) -> None:
    write_config(tmp_path, {"calendar": entry(tools=[CREATE])})
    ran = toolfold(tmp_path, "search", "--explain", "--json", "zeppelin")
    assert (ran.code, ran.member("tools")) == (0, [])
    assert str(ran.json()["note"]).startswith("Nothing matches.")
