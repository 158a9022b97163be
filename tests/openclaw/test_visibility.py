"""Which sessions can be reached: by key, by id, by label, in what is asked and in what is answered."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.gateways import error_of, gateway, payload
from tests.support.openclaw_gateway import TOKEN, openclaw_gateway, result
from upstream_clients import JsonObject
from upstream_clients.openclaw.target import OpenClawGateway, Visibility
from upstream_clients.openclaw.visibility import Directory, filtered, named_in, needs_directory, why_forbidden

OWN = "agent:main:main"
CHILD = "agent:main:subagent:1"
GRANDCHILD = "agent:main:subagent:2"
SIBLING = "agent:main:work"
STRANGER = "agent:ops:main"

ROWS: list[JsonObject] = [
    {"key": OWN, "sessionId": "id-own", "agentId": "main", "kind": "main", "childSessions": [CHILD]},
    {"key": CHILD, "sessionId": "id-child", "agentId": "main", "kind": "other", "label": "helper"},
    {"key": GRANDCHILD, "sessionId": "id-grand", "agentId": "main", "kind": "other", "parentSessionKey": CHILD},
    {"key": SIBLING, "sessionId": "id-work", "agentId": "main", "kind": "group", "label": "work"},
    {"key": STRANGER, "sessionId": "id-ops", "agentId": "ops", "kind": "main", "parentSessionKey": "agent:ops:x"},
]
HERE = OpenClawGateway("http://127.0.0.1:1", 1024, 1.0)


@pytest.mark.parametrize(
    ("visibility", "reached"),
    [
        ("self", {OWN}),
        ("tree", {OWN, CHILD, GRANDCHILD}),
        ("agent", {OWN, CHILD, GRANDCHILD, SIBLING}),
        ("all", {OWN, CHILD, GRANDCHILD, SIBLING, STRANGER}),
    ],
)
def test_each_scope_reaches_so_far_by_whatever_name(visibility: Visibility, reached: set[str]) -> None:
    here, directory = replace(HERE, visibility=visibility), Directory.of(ROWS)

    def is_reached(tool: str, arguments: JsonObject) -> bool:
        return not why_forbidden(named_in(tool, arguments), directory, here)

    keys = [str(row["key"]) for row in ROWS]
    assert {key for key in keys if is_reached("sessions_history", {"sessionKey": key})} == reached
    ids = {row["sessionId"]: row["key"] for row in ROWS}
    assert {key for number, key in ids.items() if is_reached("session_status", {"sessionKey": number})} == reached
    assert is_reached("sessions_send", {"label": "helper", "message": ""}) is (CHILD in reached)
    assert is_reached("sessions_send", {"label": "work", "message": ""}) is (SIBLING in reached)
    assert is_reached("sessions_send", {"agentId": "ops", "message": ""}) is (STRANGER in reached)
    assert is_reached("sessions", {"targets": [{"sessionKey": SIBLING}]}) is (SIBLING in reached)
    assert is_reached("sessions_history", {"sessionKey": "main", "sessionId": "id-ops"}) is (STRANGER in reached)
    assert is_reached("sessions_history", {"sessionKey": "main", "sessionId": "id-own"})
    assert is_reached("session_status", {"sessionKey": "current"})
    assert is_reached("session_status", {})
    assert is_reached("sessions_spawn", {"task": "x"})


@pytest.mark.parametrize("visibility", ["self", "tree", "agent"])
def test_what_nobody_has_heard_of_is_outside(visibility: Visibility) -> None:
    here = replace(HERE, visibility=visibility)
    assert "not visible" in why_forbidden(named_in("sessions_send", {"label": "nobody"}), Directory.of(ROWS), here)
    assert "not visible" in why_forbidden(named_in("sessions", {"targets": [3]}), Directory.of(ROWS), here)


def test_a_label_that_two_sessions_have_names_neither() -> None:
    twice = Directory.of([*ROWS, {"key": STRANGER, "label": "helper"}])
    assert why_forbidden(named_in("sessions_send", {"label": "helper"}), twice, replace(HERE, visibility="tree"))


def test_sessions_in_a_circle_are_below_nobody() -> None:
    circle = Directory.of([{"key": "a", "parentSessionKey": "b"}, {"key": "b", "parentSessionKey": "a"}])
    assert not circle.is_below("a", OWN)


def test_rows_of_others_are_left_out_of_what_is_listed_and_found() -> None:
    here, directory = replace(HERE, visibility="self"), Directory.of(ROWS)
    details: JsonObject = {"count": 5, "sessions": ROWS, "hasMore": False, "limitApplied": 100}
    listed = filtered("sessions_list", {"content": [], "structuredContent": details}, directory, here)
    shown = listed["structuredContent"]
    assert isinstance(shown, dict)
    assert shown["sessions"] == [{**ROWS[0], "childSessions": []}]
    assert (shown["count"], shown["visibility"]["mode"]) == (1, "self")
    content = listed["content"]
    assert isinstance(content, list)
    assert json.loads(content[0]["text"]) == shown
    results = [{"sessionKey": key, "snippet": "x"} for key in (OWN, STRANGER)]
    found = filtered("sessions_search", {"structuredContent": {"results": results}}, directory, here)
    assert found["structuredContent"] == {"results": results[:1]}


def test_an_answer_without_keys_is_not_shown_where_sight_is_limited() -> None:
    odd: JsonObject = {"content": [{"type": "text", "text": "agent:ops:main is busy"}]}
    assert filtered("sessions_list", odd, Directory(), replace(HERE, visibility="tree")).get("isError") is True
    assert filtered("sessions_list", odd, Directory(), replace(HERE, visibility="all")) is odd


def test_the_list_of_sessions_is_asked_for_only_where_it_decides() -> None:
    def needs(tool: str, visibility: Visibility, **arguments: object) -> bool:
        return needs_directory(tool, named_in(tool, arguments), replace(HERE, visibility=visibility))

    assert [needs("session_status", "tree", sessionKey=key) for key in ("current", "main", OWN, CHILD)] == [
        False, False, False, True,
    ]  # fmt: skip
    assert not needs("sessions_history", "all", sessionKey=CHILD)
    assert (needs("sessions_list", "tree"), needs("sessions_list", "agent"), needs("llm-task", "tree")) == (
        True,
        False,
        False,
    )


async def test_where_sessions_cannot_be_listed_nothing_is_reached_and_no_other_tool_blamed(tmp_path: Path) -> None:
    async with (
        openclaw_gateway(answers={"session_status": result({"ok": True})}) as there,
        gateway(tmp_path, {}, {"openclaw": {"url": there.url, "token": TOKEN}}) as opened,
    ):
        failed = error_of(await opened.call("openclaw:core:session_status", {"sessionKey": CHILD}))
        tools = {tool.id: tool.exposure for tool in opened.running.library.snapshot.catalog.tools()}
    assert "which sessions are in sight cannot be told" in str(failed["message"])
    assert there.called("session_status") == []
    assert tools["openclaw:core:session_status"] == "catalog"


async def test_a_call_out_of_sight_is_not_made_and_one_in_sight_is(tmp_path: Path) -> None:
    listed = result({"count": 5, "sessions": ROWS, "hasMore": False, "limitApplied": 200})
    status = {
        "ok": True,
        "sessionKey": CHILD,
        "agentId": "main",
        "changedModel": False,
        "stateVersion": 1,
        "statusText": "x",
    }
    answers = {"sessions_list": listed, "session_status": result(status)}
    settings: JsonObject = {"openclaw": {"url": "", "token": TOKEN}}
    async with openclaw_gateway(answers=answers) as there:
        settings["openclaw"] = {"url": there.url, "token": TOKEN}
        async with gateway(tmp_path, {}, settings) as opened:
            near = await opened.call("openclaw:core:session_status", {"sessionKey": CHILD})
            far = await opened.call("openclaw:core:session_status", {"sessionKey": SIBLING})
    assert payload(near) == status
    assert (far["isError"], payload(far)["status"]) == (True, "forbidden")
    assert [call.arguments for call in there.called("session_status")] == [{"sessionKey": CHILD}]
