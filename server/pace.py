"""How work in threads makes way for calls: while they come, it rests for a moment after every half millisecond of work.

A thread of pure Python holds the interpreter for five milliseconds at a time, and the event loop would wait for that at
every turn of a call. Where nothing is called, nothing rests: a build at the start is as quick as it can be.
"""

import time
from typing import Final

WORK_SECONDS: Final = 0.0005
"""What a turn of the event loop may have to wait. A call takes about four turns."""

REST_SECONDS: Final = 0.001
"""Long enough for the event loop to wake up, and for most turns. Building takes three times as long while calls come."""

LINGER_SECONDS: Final = 1.0
"""How long after a call another one is likely: models and hosts call in rows."""


class Pace:
    """Shared by the event loop, which tells of calls, and by the threads that work beside it."""

    def __init__(self) -> None:
        self._called = -LINGER_SECONDS
        self._rested = 0.0

    def called(self) -> None:
        """A call has come."""
        self._called = time.monotonic()

    def give_way(self) -> None:
        """Called by a thread between two steps of its work."""
        now = time.monotonic()
        if now - self._rested < WORK_SECONDS:
            return
        if now - self._called < LINGER_SECONDS:
            time.sleep(REST_SECONDS)
        self._rested = time.monotonic()
