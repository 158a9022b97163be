"""Whether an upstream that answers no call any more is spared, and for how long. Plain decisions; waits for nothing.

Closed, calls go through. After FAILURES calls in a row without an answer it opens for a while, and calls are refused at
once. Then one caller tries it with a question of ours: an answer closes it, silence opens it for twice as long. An error
that the upstream answers is an answer.
"""

import random
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

FAILURES: Final = 5
"""As Envoy's outlier detection has it: fewer are a bad moment, more are the callers' time."""

FIRST_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0
JITTER: Final = (0.7, 1.3)
"""Upstreams that share a cause must not be tried in the same moment."""


class Way(Enum):
    """What becomes of a call."""

    THROUGH = auto()
    TRIAL = auto()
    REFUSED = auto()


class Breaker:
    """Of one upstream."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        spread: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._clock = clock
        self._spread = spread
        self._failures = 0
        self._seconds = FIRST_SECONDS
        self._open_until: float | None = None
        self._is_tried = False

    def __repr__(self) -> str:
        return f"<Breaker {'closed' if self._open_until is None else 'open'}, {self._failures} failures>"

    def ask(self) -> Way:
        """The way of the next call. Whoever is told TRIAL must report how it went."""
        if self._open_until is None:
            return Way.THROUGH
        if self._is_tried or self._clock() < self._open_until:
            return Way.REFUSED
        self._is_tried = True
        return Way.TRIAL

    @property
    def seconds_left(self) -> float:
        """Until the next trial."""
        return max(0.0, (self._open_until or 0.0) - self._clock())

    @property
    def failures(self) -> int:
        """Calls in a row that were not answered."""
        return self._failures

    def answered(self) -> None:
        """A call was answered, whatever the answer says."""
        self._failures = 0
        self._seconds = FIRST_SECONDS
        self._close()

    def tried_well(self) -> None:
        """The trial was answered. Calls go through again; the next silence counts as one more of the last ones."""
        self._failures = FAILURES - 1
        self._close()

    def failed(self) -> None:
        """A call was not answered."""
        self._failures += 1
        if self._failures >= FAILURES and self._open_until is None:
            self._open()

    def tried_in_vain(self) -> None:
        """The trial was not answered."""
        self._open()

    def gave_up(self) -> None:
        """Whoever tried has gone before there was an outcome."""
        self._is_tried = False

    def _open(self) -> None:
        self._open_until = self._clock() + self._seconds * self._spread(*JITTER)
        self._seconds = min(LONGEST_SECONDS, self._seconds * 2)
        self._is_tried = False

    def _close(self) -> None:
        self._open_until = None
        self._is_tried = False
