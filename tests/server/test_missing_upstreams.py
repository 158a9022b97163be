"""What a search could not see is said: upstreams that start, that are down, that are misconfigured."""

from pathlib import Path

from tests.support.gateways import error_of, gateway
from tests.support.upstreams import entry
from upstream_clients import JsonObject, State

WATER: JsonObject = {"name": "water", "description": "Waters plants.", "inputSchema": {"type": "object"}}


def hits(answer: JsonObject) -> list[JsonObject]:
    found = answer["tools"]
    assert isinstance(found, list)
    return found


async def test_while_upstreams_start_an_answer_says_which_are_not_there(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = entry(
        tools=5, on={"tools/list": [{"do": "gate", "path": str(gate)}, {"do": "result", "result": {"tools": [WATER]}}]}
    )
    async with gateway(tmp_path, {"fast": entry(tools=2), "slow": slow}, ready=False) as opened:
        await opened.ready("fast")
        nothing = await opened.search("zyzzyva")
        something = await opened.search("record")
        unknown = error_of(await opened.call("water"))
        named = error_of(await opened.ask("tool_describe", {"id": "mcp:slow:water"}))
        gate.touch()
        await opened.ready()
        found = await opened.search("water")
    assert nothing == {
        "tools": [],
        "starting": ["slow"],
        "note": "Some upstreams are still starting: search again in a few seconds, or use another word.",
    }
    assert len(hits(something)) == 2
    assert something["starting"] == ["slow"]
    assert something["note"] == "Some upstreams are still starting: search again in a few seconds if nothing fits."
    assert unknown["code"] == "unknown_tool"
    assert unknown["hint"] == "Find its id with tool_search. Still starting: slow. Try again in a few seconds."
    assert (named["code"], named["hint"]) == ("still_starting", "Try again in a few seconds.")
    assert set(found) == {"tools"}


async def test_an_answer_names_the_upstreams_that_are_down_or_misconfigured_and_why(tmp_path: Path) -> None:
    servers: dict[str, JsonObject] = {
        "good": entry(tools=1),
        "crashing": {**entry(exit=3), "env": {"API_TOKEN": "tok-5ecret-value"}},
        "absent": {"command": "/no/such/command-tok-5ecret-value"},
        "unset": {"command": "x", "args": ["${NOT_SET_ANYWHERE}"]},
        "off": {**entry(tools=1), "disabled": True},
    }
    async with gateway(tmp_path, servers, ready=False) as opened:
        await opened.ready("good")
        await opened.until_state("crashing", State.DOWN)
        await opened.until_state("absent", State.DOWN)
        answer = await opened.search("zyzzyva")
        called = {owner: error_of(await opened.call(f"mcp:{owner}:tool")) for owner in ("crashing", "unset", "off")}
    unavailable = answer["unavailable"]
    assert isinstance(unavailable, dict)
    assert sorted(unavailable) == ["absent", "crashing", "unset"]
    assert "exit code 3" in unavailable["crashing"]
    assert unavailable["absent"] == "the command '/no/such/command-[redacted]' was not found"
    assert "NOT_SET_ANYWHERE" in unavailable["unset"]
    assert {owner: error["code"] for owner, error in called.items()} == {
        "crashing": "upstream_down",
        "unset": "upstream_down",
        "off": "unknown_tool",
    }
    assert str(called["crashing"]["message"]).startswith("crashing has been down for 0 s: it ended with exit code 3")
    assert called["unset"]["hint"] == "Run `toolfold check`."


async def test_many_missing_upstreams_are_counted_after_the_first_eight(tmp_path: Path) -> None:
    servers = {f"u{number}": entry(hang=True) for number in range(11)}
    async with gateway(tmp_path, servers, ready=False) as opened:
        answer = await opened.search("anything")
    assert answer["starting"] == [*(f"u{number}" for number in range(8)), "and 3 more"]


async def test_a_lazy_upstream_that_was_never_listed_is_started_by_the_first_search(tmp_path: Path) -> None:
    async with gateway(tmp_path, {"one": entry(tools=1)}, {"startup": {"mode": "lazy"}}, ready=False) as opened:
        assert opened.running.statuses()["one"].state is State.IDLE
        assert (await opened.search("record"))["starting"] == ["one"]
        await opened.until_state("one", State.READY)
        await opened.running.library.indexed()
        assert await opened.found("record") == ["mcp:one:create_record_0"]


async def test_an_upstream_without_any_tools_is_not_said_to_be_starting(tmp_path: Path) -> None:
    async with gateway(tmp_path, {"none": entry(no_tools=True), "one": entry(tools=1)}) as opened:
        assert set(await opened.search("record")) == {"tools"}
