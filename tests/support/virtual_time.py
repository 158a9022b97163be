"""An event loop whose clock jumps to the next timer as soon as nothing else is to be done, for code that waits in memory.

A minute of patience costs no time, and a deadline is reached exactly when the test says. Not for subprocesses or threads:
the clock would run away while they work.
"""

import asyncio
import selectors
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from unittest.mock import patch

Result = TypeVar("Result")

STUCK_SECONDS: Final = 5.0


class _Jumping(selectors.BaseSelector):
    """Instead of sleeping until the next timer it moves the clock there."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready:
            return ready
        if timeout is None:
            ready = self._real.select(STUCK_SECONDS)
            assert ready, "nothing is left that could happen"
            return ready
        self.now += timeout
        return ready

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:  # noqa: ANN401
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:  # noqa: ANN401
        return self._real.unregister(fileobj)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


@contextmanager
def runner_in_virtual_time() -> Iterator[asyncio.Runner]:
    """For a body in several steps."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        yield runner


async def by_its_clock(step: Coroutine[object, object, Result]) -> Result:
    """Runs a step of code that reads `time.monotonic`, too, which then shows the loop's time."""
    with patch.object(time, "monotonic", asyncio.get_running_loop().time):
        return await step


def in_virtual_time(body: Coroutine[object, object, Result]) -> Result:
    """Runs the body of a test."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(body)
