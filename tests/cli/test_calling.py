"""`toolfold call`, over real upstreams."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.cli_runs import at_a_terminal, running, toolfold
from tests.support.upstreams import entry, received, write_config

ADD = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "on": {"type": "boolean"}, "tags": {"type": "array"}},
        "required": ["a"],
        "additionalProperties": False,
    },
}


def test_the_text_is_printed_as_it_is_and_only_the_named_upstream_is_started(tmp_path: Path) -> None:
    write_config(
        tmp_path,
        {
            "one": entry(
                does={"say": {"do": "text", "text": "\x1b[1mbold\n\né"}, "much": {"do": "text", "bytes": 200_000}}
            ),
            "two": entry(tools=[ADD], starts=str(tmp_path / "starts")),
        },
    )
    said, much = toolfold(tmp_path, "call", "mcp:one:say"), toolfold(tmp_path, "call", "much")
    assert (said.code, said.out, said.err) == (0, "\x1b[1mbold\n\né\n", "")
    assert much.out == f"{'x' * 200_000}\n"  # a host would get the beginning, and the rest on request
    assert not (tmp_path / "starts").exists()


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["a=5", "on=true", 'tags:=["x"]'], ""),
        (["--args", "-"], '{"a": 5, "on": true, "tags": ["x"]}'),
    ],
)
def test_arguments_are_words_or_one_json_object_and_reach_the_upstream_in_their_types(
    tmp_path: Path, words: list[str], stdin: str
) -> None:
    write_config(tmp_path, {"sums": entry(tools=[ADD])})
    ran = toolfold(tmp_path, "call", "mcp:sums:add", *words, stdin=stdin)
    assert (ran.code, json.loads(ran.out)) == (0, {"a": 5, "on": True, "tags": ["x"]})


def test_with_json_the_whole_result_is_printed(tmp_path: Path) -> None:
    result = {
        "content": [{"type": "text", "text": "hi", "x": 1}],
        "structuredContent": {"n": [None]},
        "_meta": {"a": 1},
    }
    write_config(tmp_path, {"one": entry(does={"say": {"do": "result", "result": result}})})
    ran = toolfold(tmp_path, "call", "say", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json() == {**result, "_meta": {"a": 1, "toolfold/tool": "mcp:one:say"}}


def test_a_tools_own_error_ends_with_1_and_is_talk_and_with_json_it_is_the_result(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": entry(does={"fail": {"do": "error", "text": "no such zone"}})})
    person, machine = toolfold(tmp_path, "call", "fail"), toolfold(tmp_path, "call", "fail", "--json")
    assert (person.code, person.out, person.err) == (1, "", "no such zone\n")
    assert (machine.code, machine.json()["isError"], machine.err) == (1, True, "")


def test_what_is_no_text_is_named_beside_the_data(tmp_path: Path) -> None:
    content = [
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
    ]
    bare = {"structuredContent": {"n": 1}}
    does = {"show": {"do": "result", "result": {"content": content}}, "bare": {"do": "result", "result": bare}}
    write_config(tmp_path, {"one": entry(does=does)})
    shown, structured = toolfold(tmp_path, "call", "show"), toolfold(tmp_path, "call", "bare")
    assert (shown.code, shown.out, shown.err) == (0, "inside\nfile:///b\n", "Not shown: image. --json has them.\n")
    assert (structured.code, structured.json()) == (0, {"n": 1})


def test_arguments_that_do_not_fit_end_with_1_and_the_upstream_is_not_called(tmp_path: Path) -> None:
    write_config(tmp_path, {"sums": entry(tools=[ADD], log=str(tmp_path / "log"))})
    ran = toolfold(tmp_path, "call", "mcp:sums:add", "b=5", "--json")
    assert (ran.code, ran.error()["code"]) == (1, "invalid_arguments")
    assert "tools/call" not in [message["method"] for message in received(tmp_path / "log")]


def test_words_that_are_no_arguments_end_with_2_before_anything_is_started(tmp_path: Path) -> None:
    write_config(tmp_path, {"sums": entry(tools=[ADD], starts=str(tmp_path / "starts"))})
    ran = toolfold(tmp_path, "call", "mcp:sums:add", "a=1", "--args", "{}")
    assert (ran.code, ran.out) == (2, "")
    assert not (tmp_path / "starts").exists()


def test_each_way_in_which_a_tool_is_not_there_has_its_own_code(tmp_path: Path) -> None:
    write_config(
        tmp_path,
        {
            "hang": entry(hang=True),
            "sums": entry(tools=[ADD]),
            "unset": {"command": "${TOOLFOLD_TEST_UNSET}"},
        },
    )
    unknown = toolfold(tmp_path, "call", "mcp:sums:ad", "--json")
    starting = toolfold(tmp_path, "call", "mcp:hang:add", "--wait", "0.1", "--json")
    misconfigured = toolfold(tmp_path, "call", "mcp:unset:add", "--json")
    assert (unknown.code, unknown.error()["candidates"]) == (12, ["mcp:sums:add"])
    assert (starting.code, starting.error()["code"]) == (10, "still_starting")
    assert (misconfigured.code, misconfigured.error()["code"]) == (1, "upstream_down")
    assert "TOOLFOLD_TEST_UNSET" in misconfigured.err


def test_a_terminal_shows_what_is_waited_for_and_what_the_upstream_says_of_its_progress(tmp_path: Path) -> None:
    slow: list[dict[str, object]] = [{"do": "progress", "steps": 3, "every": 0.2}, {"do": "text", "text": "done"}]
    write_config(tmp_path, {"one": entry(does={"slow": slow}, start_delay=0.1)})
    ran = at_a_terminal(tmp_path, "call", "mcp:one:slow")
    assert (ran.code, ran.out) == (0, "done\n")
    assert "Starting upstreams: one" in ran.shown
    assert "mcp:one:slow step 3" in ran.shown


def test_ctrl_c_ends_the_command_with_130_and_leaves_nothing_running(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "starts")
    write_config(tmp_path, {"hang": entry(hang=True, ignore_sigterm=True, starts=str(tmp_path / "starts"))})
    with running(tmp_path, "call", "mcp:hang:thing") as process:
        upstream = int((tmp_path / "starts").read_text().split()[0])  # waits until it has been started
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.kill(upstream, 0)
