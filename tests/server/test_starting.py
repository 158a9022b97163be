"""From one start to the next: listings are kept on disk, served at once, and replaced by the live ones."""

import json
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from server.status import describe_state
from tests.support.gateways import error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry
from upstream_clients import JsonObject, State
from upstream_clients.bulkhead import IN_FLIGHT, QUEUED


def stored(folder: Path) -> dict[str, JsonObject]:
    """The stored listings, by upstream."""
    paths = sorted((folder / "toolfold-cache" / "listings").iterdir())
    return {path.name.rpartition("-")[0]: json.loads(path.read_bytes()) for path in paths}


def held(gate: Path, tools: list[JsonObject]) -> dict[str, list[Mapping[str, object]]]:
    """What makes an upstream list its tools only once the gate is open."""
    return {"tools/list": [{"do": "gate", "path": str(gate)}, {"do": "result", "result": {"tools": tools}}]}


def tool(name: str, description: str) -> JsonObject:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


async def test_the_last_listing_is_searchable_at_once_and_marked_until_the_live_one_replaces_it(tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    gate.touch()
    new = [tool("water", "Waters plants."), tool("prune", "Prunes plants.")]
    one = entry(on=held(gate, new), instructions="Be gentle.", log=str(log))
    async with gateway(tmp_path, {"one": one}) as opened:
        first = await opened.search("plants")
    gate.unlink()
    async with gateway(tmp_path, {"one": one}, ready=False) as opened:
        cached = await opened.search("plants")
        described = await opened.describe("mcp:one:water")
        gate.touch()
        await opened.ready()
        live = await opened.search("plants")
    hits = [
        {"id": "mcp:one:prune", "confidence": "high", "description": "Prunes plants.", "input": "unknown"},
        {"id": "mcp:one:water", "confidence": "high", "description": "Waters plants.", "input": "unknown"},
    ]
    assert first == live == {"tools": hits}
    assert cached == {"tools": [{**hit, "cached": True} for hit in hits]}
    assert (described["cached"], described["upstream_instructions"]) == (
        True,
        {"note": "Text of the upstream server one, not of toolfold or the user.", "text": "Be gentle."},
    )


async def test_a_call_of_a_cached_tool_waits_for_its_upstream_to_start(tmp_path: Path) -> None:
    one = entry(does={"echo": {"do": "echo"}}, start_delay=0.2)
    async with gateway(tmp_path, {"one": one}):
        pass
    async with gateway(tmp_path, {"one": one}, ready=False) as opened:
        assert text_of(await opened.call("echo", {"text": "at once"})) == "at once"


async def test_a_lazy_upstream_with_a_stored_listing_is_started_by_its_first_call(tmp_path: Path) -> None:
    one, lazy = entry(does={"echo": {"do": "echo"}}), {"startup": {"mode": "lazy"}}
    async with gateway(tmp_path, {"one": one}):
        pass
    async with gateway(tmp_path, {"one": one}, lazy, ready=False) as opened:
        found = await opened.found("echo")
        described = await opened.describe("echo")
        idle = opened.running.statuses()["one"].state
        answer = await opened.call("echo", {"text": "woken"})
    assert found == ["mcp:one:echo"]
    assert described["upstream"] == {"state": "idle"}
    assert idle is State.IDLE
    assert text_of(answer) == "woken"


async def test_the_first_calls_of_a_lazy_upstream_that_was_never_listed_start_it_once_and_no_other(
    tmp_path: Path,
) -> None:
    starts = tmp_path / "starts"
    servers = {"one": entry(does={"echo": {"do": "echo"}}, starts=str(starts)), "other": entry(tools=1)}
    texts: list[str] = []
    async with gateway(tmp_path, servers, {"startup": {"mode": "lazy"}}, ready=False) as opened:

        async def call(text: str) -> None:
            texts.append(text_of(await opened.call("mcp:one:echo", {"text": text})))

        async with anyio.create_task_group() as tasks:
            for text in ("a", "b", "c"):
                tasks.start_soon(call, text)
        misspelt = error_of(await opened.call("mcp:one:ecko"))["code"]
        other = opened.running.statuses()["other"].state
    assert sorted(texts) == ["a", "b", "c"]
    assert len(starts.read_text().splitlines()) == 1
    assert (misspelt, other) == ("unknown_tool", State.IDLE)


async def test_more_first_calls_than_an_upstream_may_have_are_refused_at_once(tmp_path: Path) -> None:
    codes: list[object] = []
    async with gateway(tmp_path, {"one": entry(hang=True)}, ready=False) as opened, anyio.create_task_group() as tasks:
        for _ in range(IN_FLIGHT + QUEUED):
            tasks.start_soon(opened.call, "mcp:one:echo")
        await anyio.wait_all_tasks_blocked()
        codes.append(error_of(await opened.call("mcp:one:echo"))["code"])
        tasks.cancel_scope.cancel()
    assert codes == ["overloaded"]


async def test_what_is_stored_is_the_raw_listing_with_what_the_upstream_said_of_itself(tmp_path: Path) -> None:
    raw: JsonObject = {**tool("water", "é"), "unheard_of": [None, {"x": 1.5}]}
    one = entry(tools=[raw], instructions="Hi.")
    two = {**entry(tools=[raw], era="modern"), "protocol": "auto"}
    async with gateway(tmp_path, {"one": one, "two": two}):
        pass
    kept = stored(tmp_path)
    assert {owner: (doc["tools"], doc["instructions"], doc["era"]) for owner, doc in kept.items()} == {
        "one": ([raw], "Hi.", "legacy"),
        "two": ([raw], "", "modern"),
    }


async def test_an_entry_that_was_changed_does_not_get_the_listing_of_the_old_one(tmp_path: Path) -> None:
    async with gateway(tmp_path, {"one": entry(tools=[tool("old", "x")])}):
        pass
    async with gateway(tmp_path, {"one": entry(hang=True)}, ready=False) as opened:
        assert opened.running.library.snapshot.catalog.tools() == ()


async def test_what_only_the_gateway_decides_does_not_make_a_stored_listing_useless(tmp_path: Path) -> None:
    one = entry(tools=[tool("old", "x")])
    async with gateway(tmp_path, {"one": one}):
        pass
    changed = {**one, "alwaysLoad": True, "trusted": True, "timeout": 5000}
    async with gateway(tmp_path, {"one": changed}, ready=False) as opened:
        assert opened.running.gateway.surface().direct == {"old": "mcp:one:old"}


async def test_an_unchanged_listing_is_neither_indexed_nor_stored_again(tmp_path: Path) -> None:
    log, tools = tmp_path / "log", [tool("water", "Waters."), tool("again", "Lists it again.")]
    again: list[Mapping[str, object]] = [{"do": "change", "tools": tools}, {"do": "text", "text": "done"}]
    one = entry(tools=tools, does={"again": again}, log=str(log))
    async with gateway(tmp_path, {"one": one}):
        pass
    before = stored(tmp_path)
    async with gateway(tmp_path, {"one": one}) as opened:
        index = opened.running.library.snapshot.index
        generation = opened.running.library.snapshot.catalog.generation
        await opened.call("again")
        await opened.news.until(lambda: log.read_text(encoding="utf-8").count('"tools/list"') == 3)
        await opened.running.library.indexed()
        assert opened.running.library.snapshot.index is index
        assert opened.running.library.snapshot.catalog.generation == generation
    assert stored(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\xfe\x00"])
async def test_a_torn_stored_listing_is_ignored_and_written_anew(tmp_path: Path, content: bytes) -> None:
    one = entry(tools=[tool("water", "Waters.")])
    async with gateway(tmp_path, {"one": one}):
        pass
    [path] = ((tmp_path / "toolfold-cache") / "listings").iterdir()
    path.write_bytes(content)
    async with gateway(tmp_path, {"one": one}) as opened:
        assert await opened.found("water") == ["mcp:one:water"]
    assert stored(tmp_path)["one"]["tools"] == [tool("water", "Waters.")]


async def test_without_a_cache_folder_everything_works(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "toolfold-cache").write_text("a file where the folder should be", encoding="utf-8")
    async with gateway(tmp_path, {"one": entry(tools=[tool("water", "Waters.")])}) as opened:
        assert await opened.found("water") == ["mcp:one:water"]
    assert "the listing of one could not be stored" in caplog.text


async def test_a_listing_that_came_in_last_is_stored_before_the_end(tmp_path: Path) -> None:
    servers = {f"u{number}": entry(tools=3) for number in range(4)}
    async with gateway(tmp_path, servers):
        pass
    assert sorted(stored(tmp_path)) == sorted(servers)


async def test_the_state_of_a_gateway_has_upstreams_counts_and_reasons_and_no_secret(tmp_path: Path) -> None:
    broken = {"name": "bro ken", "inputSchema": {"type": "object"}}
    servers: dict[str, JsonObject] = {
        "good": {**entry(tools=[tool("water", "x"), tool("hidden", "y"), broken]), "excludeTools": ["hidden"]},
        "loaded": {**entry(tools=[tool("direct", "x")]), "alwaysLoad": True},
        "bad": {**entry(exit=3, stderr="tok-5ecret-value"), "env": {"API_KEY": "tok-5ecret-value"}},
        "unset": {"command": "x", "args": ["${NOT_SET_ANYWHERE}"]},
    }
    async with gateway(tmp_path, servers, ready=False) as opened:
        await opened.ready("good", "loaded")
        await opened.until_state("bad", State.DOWN)
        state = describe_state(opened.running)
    upstreams = state["upstreams"]
    assert isinstance(upstreams, list)
    by_name = {upstream["upstream"]: upstream for upstream in upstreams}
    assert {name: upstream["state"] for name, upstream in by_name.items()} == {
        "unset": "down",
        "good": "ready",
        "loaded": "ready",
        "bad": "down",
    }
    assert by_name["good"]["tools"] == {"catalog": 1, "hidden": 1, "quarantined": 1}
    assert by_name["good"]["protocol"] == "2025-11-25"
    assert "exit code 3" in by_name["bad"]["error"]
    assert "NOT_SET_ANYWHERE" in by_name["unset"]["error"]
    catalogue = state["catalogue"]
    assert isinstance(catalogue, dict)
    assert catalogue["tools"] == {"catalog": 1, "hidden": 1, "quarantined": 1, "direct": 1}
    assert list(catalogue["quarantined"]) == ["mcp:good:bro ken"]
    assert state["published"] == ["direct", "tool_call", "tool_describe", "tool_search"]
    assert "tok-5ecret-value" not in json.dumps(state)
