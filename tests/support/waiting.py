"""Waiting for what tells nobody that it has changed: files and other processes."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

WAIT_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.01


async def until(holds: Callable[[], bool]) -> None:
    """Returns once this holds."""
    with anyio.fail_after(WAIT_SECONDS):
        while not holds():  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)


async def until_asked(holds: Callable[[], Awaitable[bool]]) -> None:
    """Returns once this holds, where that takes a question to a gateway."""
    with anyio.fail_after(WAIT_SECONDS):
        while not await holds():  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)
