"""What a profile may not see is nowhere to be seen, in whatever mode the gateway publishes."""

import json
from pathlib import Path

import pytest

from server.access import OWNER, Caller
from server.code import Bridge
from server.code.run import Method
from server.errors import GatewayError
from server.face import Face, ToolRequest
from server.gateway import Gateway
from server.modes import CodeRequest
from server.surface import HOW
from tests.support.gateways import Opened, error_of, gateway, payload
from tests.support.hosts import SERVE, open_host
from tests.support.upstreams import entry, write_config
from upstream_clients import PATH_META, JsonObject

CODER = Caller("coder")
FREE = Caller("free")
HIDDEN = ("wipe", "secret", "other")
"""Of each thing that a coder may not see, the name."""

Settings = dict[str, object]


def tool(name: str) -> JsonObject:
    return {"name": name, "description": f"Does {name} to notes.", "inputSchema": {"type": "object"}}


def servers() -> dict[str, JsonObject]:
    one = entry(tools=[tool("read"), tool("wipe")]) | {"trusted": True, "description": "Notes."}
    return {"one": one, "other": entry(tools=[tool("look")]) | {"trusted": True}}


def settings(tool_search: object) -> Settings:
    return {
        "toolSearch": tool_search,
        "clientTools": [{"name": "secret", "description": "Does secret things to notes."}],
        "profiles": {"coder": {"allow": ["mcp:one:*"], "deny": ["*:wipe"]}, "free": {"ask": ["*:wipe"]}},
    }


MODES = {
    "tools": {"mode": "tools"},
    "directory": {"mode": "directory", "directory": {"schemas": ["mcp:one:wipe"]}},
    "false": False,
    "auto": {"mode": "auto"},
    "code": {"mode": "code"},
}


async def everything_shown(opened: Opened, caller: Caller) -> str:
    """All that a caller is shown without naming a tool."""
    seen = opened.running.gateway.seen_by(caller)
    shown: list[object] = [opened.face.list_tools(caller), seen.surface().instructions, seen.surface().directory]
    behind: JsonObject = {PATH_META: ["somebody"]}
    shown.append(opened.face.list_behind(caller, behind, None))
    for arguments in ({"query": "notes"}, {"queries": ["notes", "do wipe to notes", "secret"]}, {}, {"query": " "}):
        shown.append(await opened.ask("tool_search", arguments, caller=caller))
    bridge = Bridge(seen, {})
    shown.append(await bridge.ask("search", ["do to notes"]))
    shown.append(bridge.telemetry())
    return (
        json.dumps(shown).replace("do wipe to notes", "").replace('"query": "secret"', "").replace('\\"secret\\"', "")
    )


@pytest.mark.parametrize("mode", MODES)
async def test_no_list_search_or_directory_shows_what_a_profile_hides(tmp_path: Path, mode: str) -> None:
    async with gateway(tmp_path, servers(), settings(MODES[mode])) as opened:
        of_owner, of_coder = [await everything_shown(opened, caller) for caller in (OWNER, CODER)]
        assert [name for name in ("read", *HIDDEN) if f":{name}" not in of_owner and name not in of_owner] == []
        assert "read" in of_coder
        assert [word for word in ("wipe", "client:", "mcp:other", "- other") if word in of_coder] == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_profile_hides_is_reached_by_no_name_in_any_mode(tmp_path: Path, mode: str) -> None:
    async with gateway(tmp_path, servers(), settings(MODES[mode])) as opened:
        ids = [str(hit["id"]) for hit in await hits_of_owner(opened) if hit["id"] != "mcp:one:read"]
        assert len(ids) == 3
        names = [name for one in ids for name in (one, one.rpartition(":")[2], one.replace(":", "_"))]
        bridge = Bridge(opened.running.gateway.seen_by(CODER), {})
        for name in names:
            asked = [("tool_call", {"id": name}), ("tool_describe", {"id": name}), (name, {})]
            codes = [error_of(await opened.ask(tool, given, caller=CODER))["code"] for tool, given in asked]
            bridged: tuple[Method, ...] = ("call", "describe")
            for method in bridged:
                with pytest.raises(GatewayError) as refused:
                    await bridge.ask(method, [name, {}])
                codes.append(refused.value.code)
            assert codes == ["unknown_tool"] * 5, name
        result = await opened.ask("tool_call", {"id": "mcp:one:read", "args": {}}, caller=CODER)
        assert "isError" not in result


async def hits_of_owner(opened: Opened) -> list[JsonObject]:
    found = (await opened.search("notes", limit=20))["tools"]
    assert isinstance(found, list)
    return found


async def test_a_profile_that_hides_nothing_is_shown_the_very_list_that_all_are_shown(tmp_path: Path) -> None:
    async with gateway(tmp_path, servers(), settings(False)) as opened:
        surfaces = [opened.running.gateway.seen_by(caller).surface() for caller in (OWNER, FREE)]
        assert surfaces[0] is surfaces[1]
        mine = opened.running.gateway.seen_by(CODER).surface()
        assert mine is opened.running.gateway.seen_by(CODER).surface()
        assert dict(mine.bill.sources) == {"mcp": 1}


async def test_mode_auto_is_chosen_by_what_the_caller_may_see(tmp_path: Path) -> None:
    many = entry(tools=[tool(f"tool_{number}") for number in range(200)])
    written = settings({"mode": "auto", "autoAboveTokens": 1000})
    async with gateway(tmp_path, {"one": servers()["one"], "many": many}, written) as opened:
        surfaces = [opened.running.gateway.seen_by(caller).surface() for caller in (OWNER, CODER)]
    assert [(surface.mode, len(surface.tools)) for surface in surfaces] == [("tools", 3), ("off", 2)]
    assert "tokens, over 1,000" in surfaces[0].why
    assert "tokens, not over 1,000" in surfaces[1].why
    assert surfaces[0].instructions.partition("\n")[0] == surfaces[1].instructions.partition("\n")[0]


async def test_code_is_run_with_what_the_caller_may_see(tmp_path: Path) -> None:
    counts: list[int] = []

    async def run(seen: Gateway, _request: CodeRequest) -> tuple[JsonObject, GatewayError | None]:
        counts.append(sum(seen.sources().values()))
        return {"ok": True}, None

    async with gateway(tmp_path, servers(), settings(MODES["code"])) as opened:
        face = Face(opened.running.gateway, run)
        for caller in (OWNER, CODER):
            result = await face.call_tool(ToolRequest("tool_search_code", {"code": "1"}, {}, caller))
            assert payload(result) == {"ok": True}
    assert counts == [4, 1]


@pytest.mark.parametrize(
    ("profile", "clients", "shown"),
    [("", [], ["read", "wipe", "other"]), ("coder", [], ["read"]), ("", ["somebody else"], [])],
)
async def test_a_host_is_told_of_nothing_that_it_might_not_see(
    tmp_path: Path, profile: str, clients: list[str], shown: list[str]
) -> None:
    written = settings({"mode": "directory"})
    profiles = {"coder": {"allow": ["mcp:one:*"], "deny": ["*:wipe"]}, "named": {"deny": ["*"], "clients": clients}}
    async with gateway(tmp_path, servers(), written):
        pass  # now there is something in the cache
    config = write_config(tmp_path, servers(), {**written, "profiles": profiles})
    async with open_host(config, era="ungreeted", command=[*SERVE, "--profile", profile]) as host:
        told = str((await host.greet())["instructions"])
    assert told.startswith(HOW)
    assert [name for name in ("read", "wipe", "other") if f":{name}" in told] == shown
    assert ("- one" in told) is bool(shown)
