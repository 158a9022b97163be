"""Starting, failing, coming back, ending: a fleet of real processes."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.support.fleets import LONG_SECONDS, fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.processes import all_gone, all_there, descriptors
from tests.support.upstreams import Options, Script, received, spec
from tests.support.waiting import until
from upstream_clients import Launch, Patience, State, UpstreamDown, upstream


@pytest.fixture
def marker() -> str:
    return f"toolfold-test-{uuid4().hex}"


@pytest.fixture
def slots_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that is silent keeps its slot for longer than a test takes."""
    monkeypatch.setattr(upstream, "SLOT_SECONDS", 2 * LONG_SECONDS)


async def test_an_upstream_that_crashes_at_start_comes_back_when_it_can(tmp_path: Path) -> None:
    broken, starts = tmp_path / "broken", tmp_path / "starts"
    broken.touch()
    one = spec("a", tools=1, exit_while=str(broken), starts=str(starts), stderr="no key in the environment\n")
    async with fleet_of(one, spec("b", tools=1)) as (fleet, witness):
        down = await witness.until_state("a", State.DOWN)
        assert (down.error, down.last_words, down.starts, down.pid) == (
            "it ended with exit code 7",
            "no key in the environment\n",
            1,
            None,
        )
        assert down.down_since is not None
        assert down.next_try is not None
        assert 0.3 < down.next_try - down.since < 0.7
        broken.unlink()
        ready = await witness.until_state("a", State.READY)
        assert (ready.error, ready.last_words, ready.down_since, ready.next_try) == ("", "", None, None)
        assert text_of(await fleet.call("a", "create_record_0", {"text": "back"}, {})) == "back"
    assert len(starts.read_text().split()) == ready.starts


async def test_each_try_waits_longer_than_the_one_before(tmp_path: Path) -> None:
    async with fleet_of(spec("a", exit=1)) as (_, witness):
        await witness.until(lambda: witness.states("a").count(State.DOWN) == 3)
    downs = [one for one in witness.statuses if one.state is State.DOWN]
    delays = [(one.next_try or 0) - one.since for one in downs]
    assert all(0.7 * base - 0.1 < delay < 1.3 * base + 0.1 for delay, base in zip(delays, (0.5, 1.5, 4.5), strict=True))
    assert len({one.down_since for one in downs}) == 1


async def test_only_a_connection_that_lived_starts_the_waits_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "FIRST_BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr(upstream, "HEALTHY_SECONDS", 0.0)
    monkeypatch.setattr("random.uniform", lambda low, high: (low + high) / 2)
    hangs = replace(spec("hangs", hang=True), start_seconds=0.1)
    async with fleet_of(hangs, spec("lives", does={"crash": {"do": "crash"}})) as (fleet, witness):
        for times in (1, 2, 3):
            await witness.until(lambda: witness.states("lives")[-1:] == [State.READY])
            await outcome(fleet, "lives", "crash")
            await witness.until(lambda: witness.states("lives").count(State.DOWN) == times)  # noqa: B023
        await witness.until(lambda: witness.states("hangs").count(State.DOWN) == 3)
    waits = {
        owner: [
            (one.next_try or 0) - one.since
            for one in witness.statuses
            if one.owner == owner and one.state is State.DOWN
        ][:3]
        for owner in ("hangs", "lives")
    }
    assert max(waits["lives"]) < 0.075 < waits["hangs"][1] < 0.15 < waits["hangs"][2]


async def test_a_call_of_an_upstream_that_is_down_says_since_when_why_and_what_to_do() -> None:
    missing = replace(spec("a"), target=Launch(("no-such-program",), {"PATH": "/bin"}, None, 1 << 20))
    async with fleet_of(missing) as (fleet, witness):
        await witness.until_state("a", State.DOWN)
        failed = await outcome(fleet, "a", "x")
    assert isinstance(failed, UpstreamDown)
    assert not failed.ran
    assert failed.message.startswith(
        "it has been down for 0 s: the command 'no-such-program' was not found; it is tried"
    )
    assert failed.hint.startswith("Install it, or give its absolute path")


