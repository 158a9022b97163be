"""One real process in any order of a few steps: called, crashing, hanging, asleep, exchanged and removed.

What `test_life_cycles.py` holds in memory must hold of pipes and processes, too.
"""

import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.machines.profiles import FEW
from tests.support.fleets import fleet_of
from tests.support.hosts import part
from tests.support.processes import GONE_SECONDS, children, descriptors
from tests.support.upstreams import Script, received, spec
from upstream_clients import Patience, UpstreamError

STEPS: Final = ("call", "call", "crash", "hang", "cancel", "change", "sleep", "remove", "add")
DOES: Final[dict[str, Script]] = {
    "call": {"do": "echo"},
    "crash": {"do": "crash"},
    "hang": {"do": "never"},
    "cancel": {"do": "never"},
    "change": [{"do": "change", "times": 3}, {"do": "text", "text": "changed"}],
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@settings(FEW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=6))
def test_real_processes_live_through_any_order_of_events(steps: list[str]) -> None:
    before = children(), set(descriptors())
    with TemporaryDirectory() as folder:
        outcomes, written = anyio.run(_live, steps, Path(folder) / "log")
    calls = [step for step in steps if step in DOES]
    assert len(outcomes) == len(calls)
    assert [nonce for nonce, times in written.items() if times > 1] == []
    assert _left(*before) == (set(), set())


def _left(known: set[int], numbers: set[int]) -> tuple[set[int], set[int]]:
    """The children and descriptors that are left; the watchdog and its pipe may take a moment to go."""
    deadline = time.monotonic() + GONE_SECONDS
    while True:
        left = children() - known, set(descriptors()) - numbers
        if left == (set(), set()) or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


async def _live(steps: list[str], log: Path) -> tuple[list[str], Counter[str]]:
    """What came of each call, and how often the server saw it."""
    one = replace(
        spec("a", does=DOES, log=str(log)),
        patience=Patience(idle=0.3, total=5),
        idle_stop_seconds=0.2,
        start_seconds=10,
    )
    outcomes: list[str] = []
    async with fleet_of(one) as (fleet, _witness):

        async def called(step: str, nonce: str) -> None:
            scope = anyio.move_on_after(0.1) if step == "cancel" else anyio.move_on_after(30)
            with scope:
                try:
                    await fleet.call("a", step, {"nonce": nonce}, {})
                    outcomes.append("result")
                except UpstreamError as error:
                    outcomes.append(error.code)
            if scope.cancelled_caught:
                outcomes.append("cancelled")

        await fleet.settled(["a"])
        async with anyio.create_task_group() as tasks:
            for number, step in enumerate(steps):
                if step in DOES:
                    tasks.start_soon(called, step, f"n{number}")
                    await anyio.wait_all_tasks_blocked()
                elif step == "sleep":
                    await anyio.sleep(0.4)
                else:
                    fleet.adopt([one] if step == "add" else [])
    return outcomes, Counter(
        str(part(message, "params", "arguments")["nonce"])
        for message in received(log)
        if message.get("method") == "tools/call"
    )
