import anyio
import pytest

from tests.support.virtual_time import in_virtual_time
from upstream_clients import UpstreamGone, UpstreamTimeout
from upstream_clients.starting import Loss, Slot


def test_starts_wait_for_a_slot_and_pass_it_on() -> None:
    async def body() -> None:
        slots = anyio.Semaphore(1)
        first, second = Slot(slots), Slot(slots)
        await first.take(anyio.Event())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(second.take, anyio.Event())
            await anyio.sleep(1)
            assert slots.statistics().tasks_waiting == 1
            first.give_back()
            first.give_back()
        assert slots.value == 0
        second.give_back()
        assert slots.value == 1

    in_virtual_time(body())


def test_a_call_does_not_queue_behind_other_starts() -> None:
    async def body() -> None:
        slots, urgent = anyio.Semaphore(0), anyio.Event()
        slot = Slot(slots)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(slot.take, urgent)
            await anyio.sleep(1)
            urgent.set()
        slot.give_back()
        assert (slots.value, slots.statistics().tasks_waiting) == (0, 0)

    in_virtual_time(body())


def test_a_silent_start_gives_its_slot_to_the_next() -> None:
    async def body() -> None:
        slots = anyio.Semaphore(1)
        silent, next_one = Slot(slots), Slot(slots)
        await silent.take(anyio.Event())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(silent.give_back_after, 5)
            await next_one.take(anyio.Event())
            assert anyio.current_time() == 5
        silent.give_back()
        assert slots.value == 0

    in_virtual_time(body())


def test_a_start_that_is_given_up_keeps_no_slot() -> None:
    async def body() -> None:
        slots = anyio.Semaphore(1)
        first, second = Slot(slots), Slot(slots)
        await first.take(anyio.Event())
        with anyio.move_on_after(1):
            await second.take(anyio.Event())
        second.give_back()
        first.give_back()
        assert (slots.value, slots.statistics().tasks_waiting) == (1, 0)

    in_virtual_time(body())


async def test_the_first_reason_of_a_loss_is_the_reason() -> None:
    loss = Loss()
    loss.set(UpstreamGone("it ended"))
    loss.set(UpstreamTimeout("it was late"))
    with pytest.raises(UpstreamGone):
        await loss.wait()
