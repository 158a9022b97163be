"""Small things to wait for while a connection lives: a place to start in, the end of its use, and its own end."""

import time
from collections.abc import Callable
from typing import NoReturn

import anyio

from upstream_clients.errors import UpstreamError


class Loss:
    """The end of a connection, as something to wait for."""

    def __init__(self) -> None:
        self._ended = anyio.Event()
        self._error: UpstreamError | None = None

    def set(self, error: UpstreamError) -> None:
        self._error = self._error or error
        self._ended.set()

    async def wait(self) -> NoReturn:
        await self._ended.wait()
        assert self._error is not None
        raise self._error


class Use:
    """How many calls there are, and since when there is none. A call costs no more than setting these."""

    def __init__(self) -> None:
        self.calls = 0
        self.ended_at = time.monotonic()
        self._news = anyio.Event()

    def look_again(self) -> None:
        """Another patience may hold from now on."""
        self._news.set()

    async def over(self, patience: Callable[[], float]) -> None:
        """Returns once there has been no call for so many seconds; infinity says that it does not matter yet."""
        while True:
            self._news = anyio.Event()
            seconds = patience()
            idle = 0.0 if self.calls else time.monotonic() - self.ended_at
            if seconds <= idle:
                return
            with anyio.move_on_after(seconds - idle):
                await self._news.wait()


class Slot:
    """One place among the starts that may run at once. Giving it back twice is harmless."""

    def __init__(self, slots: anyio.Semaphore) -> None:
        self._slots = slots
        self._held = False

    async def take(self, urgent: anyio.Event) -> None:
        """Waits for a place, or for somebody to call this upstream: a call does not queue behind other starts."""
        async with anyio.create_task_group() as tasks:

            async def acquire() -> None:
                await self._slots.acquire()
                self._held = True
                tasks.cancel_scope.cancel()

            tasks.start_soon(acquire)
            await urgent.wait()
            tasks.cancel_scope.cancel()

    def give_back(self) -> None:
        if self._held:
            self._held = False
            self._slots.release()

    async def give_back_after(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        self.give_back()
