"""What hosts and people see of upstreams that sleep: they are searched and described as ever, and a call wakes them."""

from pathlib import Path

from server.status import describe_state
from tests.support.gateways import Opened, gateway
from tests.support.hosts import part, text_of
from tests.support.processes import running
from tests.support.upstreams import entry
from tests.support.waiting import until
from upstream_clients import JsonObject, State

SECOND = 1


def starts(folder: Path) -> list[int]:
    path = folder / "starts"
    return [int(number) for number in path.read_text().split()] if path.exists() else []


def state_of(opened: Opened, owner: str) -> JsonObject:
    upstreams = describe_state(opened.running)["upstreams"]
    assert isinstance(upstreams, list)
    [found] = [one for one in upstreams if one["upstream"] == owner]
    assert isinstance(found, dict)
    return found


async def test_a_sleeping_upstream_is_searched_and_described_and_woken_by_a_call_alone(tmp_path: Path) -> None:
    one = entry(starts=str(tmp_path / "starts"), does={"echo": {"do": "echo"}})
    settings = {"startup": {"mode": "lazy", "idleStopSeconds": SECOND}}
    async with gateway(tmp_path, {"one": one}, settings, ready=False) as opened:
        assert starts(tmp_path) == []
        assert text_of(await opened.ask("tool_search", {"query": "echo"})).count("starting") == 2
        await opened.until_state("one", State.ASLEEP)
        [pid] = starts(tmp_path)
        await until(lambda: not running({pid}))
        found = await opened.search("echo")
        described = await opened.describe("mcp:one:echo")
        shown = state_of(opened, "one")
        assert starts(tmp_path) == [pid]
        assert text_of(await opened.call("mcp:one:echo", {"text": "awake"})) == "awake"
        await opened.until_state("one", State.ASLEEP)
    assert set(found) == {"tools"}
    assert part(described, "upstream") == {"state": "asleep"}
    assert (shown["state"], shown["tools"], shown["starts"], "pid" in shown) == ("asleep", {"catalog": 1}, 1, False)
    assert len(starts(tmp_path)) == 2


async def test_an_entry_says_for_itself_how_long_nobody_may_need_it(tmp_path: Path) -> None:
    servers = {
        "sleeps": {**entry(tools=1), "idleStopSeconds": SECOND},
        "stays": {**entry(tools=1), "idleStopSeconds": 0},
    }
    async with gateway(tmp_path, servers, {"startup": {"idleStopSeconds": SECOND}}) as opened:
        await opened.until_state("sleeps", State.ASLEEP)
        specs = {status.owner: status.state for status in opened.running.fleet.statuses()}
    assert specs == {"sleeps": State.ASLEEP, "stays": State.READY}
