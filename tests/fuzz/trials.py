"""What a face is fuzzed by: cases are fed in small batches to a real gateway, and a good request after each batch must be
answered well. The first batch that is not survived is made as small as it can be.
"""

import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

import anyio

BATCH: Final = 16
BATCHES: Final = 40
"""After which the gateway is started anew, so that it is also met while it starts."""

FEED_SECONDS: Final = 30.0
"""For a batch and the good request after it, which take a fraction of a second."""

SHRINKING_SECONDS: Final = 90.0
"""To make a failing batch smaller. Each try starts a gateway, and one that hangs takes AGAIN_SECONDS."""

AGAIN_SECONDS: Final = 5.0


class Trial(Protocol):
    """A gateway under fuzz."""

    async def feed(self, cases: Sequence[bytes]) -> bool:
        """Whether more can be learnt from this gateway. Raises any exception for what must not be."""


Cases: TypeAlias = tuple[bytes, ...]
Content = TypeVar("Content", bytes, Cases)
Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[Trial]]


@dataclass(frozen=True, slots=True)
class Face:
    """One face of the gateway. A `kind` is what differs from one start of it to the next."""

    name: str
    kinds: Sequence[str]
    case: Callable[[random.Random, str], bytes]
    opening: Callable[[str], AbstractAsyncContextManager[Trial]]


@dataclass(frozen=True, slots=True)
class Finding:
    """The smallest batch that was found to fail, and how. `error` is what the first, larger one raised."""

    kind: str
    cases: Cases
    error: BaseException


@dataclass(slots=True)
class Tally:
    cases: int = 0
    starts: int = 0
    finding: Finding | None = None


async def fuzz(face: Face, seed: int, seconds: float, starts: int = sys.maxsize, batches: int = BATCHES) -> Tally:
    """Until the time is over, so many gateways have been started, or something is found. Never two gateways at once."""
    tally, end = Tally(), time.monotonic() + seconds
    while time.monotonic() < end and tally.starts < starts:
        rng = random.Random(f"{seed}/{face.name}/{tally.starts}")
        kind = face.kinds[tally.starts % len(face.kinds)]
        tally.starts += 1
        fed: list[list[bytes]] = []
        try:
            async with face.opening(kind) as trial:
                more = True
                while more and time.monotonic() < end and len(fed) < batches:
                    fed.append([face.case(rng, kind) for _ in range(BATCH)])
                    tally.cases += BATCH
                    with anyio.fail_after(FEED_SECONDS):
                        more = await trial.feed(fed[-1])
        except Exception as error:  # noqa: BLE001  (whatever it was, it is reported)
            tally.finding = await _smallest(face, kind, fed, error)
            break
    return tally


class _Retrying:
    """Tells whether some cases still fail, for as long as it may."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._end = time.monotonic() + SHRINKING_SECONDS

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._end

    async def fails(self, cases: Sequence[bytes]) -> bool:
        if self.is_over:
            return False
        try:
            async with self._opening() as trial:
                with anyio.fail_after(AGAIN_SECONDS):
                    await trial.feed(cases)
        except Exception:  # noqa: BLE001  (which one does not matter)
            return True
        return False

    async def shrunk(self, content: Content, fails: Callable[[Content], Awaitable[bool]]) -> Content:
        """Without the halves, quarters and so on that it fails without."""
        size = len(content)
        while (size := size // 2) and not self.is_over:
            start = 0
            while start < len(content) and not self.is_over:
                rest = content[:start] + content[start + size :]
                if await fails(rest):
                    content = rest
                else:
                    start += size
        return content


async def _smallest(face: Face, kind: str, fed: Sequence[Sequence[bytes]], error: Exception) -> Finding:
    retrying = _Retrying(lambda: face.opening(kind))
    every = tuple(case for batch in fed for case in batch)
    last = tuple(fed[-1]) if fed else ()
    cases = await retrying.shrunk(last if await retrying.fails(last) else every, retrying.fails)
    for number, case in enumerate(cases):
        before, after = cases[:number], cases[number + 1 :]

        async def fails_with(content: bytes, before: Cases = before, after: Cases = after) -> bool:
            return await retrying.fails((*before, content, *after))

        cases = (*before, await retrying.shrunk(case, fails_with), *after)
    return Finding(kind, cases, error)
