"""What callers of different kinds see and may call of the same gateway."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from server.access import OWNER, Accesses, Caller, Verdict
from server.config import GatewaySettings, PolicySettings, ProfileSettings
from tests.support.gateways import Opened, error_of, gateway, payload
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject

READS: JsonObject = {"annotations": {"readOnlyHint": True}}
EMPTY: JsonObject = {"inputSchema": {"type": "object"}}
CODER, STRANGER = Caller("coder"), Caller(is_known=False)


def tool(name: str, **more: object) -> JsonObject:
    return {"name": name, "description": f"Does {name} to notes.", **EMPTY, **more}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Opened]:
    one = entry(log=str(log), tools=[tool(name) for name in ("read", "write", "wipe", "mine")])
    two = entry(tools=[tool("read"), tool("look", **READS)])
    three = entry(tools=[tool("peek", **READS), tool("poke")]) | {"trusted": True}
    settings = {
        "policy": {"block": ["*:wipe"], "ownerOnly": ["*:mine"], "readOnly": ["mcp:one:read"]},
        "directTools": ["mcp:one:write", "mcp:three:peek"],
        "profiles": {
            "coder": {"allow": ["mcp:one:*"], "deny": ["*:write"], "ask": ["mcp:one:read"]},
            "reader": {"readOnly": True},
            "shy": {"clients": ["shy*"], "deny": ["mcp:one:*"]},
        },
    }
    async with gateway(
        tmp_path_factory.mktemp("profiles"), {"one": one, "two": two, "three": three}, settings
    ) as opened:
        yield opened


async def seen(opened: Opened, caller: Caller) -> list[str]:
    found = payload(await opened.ask("tool_search", {"query": "notes", "limit": 20}, caller=caller))["tools"]
    assert isinstance(found, list)
    return sorted(hit["id"].removeprefix("mcp:") for hit in found)


@pytest.mark.parametrize(
    ("caller", "tools"),
    [
        (OWNER, "one:mine one:read one:wipe three:poke two:look two:read"),
        (STRANGER, "one:read one:wipe three:poke two:look two:read"),
        (CODER, "one:read one:wipe"),
        (Caller("reader"), "one:read"),
        (Caller(client="shy 1.0"), "three:poke two:look two:read"),
        (Caller("reader", "shy"), ""),
        (Caller("coder", "shy"), ""),
        (Caller("there is none"), ""),
    ],
)
async def test_search_finds_what_a_caller_may_see(opened: Opened, caller: Caller, tools: str) -> None:
    assert await seen(opened, caller) == tools.split()


async def test_hits_that_are_left_out_make_room_for_others(opened: Opened) -> None:
    for caller, expected in ((OWNER, 1), (Caller("reader"), 1)):
        found = payload(await opened.ask("tool_search", {"query": "notes", "limit": 1}, caller=caller))["tools"]
        assert isinstance(found, list)
        assert len(found) == expected


async def test_the_published_list_is_of_the_caller_too(opened: Opened) -> None:
    def published(caller: Caller) -> list[str]:
        tools = opened.face.list_tools(caller)["tools"]
        assert isinstance(tools, list)
        return [tool["name"] for tool in tools if not tool["name"].startswith("tool_")]

    callers = [OWNER, CODER, Caller("reader"), Caller(client="shy")]
    assert [published(caller) for caller in callers] == [["peek", "write"], [], ["peek"], ["peek"]]
    assert error_of(await opened.ask("write", {}, caller=CODER))["code"] == "unknown_tool"
    assert "isError" not in await opened.ask("write", {}, caller=OWNER)


@pytest.mark.parametrize("caller", [CODER, Caller("reader"), STRANGER])
@pytest.mark.parametrize("name", ["tool_call", "tool_describe", ""])
async def test_what_a_caller_may_not_see_answers_as_what_never_was(opened: Opened, caller: Caller, name: str) -> None:
    hidden = {CODER: "mcp:two:look", Caller("reader"): "mcp:one:write", STRANGER: "mcp:one:mine"}[caller]
    for asked in (hidden, hidden.rpartition(":")[2]):
        never = asked[:-1] + "#"
        answers = [
            json.dumps(await opened.ask(name or one, {"id": one} if name else {}, caller=caller)).replace(one, "ID")
            for one in (asked, never)
        ]
        assert "unknown_tool" in answers[0]
        assert "Did you mean" not in answers[0] or answers[0] == answers[1]
        assert hidden not in answers[0]


async def test_a_bare_name_stands_for_the_only_one_that_the_caller_sees(opened: Opened) -> None:
    assert error_of(await opened.call("read"))["code"] == "ambiguous_tool"
    described = payload(await opened.ask("tool_describe", {"id": "read"}, caller=CODER))
    assert described["id"] == "mcp:one:read"


async def test_a_blocked_tool_is_seen_and_never_run(opened: Opened, log: Path) -> None:
    for name, arguments in (("tool_call", {"id": "mcp:one:wipe"}), ("tool_call", {"id": "wipe", "args": {}})):
        error = error_of(await opened.ask(name, arguments))
        assert error["code"] == "blocked_by_policy"
    assert "wipe" not in json.dumps([message for message in received(log) if message.get("method") == "tools/call"])


@pytest.mark.parametrize(
    ("caller", "name", "short", "whole"),
    [
        (OWNER, "wipe", "block", "block: the operator does not let it be run; a call is refused"),
        (CODER, "read", "ask", "ask: before it is run, a person is asked to approve the call"),
        (OWNER, "read", None, None),
    ],
)
async def test_hits_and_descriptions_say_what_will_become_of_a_call(
    opened: Opened, caller: Caller, name: str, short: str | None, whole: str | None
) -> None:
    answers = [
        payload(await opened.ask("tool_search", arguments, caller=caller))["tools"]
        for arguments in ({"query": f"{name} notes"}, {"queries": [f"{name} notes", "notes"]})
    ]
    described = payload(await opened.ask("tool_describe", {"id": f"mcp:one:{name}"}, caller=caller))
    for hits in answers:
        assert isinstance(hits, list)
        assert [hit.get("policy") for hit in hits if hit["id"] == f"mcp:one:{name}"] == [short]
    assert described.get("policy") == whole


@pytest.mark.parametrize(
    ("everybody", "profile", "verdict"),
    [
        ({}, {}, Verdict.ALLOW),
        ({"ask": ("*",)}, {}, Verdict.ASK),
        ({}, {"ask": ("mcp:a:*",)}, Verdict.ASK),
        ({"ask": ("*",)}, {"block": ("mcp:a:b",)}, Verdict.BLOCK),
        ({"block": ("*:b",)}, {"allow": ("*",)}, Verdict.BLOCK),
        ({"ask": ("*:c",), "block": ("*:c",)}, {"ask": ("*:c",)}, Verdict.ALLOW),
    ],
)
async def test_the_strictest_verdict_counts(
    opened: Opened, everybody: dict[str, tuple[str, ...]], profile: dict[str, tuple[str, ...]], verdict: Verdict
) -> None:
    settings = GatewaySettings(
        policy=PolicySettings.model_validate(everybody), profiles={"p": ProfileSettings.model_validate(profile)}
    )
    known = opened.running.library.snapshot.catalog.tools()[0]
    access = Accesses(settings).of(Caller("p"))
    assert access.verdict(replace(known, id="mcp:a:b")) is verdict
