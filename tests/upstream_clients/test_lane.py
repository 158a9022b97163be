"""Calls that are too many are refused at once, and an upstream that stays silent is spared, tried and started again."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.support.endpoints import endpoint_spec
from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.http_stub import http_stub, status
from tests.support.upstreams import Script, received, spec
from upstream_clients import (
    Fleet,
    Patience,
    State,
    UpstreamDeclined,
    UpstreamOverloaded,
    UpstreamStalled,
    UpstreamTimeout,
)
from upstream_clients.breaker import FAILURES
from upstream_clients.bulkhead import IN_ALL, IN_FLIGHT, QUEUED

QUICK = Patience(idle=0.05, total=5)


async def until_answered(fleet: Fleet) -> None:
    """Asks as a patient caller does."""
    while True:
        if isinstance(await outcome(fleet, "a", "create_record_0"), dict):
            return
        await anyio.sleep(0.1)


async def test_calls_beyond_the_places_of_an_upstream_are_refused_at_once_and_leave_the_others_alone(
    tmp_path: Path,
) -> None:
    log, stuck = tmp_path / "log", Patience(idle=2, total=2)
    one = replace(spec("a", does={"never": {"do": "never"}}, log=str(log)), patience=stuck)
    async with fleet_of(one, spec("b", tools=1)) as (fleet, witness):
        await witness.until(lambda: len(witness.listings) == 2)
        refused: list[str] = []
        async with anyio.create_task_group() as tasks:
            for _ in range(IN_FLIGHT + QUEUED):
                tasks.start_soon(outcome, fleet, "a", "never")
            await anyio.wait_all_tasks_blocked()
            for _ in range(3):
                failure = await outcome(fleet, "a", "never")
                assert isinstance(failure, UpstreamOverloaded)
                refused.append(failure.message)
            assert text_of(await fleet.call("b", "create_record_0", {"text": "well"}, {})) == "well"
            tasks.cancel_scope.cancel()
    assert refused == [f"{IN_FLIGHT} calls are under way and {QUEUED} wait for it"] * 3
    assert [message["method"] for message in received(log)].count("tools/call") == IN_FLIGHT


async def test_a_thousand_calls_at_once_are_all_answered_and_none_crosses() -> None:
    owners = [f"u{number}" for number in range(8)]
    async with fleet_of(*(spec(owner, tools=1) for owner in owners)) as (fleet, witness):
        await witness.until(lambda: len(witness.listings) == len(owners))
        kinds: Counter[str] = Counter()

        async def call(number: int) -> None:
            text = f"nonce {number}"
            try:
                answer = text_of(await fleet.call(owners[number % 8], "create_record_0", {"text": text}, {}))
            except UpstreamOverloaded:
                kinds["overloaded"] += 1
            else:
                kinds["right" if answer == text else "crossed"] += 1

        async with anyio.create_task_group() as tasks:
            for number in range(1000):
                tasks.start_soon(call, number)
    assert kinds == {"right": IN_ALL, "overloaded": 1000 - IN_ALL}


async def test_an_upstream_that_stays_silent_is_spared_and_lives_on_if_it_answers_a_ping(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = replace(spec("a", does={"never": {"do": "never"}}, tools=1, log=str(log)), patience=QUICK)
    async with fleet_of(one) as (fleet, witness):
        await witness.until_state("a", State.READY)
        silent = [await outcome(fleet, "a", "never") for _ in range(FAILURES)]
        assert [type(each) for each in silent] == [UpstreamTimeout] * FAILURES
        spared = await outcome(fleet, "a", "create_record_0")
        assert isinstance(spared, UpstreamStalled)
        assert (spared.ran, spared.message) == (
            False,
            f"none of the last {FAILURES} calls had a result, and it is left alone for now",
        )
        await until_answered(fleet)
    methods = [str(message["method"]) for message in received(log)]
    assert (methods.count("tools/call"), methods.count("ping")) == (FAILURES + 1, 1)
    assert witness.states("a") == [State.WAITING, State.STARTING, State.READY, State.STOPPED]


async def test_refusals_and_errors_of_tools_are_answers() -> None:
    does: dict[str, Script] = {"refuse": {"do": "refuse"}, "fail": {"do": "error"}}
    async with fleet_of(spec("a", does=does, tools=1)) as (fleet, _):
        for _ in range(FAILURES):
            await outcome(fleet, "a", "refuse")
            await outcome(fleet, "a", "fail")
        assert isinstance(await outcome(fleet, "a", "create_record_0"), dict)


async def test_calls_that_an_address_declines_for_what_they_are_do_not_close_it_to_others() -> None:
    async with (
        http_stub({"tools/call": status(403)}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness),
    ):
        await witness.until_state("a", State.READY)
        for _ in range(2 * FAILURES):
            assert isinstance(await outcome(fleet, "a", "echo"), UpstreamDeclined)
        for _ in range(2 * FAILURES):
            with pytest.raises(UpstreamDeclined):
                await fleet.call("a", "echo", {"text": "\ud800"}, {})
        assert stub.count("tools/call") == 2 * FAILURES
        stub.answers.clear()
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


async def test_an_upstream_that_does_not_answer_a_ping_either_is_started_again() -> None:
    one = replace(spec("a", does={"stop": {"do": "stop"}}, tools=1), patience=QUICK)
    async with fleet_of(one) as (fleet, witness):
        await witness.until_state("a", State.READY)
        for _ in range(FAILURES):
            assert isinstance(await outcome(fleet, "a", "stop"), UpstreamTimeout)
        await until_answered(fleet)
    [down] = [status for status in witness.statuses if status.state is State.DOWN]
    assert down.error == "it answers neither calls nor a ping"
