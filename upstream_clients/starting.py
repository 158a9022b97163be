"""Small things to wait for while a connection lives: a place to start in, and its end."""

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
