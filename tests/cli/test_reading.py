"""`toolfold list`, `search` and `describe`, over real upstreams."""

from pathlib import Path

from server.answers import missing
from tests.support.cli_runs import toolfold
from tests.support.upstreams import entry, write_config
from upstream_clients import State, UpstreamStatus

NOW = {
    "name": "now",
    "title": "Current time",
    "description": "Get the current time\nin a zone.\x1b[31m",
    "inputSchema": {
        "type": "object",
        "properties": {"zone": {"type": "string", "description": "An IANA zone."}, "count": {"type": "integer"}},
        "required": ["zone"],
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": "?"},
    "x-unknown": [1],
}
PLAIN = {**NOW, "description": "Get the current time\nin a zone."}
UNSOUND = {"name": "two words", "description": "Never usable.", "inputSchema": {"type": "object"}}
SECRET = {"name": "reset", "description": "Forget the time.", "inputSchema": {"type": "object"}}
WARNING = "it is suspicious: its description holds control characters"
CLEAN = "Get the current time in a zone."


def starts(file: Path) -> int:
    return len(file.read_bytes().splitlines()) if file.exists() else 0


def test_list_shows_tools_with_what_is_quarantined_and_why_and_counts_what_is_hidden(tmp_path: Path) -> None:
    time = entry(tools=[NOW, UNSOUND, SECRET], starts=str(tmp_path / "starts"))
    write_config(tmp_path, {"time": {**time, "excludeTools": ["reset"]}})
    ran = toolfold(tmp_path, "list", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.member("tools") == [
        {
            "id": "mcp:time:now", "upstream": "time", "name": "now", "label": "Current time", "description": CLEAN,
            "exposure": "catalog", "warning": WARNING,
        },
        {
            "id": "mcp:time:two words", "upstream": "time", "name": "two words", "label": "two words",
            "description": "", "exposure": "quarantined",
            "reason": "the name is not 1 to 128 characters of A-Z a-z 0-9 _ . -",
            "fix": "Its server has to give it another name: tell its maker.",
        },
    ]  # fmt: skip
    (upstream,) = ran.member("upstreams")
    assert (upstream["state"], upstream["tools"]) == ("ready", {"catalog": 1, "hidden": 1, "quarantined": 1})

    again = toolfold(tmp_path, "list")
    assert starts(tmp_path / "starts") == 1  # the stored listing was read
    assert (again.code, again.err) == (0, "")
    assert again.out == (
        "time · 2 tools · 1 hidden by the configuration (--all) · stored listing\n"
        f"mcp:time:now        ({WARNING}: see `toolfold trust`) {CLEAN}\n"
        "mcp:time:two words  quarantined: the name is not 1 to 128 characters of A-Z a-z 0-9 _ . - → Its server has to "
        "give it another name: tell its maker.\n"
        "\n"
    )

    everything = toolfold(tmp_path, "list", "--all")
    assert everything.out == (
        "time · 2 tools · 1 hidden by the configuration · stored listing\n"
        f"mcp:time:now        ({WARNING}: see `toolfold trust`) {CLEAN}\n"
        "mcp:time:reset      (hidden: excluded by excludeTools) Forget the time.\n"
        "mcp:time:two words  quarantined: the name is not 1 to 128 characters of A-Z a-z 0-9 _ . - → Its server has to "
        "give it another name: tell its maker.\n"
        "\n"
    )

    toolfold(tmp_path, "list", "--refresh")
    assert starts(tmp_path / "starts") == 2


def test_on_a_narrow_terminal_nothing_is_cut_and_ids_stay_whole(tmp_path: Path) -> None:
    write_config(tmp_path, {"time": entry(tools=[PLAIN, {**PLAIN, "name": "n" * 60}])})
    ran = toolfold(tmp_path, "list", COLUMNS="30")
    assert ran.out == (
        f"time · 2 tools\nmcp:time:{'n' * 60}\n  Get the current time in a\n  zone.\n"
        "mcp:time:now\n  Get the current time in a\n  zone.\n\n"
    )


def test_an_upstream_that_is_down_is_listed_with_its_reason_and_fails_only_if_nothing_else_is_there(
    tmp_path: Path,
) -> None:
    write_config(tmp_path, {"crash": entry(exit=3), "time": entry(tools=[NOW])})
    everything, one = toolfold(tmp_path, "list"), toolfold(tmp_path, "list", "crash", "--json")
    assert everything.code == 0
    assert everything.out.startswith(
        "crash · down: it ended with exit code 3 (`toolfold check crash --probe` says more)\n\ntime · 1 tool\n"
    )
    assert (one.code, one.member("tools"), one.error()["code"]) == (1, [], "upstream_down")
    assert "crash is down: it ended with exit code 3" in one.err


def test_an_unknown_upstream_ends_with_12_and_names_what_may_have_been_meant(tmp_path: Path) -> None:
    write_config(tmp_path, {"time": entry(tools=[NOW], starts=str(tmp_path / "starts"))})
    ran = toolfold(tmp_path, "list", "tim", "--json")
    assert (ran.code, ran.error()["candidates"], starts(tmp_path / "starts")) == (12, ["time"], 0)
    other = toolfold(tmp_path, "list", "zeppelin")
    assert (other.code, other.err) == (12, "toolfold: There is no upstream 'zeppelin'. Those that there are: time.\n")


def test_a_person_is_told_what_the_policy_asks_about_and_blocks(tmp_path: Path) -> None:
    tools = [{**NOW, "name": "now"}, {**NOW, "name": "later"}]
    write_config(tmp_path, {"time": entry(tools=tools)}, {"policy": {"ask": ["*:now"], "block": ["*:later"]}})
    found = toolfold(tmp_path, "search", "current time")
    assert "mcp:time:now\n  (a person is asked before it is run)\n" in found.out
    assert "mcp:time:later\n  (it is found, but not run)\n" in found.out
    described = toolfold(tmp_path, "describe", "later")
    assert "\nPolicy: block: the operator does not let it be run; a call is refused\n" in described.out


def test_search_answers_what_a_model_gets_and_says_beside_it_what_was_not_searched(tmp_path: Path) -> None:
    write_config(tmp_path, {"crash": entry(exit=3), "time": {**entry(tools=[NOW, SECRET]), "trusted": True}})
    machine = toolfold(tmp_path, "search", "current", "time", "-n", "1", "--json")
    person = toolfold(tmp_path, "search", "current time", "-n", "1")
    hit = {"id": "mcp:time:now", "confidence": "high", "label": "Current time", "description": CLEAN}
    signature = "{ zone: string; count?: number /* integer */ }"
    assert (machine.code, machine.err) == (0, "")
    assert machine.json() == {
        "tools": [{**hit, "input": signature}],
        "unavailable": {"crash": "it ended with exit code 3"},
    }
    assert (person.code, person.out) == (0, f"mcp:time:now\n  {CLEAN}\n  {signature}\n")
    assert person.err == "crash was not searched: it ended with exit code 3\n"


def test_a_search_that_finds_nothing_prints_no_data_and_succeeds(tmp_path: Path) -> None:
    write_config(tmp_path, {"time": entry(tools=[NOW])})
    ran = toolfold(tmp_path, "search", "zeppelin")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("Nothing matches.")


def test_while_an_upstream_starts_an_empty_answer_ends_with_10_and_a_found_one_does_not(tmp_path: Path) -> None:
    write_config(tmp_path, {"slow": entry(hang=True), "time": entry(tools=[NOW])})
    toolfold(tmp_path, "list", "time")
    nothing = toolfold(tmp_path, "search", "zeppelin", "--wait", "0.1")
    found = toolfold(tmp_path, "search", "time", "--wait", "0.1")
    assert (nothing.code, nothing.out) == (10, "")
    assert "still starting: slow" in nothing.err
    assert (found.code, found.out) == (0, f"mcp:time:now\n  {CLEAN}\n")
    assert found.err == "Still starting, and not searched: slow.\n"


def test_an_upstream_that_failed_is_unavailable_while_it_is_tried_again() -> None:
    retried = UpstreamStatus("crash", State.STARTING, since=2.0, error="it ended with exit code 3", down_since=1.0)
    assert missing([retried], frozenset()) == {"unavailable": {"crash": "it ended with exit code 3"}}


def test_describe_shows_a_person_the_arguments_and_how_to_call_and_a_program_everything(tmp_path: Path) -> None:
    write_config(tmp_path, {"time": entry(tools=[NOW], instructions="Ask for\nIANA zones.\x07")})
    machine = toolfold(tmp_path, "describe", "mcp:time:now", "--json")
    person = toolfold(tmp_path, "describe", "now")
    assert (machine.code, machine.err, machine.json()["tool"]) == (0, "", PLAIN)
    assert (person.code, person.err) == (0, "")
    assert person.out == (
        "mcp:time:now\n"
        "Current time\n"
        "Get the current time\nin a zone.\n"
        "\n"
        "argument  type     needed\n"
        "zone      string   yes     An IANA zone.\n"
        "count     integer\n"
        "\n"
        "Its server says: it only reads\n"
        "Look at it first: it is suspicious: its description holds control characters (see `toolfold trust`)\n"
        "Run it: toolfold call mcp:time:now zone=…\n"
        "Upstream: time, idle, read from its stored listing\n"
        "\n"
        "Text of the upstream server time, not of toolfold or the user. Beware: it holds control characters.\n"
        "  Ask for\n  IANA zones.\n"
    )


def test_an_unknown_id_ends_with_12_and_candidates_and_a_hidden_tool_is_an_unknown_one(tmp_path: Path) -> None:
    write_config(tmp_path, {"time": {**entry(tools=[NOW, SECRET]), "excludeTools": ["reset"]}})
    misspelt, hidden = (toolfold(tmp_path, "describe", name, "--json") for name in ("mcp:tme:now", "mcp:time:reset"))
    assert (misspelt.code, misspelt.error()["candidates"]) == (12, ["mcp:time:now"])
    assert (hidden.code, hidden.error()["code"]) == (12, "unknown_tool")
    assert "reset" not in str(hidden.error().get("candidates"))


def test_what_a_person_is_told_to_run_names_the_configuration_that_was_given(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"time": entry(tools=[NOW])}).rename(tmp_path / "my own.json")
    described = toolfold(tmp_path, "describe", "now", "--config", str(config))
    assert f"(see `toolfold trust --config '{config}'`)" in described.out
    assert f"Run it: toolfold call mcp:time:now zone=… --config '{config}'\n" in described.out
    unknown = toolfold(tmp_path, "describe", "nowhere", "--config", str(config))
    assert (unknown.code, "`toolfold" in unknown.err) == (12, "--config" in unknown.err)
