"""Lazy upstreams, and those that nobody uses: started once by whoever needs them first, stopped, started again."""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import anyio
import pytest

from tests.support.fleets import fleet_of
from tests.support.hosts import text_of
from tests.support.processes import running
from tests.support.upstreams import Options, spec
from tests.support.waiting import until
from upstream_clients import State, UpstreamSpec

SHORT_SECONDS = 0.2
CALLERS = 20


def sleepy(
    folder: Path, seconds: float = SHORT_SECONDS, *, lazy: bool = True, **options: Unpack[Options]
) -> UpstreamSpec:
    """An upstream that notes its starts in the file `starts`, and is stopped after so long."""
    options = {"does": {"echo": {"do": "echo"}}, "starts": str(folder / "starts"), **options}
    return replace(spec("a", **options), lazy=lazy, idle_stop_seconds=seconds)


def starts(folder: Path) -> list[int]:
    """The process ids of all starts so far."""
    path = folder / "starts"
    return [int(number) for number in path.read_text().split()] if path.exists() else []


async def test_many_callers_at_once_start_a_lazy_upstream_once_and_each_has_its_own_answer(tmp_path: Path) -> None:
    answers: dict[int, str] = {}
    async with fleet_of(sleepy(tmp_path, 0, start_delay=0.2)) as (fleet, witness):
        assert (fleet.statuses()[0].state, starts(tmp_path)) == (State.IDLE, [])

        async def ask(number: int) -> None:
            answers[number] = text_of(await fleet.call("a", "echo", {"text": f"{number}"}, {}))

        async with anyio.create_task_group() as tasks:
            for number in range(CALLERS):
                tasks.start_soon(ask, number)
    assert answers == {number: f"{number}" for number in range(CALLERS)}
    assert len(starts(tmp_path)) == 1
    assert witness.states("a") == [State.WAITING, State.STARTING, State.READY, State.STOPPED]


async def test_an_upstream_that_nobody_uses_is_stopped_and_many_callers_start_it_again_once(tmp_path: Path) -> None:
    async with fleet_of(sleepy(tmp_path, lazy=False)) as (fleet, witness):
        asleep = await witness.until_state("a", State.ASLEEP)
        [first] = starts(tmp_path)
        await until(lambda: not running({first}))

        async def ask(number: int) -> None:
            assert text_of(await fleet.call("a", "echo", {"text": f"{number}"}, {})) == f"{number}"

        async with anyio.create_task_group() as tasks:
            for number in range(CALLERS):
                tasks.start_soon(ask, number)
    assert (asleep.pid, asleep.error, asleep.tools) == (None, "", 1)
    assert len(starts(tmp_path)) == 2
    assert State.DOWN not in witness.states("a")


async def test_a_call_that_comes_while_its_upstream_is_being_stopped_is_answered_by_the_next_one(
    tmp_path: Path,
) -> None:
    stubborn = sleepy(tmp_path, ignore_eof=True, ignore_sigterm=True)
    async with fleet_of(stubborn) as (fleet, witness):
        fleet.want("a")
        await witness.until_state("a", State.ASLEEP)
        [first] = starts(tmp_path)
        assert running({first}), "it is still there: it does not heed what it is told"
        assert text_of(await fleet.call("a", "echo", {"text": "not lost"}, {})) == "not lost"
        assert not running({first})
    assert len(starts(tmp_path)) == 2


async def test_a_call_under_way_is_no_idleness_however_long_it_takes(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    does = {"wait": [{"do": "gate", "path": str(gate)}, {"do": "text", "text": "done"}]}
    async with fleet_of(sleepy(tmp_path, 0.05, does=does)) as (fleet, witness):
        answers: list[str] = []

        async def ask() -> None:
            answers.append(text_of(await fleet.call("a", "wait", {}, {})))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await witness.until_state("a", State.READY)
            with anyio.move_on_after(10 * 0.05):  # what happens in this time is nothing
                await witness.until(lambda: State.ASLEEP in witness.states("a"))
            assert witness.states("a")[-1] is State.READY
            gate.touch()
        await witness.until_state("a", State.ASLEEP)
    assert answers == ["done"]
    assert len(starts(tmp_path)) == 1


@pytest.mark.parametrize("lazy", [True, False])
async def test_another_time_to_wait_needs_no_other_start_and_wakes_nobody(tmp_path: Path, lazy: bool) -> None:
    patient = sleepy(tmp_path, 3600, lazy=lazy)
    async with fleet_of(patient) as (fleet, witness):
        fleet.want("a")
        await witness.until_state("a", State.READY)
        fleet.adopt([replace(patient, idle_stop_seconds=SHORT_SECONDS)])
        await witness.until_state("a", State.ASLEEP)
        fleet.adopt([replace(patient, idle_stop_seconds=SHORT_SECONDS / 2)])
        [pid] = starts(tmp_path)
        await until(lambda: not running({pid}))
        assert fleet.statuses()[0].state is State.ASLEEP
    assert len(starts(tmp_path)) == 1