async def test_an_upstream_that_hangs_at_start_is_given_up_and_the_others_are_not_held_up(marker: str) -> None:
    hanging = replace(spec("hangs", hang=True, marker=marker, stderr="waiting for a login\n"), start_seconds=0.3)
    async with fleet_of(hanging, *(spec(f"good{number}", tools=1) for number in range(3)), concurrency=2) as (
        fleet,
        witness,
    ):
        down = await witness.until_state("hangs", State.DOWN)
        for number in range(3):
            await fleet.call(f"good{number}", "create_record_0", {}, {})
    assert (down.error, down.last_words) == ("it was not ready within 0.3 s", "waiting for a login\n")
    assert down.hint != ""
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.usefixtures("slots_are_kept")
async def test_the_start_timeout_begins_after_the_wait_for_a_slot(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = spec("slow", tools=1, on={"initialize": [{"do": "gate", "path": str(gate)}, {"do": "refuse"}]})
    patient = replace(spec("patient", tools=1), start_seconds=LONG_SECONDS)
    hasty = replace(spec("hasty", tools=1), start_seconds=5)
    async with fleet_of(slow, patient, hasty, concurrency=1) as (_, witness):
        await witness.until(lambda: State.STARTING in witness.states("slow"))
        assert witness.states("hasty") == [State.WAITING]
        gate.touch()
        await witness.until_state("hasty", State.READY)
    assert State.DOWN not in witness.states("hasty")


@pytest.mark.usefixtures("slots_are_kept")
async def test_no_more_start_at_once_than_there_are_slots(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    waits: Script = [{"do": "gate", "path": str(gate)}, {"do": "result", "result": {"protocolVersion": "2025-11-25"}}]
    specs = [spec(f"u{number}", tools=1, on={"initialize": waits}) for number in range(6)]
    async with fleet_of(*specs, concurrency=2) as (fleet, witness):
        await witness.until(lambda: starting(fleet_states(witness.statuses)) == 2)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert starting(fleet_states(witness.statuses)) == 2
        gate.touch()
        await fleet.settled([one.owner for one in specs])
        assert set(fleet_states(fleet.statuses()).values()) == {State.READY}


@pytest.mark.usefixtures("slots_are_kept")
async def test_a_call_does_not_queue_behind_other_starts() -> None:
    specs = [spec(f"hangs{number}", hang=True) for number in range(2)]
    async with fleet_of(*specs, spec("good", tools=1), concurrency=2) as (fleet, witness):
        await witness.until(lambda: starting(fleet_states(witness.statuses)) == 2)
        assert text_of(await fleet.call("good", "create_record_0", {"text": "served"}, {})) == "served"
        assert starting(fleet_states(fleet.statuses())) == 2


@pytest.mark.usefixtures("slots_are_kept")
async def test_a_call_of_a_lazy_upstream_does_not_queue_behind_other_starts_either() -> None:
    lazy = replace(spec("lazy", tools=1), lazy=True)
    async with fleet_of(spec("hangs", hang=True), lazy, concurrency=1) as (fleet, witness):
        await witness.until(lambda: State.STARTING in witness.states("hangs"))
        assert text_of(await fleet.call("lazy", "create_record_0", {"text": "served"}, {})) == "served"


async def test_a_silent_start_gives_its_slot_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "SLOT_SECONDS", 0.1)
    async with fleet_of(spec("hangs", hang=True), spec("good", tools=1), concurrency=1) as (fleet, witness):
        await witness.until_state("good", State.READY)
        assert fleet_states(fleet.statuses())["hangs"] is State.STARTING


async def test_a_lazy_upstream_is_started_by_the_first_who_wants_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lazy = replace(spec("lazy", tools=1, log=str(log)), lazy=True)
    async with fleet_of(lazy, spec("eager", tools=1)) as (fleet, witness):
        await witness.until_state("eager", State.READY)
        assert fleet_states(fleet.statuses())["lazy"] is State.IDLE
        assert received(log) == []
        fleet.want("lazy")
        await witness.until_state("lazy", State.READY)


async def test_settled_returns_for_the_ready_and_for_the_failed() -> None:
    async with fleet_of(spec("good", tools=1), spec("bad", exit=1)) as (fleet, _):
        await fleet.settled(["good", "bad"])
        states = fleet_states(fleet.statuses())
    assert states == {"good": State.READY, "bad": State.DOWN}


async def test_a_call_made_during_the_start_waits_for_it(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    once_open: Script = [{"do": "gate", "path": str(gate)}, {"do": "result", "result": {"tools": []}}]
    one = spec("a", on={"tools/list": once_open})
    async with fleet_of(one) as (fleet, witness):
        results: list[str] = []

        async def call() -> None:
            results.append(text_of(await fleet.call("a", "x", {"text": "hello"}, {})))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await witness.until(lambda: State.STARTING in witness.states("a"))
            assert results == []
            gate.touch()
    assert results == ["hello"]


async def test_a_change_of_tools_is_listed_and_a_storm_of_changes_only_a_few_times(tmp_path: Path) -> None:
    log = tmp_path / "log"
    changes: Script = [{"do": "change", "tools": 3, "does": {"storm": {"do": "echo"}}, "times": 20_000}, {"do": "echo"}]
    async with fleet_of(spec("a", does={"storm": changes}, log=str(log))) as (fleet, witness):
        assert text_of(await fleet.call("a", "storm", {"text": "answered"}, {})) == "answered"
        await witness.until(lambda: len(witness.names("a")) >= 2)
        assert text_of(await fleet.call("a", "storm", {"text": "alive"}, {})) == "alive"
    assert witness.names("a")[0] == ["storm"]
    assert witness.names("a")[-1] == ["create_record_0", "read_record_1", "update_record_2", "storm"]
    assert [message["method"] for message in received(log)].count("tools/list") <= 6


async def test_a_modern_server_tells_of_changes_on_its_stream() -> None:
    change: Script = [{"do": "change", "tools": 1}, {"do": "echo"}]
    one = replace(spec("a", does={"change": change}, era="modern"), protocol="modern")
    async with fleet_of(one) as (fleet, witness):
        await fleet.call("a", "change", {}, {})
        await witness.until(lambda: witness.names("a")[-1:] == [["create_record_0", "change"]])


@pytest.mark.parametrize(
    "options",
    [
        {"ignore_eof": True},
        {"ignore_eof": True, "ignore_sigterm": True, "children": ["holding", "detached"]},
        {"hang": True, "ignore_sigterm": True},
    ],
)
async def test_leaving_the_fleet_ends_everything_that_it_started(options: Options, marker: str) -> None:
    marked_options: Options = {**options, "marker": marker}
    async with fleet_of(spec("a", **marked_options), spec("b", marker=marker)):
        count = 2 + len(options.get("children", []))
        assert len(await anyio.to_thread.run_sync(all_there, marker, count)) == count
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 20, 100])
async def test_a_fleet_that_is_left_while_it_starts_leaves_nothing_running(turns: int, marker: str) -> None:
    specs = [spec(f"u{number}", marker=marker, tools=10, children=["holding"]) for number in range(10)]
    async with fleet_of(*specs, concurrency=4):
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


