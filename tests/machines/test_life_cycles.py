"""Upstreams in any order of events: started, called, crashing, silent, asleep, exchanged and removed.

A fleet over servers in memory and a clock that jumps. Whatever comes: a call has one outcome, it is written once at the
most, states follow their graph (`State`), and nothing is left over.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, cast

import anyio
import anyio.abc
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.machines.profiles import MACHINE
from tests.support.fleets import CLIENT_INFO, Witness
from tests.support.hosts import part
from tests.support.scripted_opener import Mood, ScriptedOpener, ScriptedServer
from tests.support.virtual_time import by_its_clock, runner_in_virtual_time
from upstream_clients import Fleet, JsonObject, Launch, Patience, State, UpstreamError, UpstreamGone, UpstreamSpec
from upstream_clients.connection import Opener
from upstream_clients.era import Greeter
from upstream_clients.upstream import Surroundings

OWNERS: Final = ("a", "b")
PATIENCE: Final = Patience(idle=10, total=30)
START_SECONDS: Final = 20.0
LONG_SECONDS: Final = 120.0
"""More than any call may take: all its waits together."""

GRAPH: Final = {
    State.IDLE: {State.WAITING},
    State.WAITING: {State.STARTING},
    State.STARTING: {State.READY, State.DOWN},
    State.READY: {State.ASLEEP, State.DOWN},
    State.ASLEEP: {State.WAITING},
    State.DOWN: {State.WAITING},
    State.STOPPED: set[State](),
}
"""Where an upstream may go from each state; from each it may be stopped. A session that is renewed is not among these."""


@dataclass(slots=True)
class Called:
    """A call, and all that came of it."""

    nonce: str
    outcomes: list[JsonObject | UpstreamError] = field(default_factory=list)
    task: "asyncio.Task[None] | None" = None
    is_cancelled: bool = False


def in_memory(owner: str, edition: int, *, lazy: bool, idle_stop: float) -> UpstreamSpec:
    target = Launch((owner, str(edition)), {}, None, line_bytes=1024)
    return UpstreamSpec(owner, target, PATIENCE, START_SECONDS, lazy=lazy, idle_stop_seconds=idle_stop)


class LifeCycles(RuleBasedStateMachine):
    """One fleet. Each rule is a step, after which everything goes on until it can't."""

    def __init__(self) -> None:
        super().__init__()
        self._context = runner_in_virtual_time()
        self._runner = self._context.__enter__()
        self._opener = ScriptedOpener()
        self._witness = Witness()
        self._specs: dict[str, UpstreamSpec] = {}
        self._calls: list[Called] = []
        self._answered: Counter[str] = Counter()
        self._end = asyncio.Event()
        self._do(self._start())
        for owner in OWNERS:
            self.put(owner, 0, False, 0.0)

    def _do(self, step: object = None, seconds: float = 0.5) -> None:
        async def whole() -> None:
            if step is not None:
                await step  # type: ignore[misc]
            await anyio.sleep(seconds)

        self._runner.run(by_its_clock(whole()))

    async def _start(self) -> None:
        started = asyncio.Event()

        async def live() -> None:
            around = Surroundings(
                cast("Opener", self._opener),
                Greeter(CLIENT_INFO),
                anyio.Semaphore(4),
                "us",
                self._witness.take_listing,
                self._witness.take_status,
            )
            async with anyio.create_task_group() as tasks:
                self._fleet = Fleet(around, tasks)
                started.set()
                await self._end.wait()
                tasks.cancel_scope.cancel()

        self._life = asyncio.get_running_loop().create_task(live())
        await started.wait()

    async def _adopt(self) -> None:
        self._fleet.adopt(self._specs.values())

    @rule(
        owner=st.sampled_from(OWNERS),
        edition=st.integers(0, 1),
        lazy=st.booleans(),
        idle_stop=st.sampled_from((0.0, 5.0)),
    )
    def put(self, owner: str, edition: int, lazy: bool, idle_stop: float) -> None:
        self._specs[owner] = in_memory(owner, edition, lazy=lazy, idle_stop=idle_stop)
        self._do(self._adopt())

    @rule(owner=st.sampled_from(OWNERS))
    def remove(self, owner: str) -> None:
        self._specs.pop(owner, None)
        self._do(self._adopt())

    @rule(mood=st.sampled_from(("well", "well", "refuses", "silent", "broken")))
    def next_start(self, mood: Mood) -> None:
        self._opener.mood = mood

    @rule(owner=st.sampled_from(OWNERS), times=st.sampled_from((1, 1, 3, 12, 50)))
    def call(self, owner: str, times: int) -> None:
        async def start() -> None:
            for _ in range(times):
                called = Called(f"n{len(self._calls)}")
                self._calls.append(called)
                called.task = asyncio.get_running_loop().create_task(self._called(owner, called))

        self._do(start())

    async def _called(self, owner: str, called: Called) -> None:
        try:
            called.outcomes.append(await self._fleet.call(owner, "work", {"nonce": called.nonce}, {}))
        except UpstreamError as error:
            called.outcomes.append(error)

    @precondition(lambda self: any(not called.outcomes for called in self._calls))
    @rule(number=st.integers(0, 100))
    def cancel(self, number: int) -> None:
        open_ones = [called for called in self._calls if not called.outcomes and not called.is_cancelled]
        if open_ones:
            called = open_ones[number % len(open_ones)]
            called.is_cancelled = True
            assert called.task is not None
            called.task.cancel()
            self._do()

    @rule(position=st.integers(0, 20), how=st.sampled_from(("result", "error", "twice", "stranger", "nonsense")))
    def answer(self, position: int, how: str) -> None:
        self._do(self._answer(position, how))

    async def _answer(self, position: int, how: str) -> None:
        for server in self._busy():
            if how == "stranger":
                server.say({"id": str(server.open_calls[0]["id"]), "result": {}})
                server.say({"id": 10**9, "result": {}})
                continue
            nonce = _nonce(server.open_calls[position % len(server.open_calls)])
            good: JsonObject = {"result": {"nonce": nonce}}
            other: JsonObject = {"error": {"code": -1, "message": nonce}} if how == "error" else {"result": None}
            call = server.answer(position, good if how in ("result", "twice") else other)
            if how == "twice":
                server.say({"id": call["id"], "result": {"nonce": "late"}})
            self._answered[nonce] += 1

    @rule(what=st.sampled_from(("crash", "silence", "change", "storm")))
    def happen(self, what: str) -> None:
        async def happens() -> None:
            for server in list(self._opener.servers.values()):
                if what == "crash":
                    server.end()
                elif what == "silence":
                    server.fall_silent()
                else:
                    for _ in range(1 if what == "change" else 500):
                        server.say({"method": "notifications/tools/list_changed"})

        self._do(happens())

    @rule(seconds=st.sampled_from((0.2, 1.0, 6.0, 31.0)))
    def wait(self, seconds: float) -> None:
        self._do(seconds=seconds)

    @invariant()
    def a_call_has_one_outcome_and_its_own(self) -> None:
        for called in self._calls:
            assert len(called.outcomes) + called.is_cancelled <= 1
            for outcome in called.outcomes:
                if isinstance(outcome, dict):
                    assert outcome == {"nonce": called.nonce}
                    assert self._answered[called.nonce] == 1

    @invariant()
    def no_call_is_written_twice(self) -> None:
        assert [nonce for nonce, times in self._opener.written.items() if times > 1] == []

    @invariant()
    def a_call_that_ran_says_so_and_one_that_was_never_written_does_not(self) -> None:
        for called in self._calls:
            for outcome in called.outcomes:
                if isinstance(outcome, UpstreamError):
                    assert outcome.ran <= (self._opener.written[called.nonce] == 1)

    @invariant()
    def the_fleet_is_what_was_asked_for(self) -> None:
        assert {status.owner for status in self._fleet.statuses()} == self._specs.keys()

    @invariant()
    def states_follow_their_graph(self) -> None:
        for owner in OWNERS:
            told = [status for status in self._witness.statuses if status.owner == owner]
            for one, other in pairwise(told):
                is_another = other.state is State.WAITING and other.starts == 0  # in the place of the former one
                if one.state is not other.state and not is_another:
                    assert other.state in GRAPH[one.state] | {State.STOPPED}, (one, other)

    def teardown(self) -> None:
        try:
            self._do(seconds=LONG_SECONDS)
            unfinished = [one.nonce for one in self._calls if len(one.outcomes) + one.is_cancelled != 1]
            assert unfinished == [], "these calls have no outcome"
            assert len(self._opener.servers) <= len(self._specs)
            assert self._fleet._total.calls == 0, "places were kept"
            self._do(self._ending())
            assert self._opener.opened == 0, "connections were left open"
            assert self._runner.run(_others()) == 0, "tasks were left"
        finally:
            self._context.__exit__(None, None, None)

    async def _ending(self) -> None:
        self._end.set()
        await self._life

    def _busy(self) -> list[ScriptedServer]:
        return [server for server in self._opener.servers.values() if server.open_calls]


def _nonce(call: JsonObject) -> str:
    return str(part(call, "params", "arguments")["nonce"])


async def _others() -> int:
    return len(asyncio.all_tasks()) - 1


def test_upstreams_in_memory_live_through_any_order_of_events() -> None:
    run_state_machine_as_test(LifeCycles, settings=MACHINE)


def test_the_servers_in_memory_are_reached() -> None:
    machine = LifeCycles()
    machine.put("a", 1, False, 5.0)
    machine.call("a", 1)
    machine.answer(0, "result")
    machine.wait(6.0)
    machine.call("a", 1)
    machine.happen("crash")
    first, second = (called.outcomes[0] for called in machine._calls)
    states = machine._witness.states("a")
    machine.teardown()
    assert first == {"nonce": "n0"}
    assert isinstance(second, UpstreamGone)
    assert second.ran
    start = [State.WAITING, State.STARTING, State.READY]
    wanted = [*start, *start, State.ASLEEP, *start, State.DOWN]
    assert states[: len(wanted)] == wanted
