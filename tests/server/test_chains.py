"""A gateway behind a gateway, over pipes: one id space, one message a call, and no way round in a circle."""

import json
import sys
from pathlib import Path
from secrets import token_hex

import anyio
import pytest

from server.access import OWNER
from tests.support.chains import config_in, toolfold
from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import part, text_of
from tests.support.upstreams import entry, received
from tests.support.waiting import until
from upstream_clients import JsonObject, State

LONG_SECONDS = 60
LONG_BYTES = 3_000_000  # more than a gateway hands on whole
CUT = "\n[toolfold: cut"
NOW: JsonObject = {
    "name": "now",
    "title": "Clock",
    "description": "Tells the current time in a zone.",
    "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
    "annotations": {"readOnlyHint": True},
}


async def listed(opened: Opened, *ids: str) -> None:
    """Returns once these tools are in the catalogue and searchable."""
    catalog = opened.running.library
    await opened.news.until(lambda: {tool.id for tool in catalog.snapshot.catalog.reachable()} >= set(ids))
    await opened.running.library.indexed()


async def test_what_is_behind_a_gateway_is_found_described_and_called_through_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    inner = config_in(tmp_path / "inner", {"time": entry(tools=[NOW], does={"now": {"do": "raw"}}, log=str(log))})
    servers = {"team": toolfold(inner), "own": entry(does={"echo": {"do": "echo"}})}
    async with gateway(tmp_path, servers) as opened:
        await listed(opened, "mcp:team:mcp:time:now")
        known = [tool.id for tool in opened.running.library.snapshot.catalog.tools()]
        found = await opened.search("current time in a zone")
        described = await opened.describe("mcp:team:mcp:time:now")
        before = len(received(log))
        result = await opened.call("mcp:team:mcp:time:now", {"zone": "UTC"})
        calls = received(log)[before:]
        by_bare_name = await opened.call("now", {"zone": "UTC"})
        refused = error_of(await opened.call("mcp:team:mcp:time:now", {"zoen": "UTC"}))
        after = len(received(log))
    async with gateway(tmp_path, servers, {"startup": {"mode": "lazy"}}, ready=False) as opened:
        stored = await opened.search("current time in a zone")
        assert opened.running.statuses()["team"].state is State.IDLE
    assert known == ["mcp:own:echo", "mcp:team:mcp:time:now"]
    [hit] = [hit for hit in _list(found["tools"]) if hit["id"] == "mcp:team:mcp:time:now"]
    assert hit == {
        "id": "mcp:team:mcp:time:now",
        "confidence": "high",
        "label": "Clock",
        "description": NOW["description"],
        "input": "unknown",
    }
    assert stored == {"tools": [{**hit, "cached": True}]}
    assert described["tool"] == {**NOW, "name": "mcp:time:now"}
    assert (described["owner"], described["name"]) == ("team", "mcp:time:now")
    assert [part(call, "params")["name"] for call in calls] == ["now"]
    params = json.loads(text_of(result))
    assert params["arguments"] == {"zone": "UTC"}
    assert set(params["_meta"]) == {"progressToken"}, "a server that is no gateway hears nothing of the path"
    assert part(result, "_meta") == {"toolfold/tool": "mcp:team:mcp:time:now"}
    assert part(by_bare_name, "_meta") == {"toolfold/tool": "mcp:team:mcp:time:now"}
    assert refused["code"] == "invalid_arguments"
    assert after - before == 2


async def test_filters_see_the_inner_id_and_the_name_alike(tmp_path: Path) -> None:
    two = entry(does={name: {"do": "echo"} for name in ("read", "write", "wipe")})
    inner = config_in(tmp_path / "inner", {"disk": two, "tape": two}, {"startup": {"mode": "lazy"}})
    servers = {"team": toolfold(inner, excludeTools=["wipe", "mcp:tape:write"])}
    policy = {"policy": {"deny": ["mcp:team:mcp:tape:r*"]}, "directTools": ["mcp:team:mcp:disk:write"]}
    async with gateway(tmp_path, servers, policy) as opened:
        await opened.news.until(lambda: len(opened.running.library.snapshot.catalog.tools()) == 6)
        shown = {tool.id: str(tool.exposure) for tool in opened.running.library.snapshot.catalog.tools()}
        [direct] = [
            tool for tool in _list(opened.face.list_tools(OWNER)["tools"]) if not str(tool["name"]).startswith("tool_")
        ]
        called = await opened.ask(str(direct["name"]), {"text": "hi"})
    assert shown == {
        "mcp:team:mcp:disk:read": "catalog",
        "mcp:team:mcp:disk:wipe": "hidden",
        "mcp:team:mcp:disk:write": "direct",
        "mcp:team:mcp:tape:read": "hidden",
        "mcp:team:mcp:tape:wipe": "hidden",
        "mcp:team:mcp:tape:write": "hidden",
    }
    assert direct["name"] == "write"
    assert text_of(called) == "hi"


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_a_change_behind_a_gateway_is_heard_though_its_own_list_stays(tmp_path: Path, protocol: str) -> None:
    grow: list[JsonObject] = [
        {"do": "change", "does": {"grow": {"do": "echo"}, "more": {"do": "echo"}}},
        {"do": "text", "text": "done"},
    ]
    inner = config_in(tmp_path / "inner", {"one": entry(does={"grow": grow})})
    async with gateway(tmp_path, {"team": toolfold(inner, protocol=protocol)}) as opened:
        await listed(opened, "mcp:team:mcp:one:grow")
        await opened.call("mcp:team:mcp:one:grow")
        await listed(opened, "mcp:team:mcp:one:more")
        assert text_of(await opened.call("mcp:team:mcp:one:more", {"text": "new"})) == "new"


