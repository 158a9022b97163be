"""Fifty upstreams, of which five hang for ever and five crash at start: they cost the others nothing."""

import json
import os
from pathlib import Path
from typing import Final

from tests.support.hosts import Host, JsonObject, open_host, part
from tests.support.upstreams import Script, entry, write_config
from tests.support.waiting import until

GOOD, HANGING, CRASHING = 40, 5, 5
TOOLS_EACH: Final = 25


def fifty(folder: Path, gate: Path, marker: str) -> Path:
    """The good ones greet once `gate` exists. The bad ones are spread among them."""
    greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "good"}}
    once_open: Script = [{"do": "gate", "path": str(gate)}, {"do": "result", "result": greeting}]
    good = entry(tools=TOOLS_EACH, marker=marker, on={"initialize": once_open})
    servers = {}
    for number in range(GOOD + HANGING + CRASHING):
        match number % 10:
            case 3:
                servers[f"hangs{number}"] = entry(hang=True, marker=marker)
            case 7:
                servers[f"crashes{number}"] = entry(exit=1, stderr="no key\n", marker=marker)
            case _:
                servers[f"good{number}"] = good
    return write_config(folder, servers, {"startup": {"concurrency": 8}})


def states(host: Host) -> dict[str, str]:
    """The state of each upstream, as the gateway's state file says."""
    path = Path(os.environ["TOOLFOLD_STATE_DIR"]) / "gateways" / f"{host.process.pid}.json"
    if not path.exists():
        return {}
    return {one["upstream"]: one["state"] for one in json.loads(path.read_bytes())["upstreams"]}


def all_good_are_ready(host: Host) -> bool:
    return [name[:4] for name, state in states(host).items() if state == "ready"] == ["good"] * GOOD


async def search(host: Host, query: str) -> JsonObject:
    return part(await host.call("tool_search", {"query": query}), "structuredContent")


def found(answer: JsonObject) -> list[str]:
    hits = answer["tools"]
    assert isinstance(hits, list)
    return [str(hit["id"]) for hit in hits]


async def test_the_bad_ones_hold_up_nobody_and_the_next_start_knows_all_tools_at_once(
    tmp_path: Path, marker: str
) -> None:
    gate = tmp_path / "gate"
    config = fifty(tmp_path, gate, marker)

    async with open_host(config) as host:  # nothing is known of any upstream, and none greets
        listed = await host.ask("tools/list")
        assert len(states(host)) in (0, 50)
        assert "ready" not in states(host).values()
        first = await search(host, "update record 7 of the ledger")
        assert found(first) == []
        assert "note" in first
        gate.touch()
        await until(lambda: all_good_are_ready(host))
        assert {state for name, state in states(host).items() if name.startswith("crashes")} <= {
            "down",
            "waiting",
            "starting",
        }
        answer = await host.call("tool_call", {"id": "mcp:good0:create_record_0", "args": {"text": "called"}})
        assert answer["content"] == [{"type": "text", "text": "called"}]
        down = await host.call("tool_call", {"id": "mcp:crashes7:x", "args": {}})
        assert down["isError"] is True

    gate.unlink()
    async with open_host(config) as host:  # all is known from the cache, and none greets
        assert await host.ask("tools/list") == listed
        answer = await search(host, "update record 7 of the ledger")
        assert "ready" not in states(host).values()
        assert {tool.rpartition(":")[2] for tool in found(answer)} == {"update_record_7"}
        described = part(await host.call("tool_describe", {"id": "mcp:good49:read_record_21"}), "structuredContent")
        assert described["id"] == "mcp:good49:read_record_21"
        gate.touch()
        await until(lambda: all_good_are_ready(host))
        called = await host.call("tool_call", {"id": "mcp:good49:read_record_21", "args": {"text": "live"}})
        assert called["content"] == [{"type": "text", "text": "live"}]
        assert "Traceback" not in host.stderr

    assert len(list((Path(os.environ["TOOLFOLD_CACHE_DIR"]) / "listings").iterdir())) == GOOD
