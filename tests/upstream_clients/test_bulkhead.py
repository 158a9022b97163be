"""Calls beyond the bounds are refused at once; those within take their turn, and none is lost."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.virtual_time import in_virtual_time
from upstream_clients import UpstreamOverloaded
from upstream_clients.bulkhead import Bulkhead, Total


async def turns(bulkhead: Bulkhead, count: int, seconds: float = 1.0) -> list[int]:
    """Calls that take so long each, all at once; who was refused, and then who was done, in order."""
    done: list[int] = []

    async def call(number: int) -> None:
        try:
            await bulkhead.enter()
        except UpstreamOverloaded:
            done.append(-number)
            return
        await anyio.sleep(seconds)
        bulkhead.leave()
        done.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(1, count + 1):
            tasks.start_soon(call, number)
    return done


def test_some_go_at_once_some_in_turn_and_the_rest_is_refused() -> None:
    async def body() -> None:
        assert await turns(Bulkhead(Total(), in_flight=2, queued=3), 7) == [-6, -7, 1, 2, 3, 4, 5]
        assert anyio.current_time() == 3

    in_virtual_time(body())


def test_the_bound_over_all_counts_those_that_wait() -> None:
    async def body() -> None:
        total = Total(limit=3)
        one, other = Bulkhead(total, in_flight=1), Bulkhead(total, in_flight=1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turns, one, 3)
            await anyio.sleep(0.5)
            assert total.calls == 3
            with pytest.raises(UpstreamOverloaded, match="3 calls are under way in all"):
                await other.enter()
            await anyio.sleep(1)
            await other.enter()
            other.leave()
        assert total.calls == 0

    in_virtual_time(body())


def test_whoever_gives_up_leaves_the_turn_to_the_next() -> None:
    async def body() -> None:
        bulkhead = Bulkhead(Total(), in_flight=1)
        await bulkhead.enter()
        with anyio.move_on_after(1):
            await bulkhead.enter()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turns, bulkhead, 1)
            await anyio.sleep(1)
            bulkhead.leave()
        assert repr(bulkhead) == "<Bulkhead 0 of 1 busy, 0 waiting>"

    in_virtual_time(body())


@given(lives=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_whoever_comes_and_goes_when_all_places_are_free_in_the_end(lives: list[tuple[int, int, int]]) -> None:
    """Each life: when it comes, how patiently it waits, how long it takes."""

    async def body() -> None:
        total = Total(limit=12)
        bulkhead = Bulkhead(total, in_flight=2, queued=6)

        async def live(comes: int, patience: int, takes: int) -> None:
            await anyio.sleep(comes)
            with anyio.move_on_after(patience) as scope:
                try:
                    await bulkhead.enter()
                except UpstreamOverloaded:
                    return
            if not scope.cancelled_caught:
                await anyio.sleep(takes)
                bulkhead.leave()

        async with anyio.create_task_group() as tasks:
            for life in lives:
                tasks.start_soon(live, *life)
        assert (total.calls, repr(bulkhead)) == (0, "<Bulkhead 0 of 2 busy, 0 waiting>")

    in_virtual_time(body())
