"""Signals where the event loop can't hear them itself, as on Windows: the interpreter passes them on."""

import signal

import anyio

from server.process import heard_by_interpreter

WAIT_SECONDS = 30.0


async def test_a_signal_is_heard_on_the_loop_and_what_was_before_is_restored() -> None:
    heard: list[signal.Signals] = []
    news = anyio.Event()

    def hear(number: signal.Signals) -> None:
        heard.append(number)
        news.set()

    numbers = (signal.SIGUSR1, signal.SIGUSR2)
    before = [signal.getsignal(number) for number in numbers]
    with heard_by_interpreter(numbers, hear), anyio.fail_after(WAIT_SECONDS):
        for number in numbers:
            news = anyio.Event()
            signal.raise_signal(number)
            await news.wait()
    assert heard == list(numbers)
    assert [signal.getsignal(number) for number in numbers] == before