async def test_a_call_under_way_when_the_fleet_ends_fails(marker: str) -> None:
    failures: list[object] = []
    async with anyio.create_task_group() as callers:
        async with fleet_of(spec("a", does={"never": {"do": "never"}})) as (fleet, witness):

            async def call() -> None:
                failures.append(await outcome(fleet, "a", "never"))

            await witness.until_state("a", State.READY)
            callers.start_soon(call)
            await anyio.wait_all_tasks_blocked()
        failures.append(await outcome(fleet, "a", "never"))
    assert [str(each) for each in failures] == ["its connection was closed", "it was stopped, because the gateway ends"]


async def test_a_flood_on_standard_error_does_not_hold_up_the_calls() -> None:
    flood: Script = [{"do": "flood", "bytes": 64 << 20}, {"do": "text", "text": "answered"}]
    async with fleet_of(spec("a", does={"flood": flood})) as (fleet, _):
        assert text_of(await fleet.call("a", "flood", {}, {})) == "answered"


async def test_rounds_of_crashes_leave_no_descriptor_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "FIRST_BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(upstream, "LONGEST_BACKOFF_SECONDS", 0.001)
    async with fleet_of(spec("a", exit=1), spec("b", exit=1), concurrency=2) as (_, witness):
        await witness.until(lambda: witness.states("a").count(State.DOWN) == 5)
        open_now = len(descriptors())
        await witness.until(lambda: witness.states("a").count(State.DOWN) == 25)
        assert len(descriptors()) < open_now + 10


def fleet_states(statuses: object) -> dict[str, State]:
    """The newest state of each upstream."""
    assert isinstance(statuses, (list, tuple))
    return {status.owner: status.state for status in statuses}


def starting(states: dict[str, State]) -> int:
    return list(states.values()).count(State.STARTING)


async def test_one_that_is_exchanged_finishes_its_call_and_is_heard_no_more(tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    slow: Script = [{"do": "gate", "path": str(go)}, {"do": "change"}, {"do": "text", "text": "old"}]
    old = spec("a", does={"slow": slow}, log=str(log), marker=str(tmp_path))
    new = spec("a", does={"slow": {"do": "text", "text": "new"}})
    answers: list[str] = []
    async with fleet_of(old) as (fleet, witness), anyio.create_task_group() as tasks:

        async def ask() -> None:
            answers.append(text_of(await fleet.call("a", "slow", {}, {})))

        await witness.until_state("a", State.READY)
        tasks.start_soon(ask)
        await until(lambda: received(log)[-1]["method"] == "tools/call")
        fleet.adopt([replace(new, patience=Patience(1, 1)), spec("b", tools=1)])
        fleet.adopt([new, spec("b", tools=1)])  # other waits are no reason to start again
        assert text_of(await fleet.call("a", "slow", {}, {})) == "new"
        assert (answers, [status.owner for status in fleet.statuses()]) == ([], ["a", "b"])
        heard = len([one for one in witness.statuses if one.owner == "a"])
        go.touch()
        await until(lambda: answers == ["old"])
        await anyio.to_thread.run_sync(all_gone, str(tmp_path))
        assert len([one for one in witness.statuses if one.owner == "a"]) == heard
        fleet.adopt([])
        with pytest.raises(UpstreamDown, match="not running"):
            await fleet.call("a", "slow", {}, {})
        fleet.want("a")
        await fleet.settled(["a"])
        assert fleet.statuses() == ()
