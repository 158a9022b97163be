"""Whatever stands in the way, the text that says so sends a caller to nothing that is not published to it."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from server.access import OWNER, Caller
from server.code import Bridge
from server.errors import GatewayError
from tests.support.gateways import Opened, error_of, gateway
from tests.support.upstreams import entry
from upstream_clients import JsonObject

ODD = {"name": "odd", "inputSchema": {"type": "object", "properties": {"a b": {"type": "string"}}}}
SERVERS = {
    "one": entry(tools=[ODD], does={"echo": {"do": "echo"}, "shout": {"do": "echo"}}),
    "two": entry(does={"shout": {"do": "echo"}}),
}
CODER = Caller("coder")
OURS = re.compile(r"\b(?:tool_search_code|tool_search|tool_describe|tool_call|toolfold_read_result|openclaw\.tools)\b")
HAS = {
    "tools": {"tool_search", "tool_describe", "tool_call"},
    "code": {"tool_search_code", "openclaw.tools"},
    "directory": {"tool_search", "tool_describe", "tool_call"},
    "off": {"toolfold_read_result"},
}


@dataclass(frozen=True, slots=True)
class Case:
    opened: Opened
    mode: str
    caller: Caller


@pytest.fixture(scope="module", params=[(mode, caller) for mode in HAS for caller in (OWNER, CODER)], ids=str)
async def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Case]:
    mode, caller = request.param
    settings = {
        "toolSearch": False if mode == "off" else {"mode": mode},
        "directTools": ["mcp:one:odd"],
        "profiles": {"coder": {"deny": ["*:nothing"]}},
        "limits": {"resultBytes": 1024},
    }
    async with gateway(tmp_path_factory.mktemp(mode), SERVERS, settings) as opened:
        yield Case(opened, mode, caller)


async def texts(case: Case) -> list[str]:
    """All that says where to go next."""
    long: JsonObject = {"id": "mcp:one:echo", "args": {"text": "é" * 3000}}
    refused: list[tuple[str, JsonObject]] = [
        ("tool_call", {"id": "mcp:one:ech"}),
        ("tool_call", {"id": "zyzzyva"}),
        ("tool_call", {"id": "shout"}),
        ("tool_call", {"args": {}}),
        ("no_such_tool", {}),
        ("tool_search_code", {"code": "1"}),
    ]
    if case.mode not in ("off", "directory"):  # where its own name is as good
        refused.append(("echo", {}))
    said = [str(error_of(await case.opened.ask(name, given, caller=case.caller))) for name, given in refused]
    said.append(json.dumps(await case.opened.ask("tool_call", long, caller=case.caller)))
    said.append(json.dumps([tool for tool in listed(case) if tool["name"] == "odd"]))
    return said


def listed(case: Case) -> list[JsonObject]:
    tools = case.opened.face.list_tools(case.caller)["tools"]
    assert isinstance(tools, list)
    return tools


async def test_every_text_names_only_what_the_caller_has(case: Case) -> None:
    published = {str(tool["name"]) for tool in listed(case)}
    assert {name for name in HAS[case.mode] if name != "openclaw.tools"} <= published
    said = await texts(case)
    named = {name for text in said for name in OURS.findall(text)}
    assert named <= HAS[case.mode]
    assert named & HAS[case.mode]


async def test_an_unknown_tool_is_looked_for_with_what_there_is(case: Case) -> None:
    hint = error_of(await case.opened.ask("tool_call", {"id": "zyzzyva"}, caller=case.caller))["hint"]
    assert hint == {
        "code": "Find its id with openclaw.tools.search.",
        "off": "Take a name from the list of tools.",
    }.get(case.mode, "Find its id with tool_search.")
    ambiguous = str(error_of(await case.opened.ask("tool_call", {"id": "shout"}, caller=case.caller))["hint"])
    assert ambiguous == (
        "Use one of these names: one_shout, two_shout."
        if case.mode == "off"
        else "Use one of these ids: mcp:one:shout, mcp:two:shout."
    )


@pytest.mark.parametrize("case", [("code", OWNER), ("code", CODER)], indirect=True, ids=str)
async def test_code_is_told_of_its_own_means_alone(case: Case) -> None:
    bridge = Bridge(case.opened.running.gateway.seen_by(case.caller), {})
    for reference in ("zyzzyva", "mcp:one:ech", "shout"):
        with pytest.raises(GatewayError) as refused:
            await bridge.ask("call", [reference, {}])
        assert set(OURS.findall(f"{refused.value} {refused.value.hint}")) <= {"openclaw.tools"}
    for limit in ({"limit": 1}, {"limit": "1"}, 1):  # as forgiving as the tool is
        hits = await bridge.ask("search", ["echo shout", limit])
        assert isinstance(hits, list)
        assert len(hits) == 1
    cut = await bridge.ask("call", ["mcp:one:echo", {"text": "x" * 3000}])
    marker = re.search(r"Read on within 10 minutes: await openclaw\.tools\.call\((.*)\)\]", json.dumps(cut))
    assert marker is not None