async def test_progress_passes_and_a_call_that_is_given_up_is_given_up_everywhere(tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow: list[JsonObject] = [{"do": "progress", "steps": 2}, {"do": "text", "text": "done"}]
    one = entry(log=str(log), does={"slow": slow, "stuck": {"do": "never"}})
    inner = config_in(tmp_path / "inner", {"one": one})
    steps: list[object] = []
    async with gateway(tmp_path, {"team": toolfold(inner)}) as opened:
        await listed(opened, "mcp:team:mcp:one:slow", "mcp:team:mcp:one:stuck")
        done = await opened.ask(
            "tool_call", {"id": "mcp:team:mcp:one:slow"}, on_progress=lambda *step: steps.append(step)
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(opened.call, "mcp:team:mcp:one:stuck")
            await until(lambda: "stuck" in _called(log))
            tasks.cancel_scope.cancel()
        await until(lambda: any(message["method"] == "notifications/cancelled" for message in received(log)))
    assert text_of(done) == "done"
    assert steps == [(1, 2, "step 1"), (2, 2, "step 2")]


async def test_no_answers_cross_through_a_chain_of_three(tmp_path: Path) -> None:
    last = config_in(tmp_path / "last", {"one": entry(does={"echo": {"do": "echo"}})})
    middle = config_in(tmp_path / "middle", {"last": toolfold(last), "two": entry(does={"echo": {"do": "echo"}})})
    ids = ("mcp:middle:mcp:last:mcp:one:echo", "mcp:middle:mcp:two:echo")
    answered = []

    async with gateway(tmp_path, {"middle": toolfold(middle)}) as opened:
        await listed(opened, *ids)

        async def work(tool_id: str) -> None:
            for _ in range(25):
                nonce = token_hex(8)
                assert text_of(await opened.call(tool_id, {"text": nonce})) == nonce
                answered.append(tool_id)

        with anyio.fail_after(LONG_SECONDS):
            async with anyio.create_task_group() as tasks:
                for tool_id in ids * 3:
                    tasks.start_soon(work, tool_id)
    assert sorted(answered) == sorted(ids * 75)


async def test_a_long_result_is_read_to_its_end_wherever_its_parts_are_kept(tmp_path: Path) -> None:
    inner = config_in(tmp_path / "inner", {"one": entry(does={"long": {"do": "text", "bytes": LONG_BYTES}})})
    async with gateway(tmp_path, {"team": toolfold(inner)}) as opened:
        await listed(opened, "mcp:team:mcp:one:long")
        text, whole = text_of(await opened.call("mcp:team:mcp:one:long")), ""
        while CUT in text:
            shown, _, marker = text.partition(CUT)
            whole += shown
            read_on = json.loads(marker.partition("tool_call ")[2].rstrip("]"))
            text = text_of(await opened.call(read_on["id"], read_on["args"]))
        unknown = error_of(await opened.call("toolfold:core:read_result", {"ref": "x"}))
    assert whole + text == "x" * LONG_BYTES
    assert unknown["code"] == "unknown_result"


async def test_a_gateway_that_is_not_wanted_as_one_is_an_ordinary_server(tmp_path: Path) -> None:
    inner = config_in(tmp_path / "inner", {"one": entry(tools=1)})
    script = tmp_path / "start.sh"  # what it starts can't be told, so it needs no word that it may
    script.write_text(f'exec "{sys.executable}" "$@"\n', encoding="utf-8")
    plain = toolfold(inner, command="/bin/sh", gateway=False)
    async with gateway(tmp_path, {"team": {**plain, "args": [str(script), *_list(plain["args"])]}}) as opened:
        known = [tool.id for tool in opened.running.library.snapshot.catalog.tools()]
    assert known == ["mcp:team:tool_call", "mcp:team:tool_describe", "mcp:team:tool_search"]


async def test_files_that_name_each_other_start_no_endless_row(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    own = entry(starts=str(log), does={"echo": {"do": "echo"}})
    second = config_in(b, {"a": toolfold(a / "mcp.json"), "own": entry(does={"tell": {"do": "echo"}})})
    async with gateway(a, {"b": toolfold(second), "own": own}) as opened:
        await listed(opened, "mcp:own:echo", "mcp:b:mcp:own:tell")
        states = tmp_path / "b" / "toolfold-state" / "gateways"

        def other() -> JsonObject:
            [file] = states.glob("*.json")
            return {one["upstream"]: one for one in json.loads(file.read_text())["upstreams"]}

        await until(lambda: part(other(), "a")["state"] == State.DOWN)
        known = [tool.id for tool in opened.running.library.snapshot.catalog.reachable()]
        why = str(part(other(), "a")["error"])
    assert known == ["mcp:b:mcp:own:tell", "mcp:own:echo"]
    assert "exit code" in why
    assert len(log.read_text().split()) == 1, "the server of the first gateway was started once"


def _called(log: Path) -> list[object]:
    return [part(message, "params")["name"] for message in received(log) if message["method"] == "tools/call"]


def _list(value: object) -> list[JsonObject]:
    assert isinstance(value, list)
    return value
