"""What a face is fuzzed by: cases are fed in small batches to a real gateway, and a good request after each batch must be
answered well. The first batch that is not survived is made as small as it can be.
"""

import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

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
    cases: tuple[bytes, ...]
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
    """Tells whether some cases still fail, as often as it may."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._end = time.monotonic() + SHRINKING_SECONDS

    async def fails(self, cases: Sequence[bytes]) -> bool:
        if time.monotonic() > self._end:
            return False
        try:
            async with self._opening() as trial:
                with anyio.fail_after(AGAIN_SECONDS):
                    await trial.feed(cases)
        except Exception:  # noqa: BLE001  (which one does not matter)
            return True
        return False


async def _smallest(face: Face, kind: str, fed: Sequence[Sequence[bytes]], error: Exception) -> Finding:
    retrying = _Retrying(lambda: face.opening(kind))
    every = [case for batch in fed for case in batch]
    last = list(fed[-1]) if fed else []
    cases = last if await retrying.fails(last) else every
    cases = await _shrunk(cases, retrying.fails)
    for number, case in enumerate(cases):

        async def fails_with(content: bytes, number: int = number) -> bool:
            return await retrying.fails([*cases[:number], content, *cases[number + 1 :]])

        cases[number] = await _shorter(case, fails_with)
    return Finding(kind, tuple(cases), error)


async def _shrunk(cases: list[bytes], fails: Callable[[Sequence[bytes]], Awaitable[bool]]) -> list[bytes]:
    """Without the halves, quarters and so on that it fails without."""
    size = len(cases)
    while size := size // 2:
        start = 0
        while start < len(cases):
            rest = cases[:start] + cases[start + size :]
            if await fails(rest):
                cases = rest
            else:
                start += size
    return cases


async def _shorter(content: bytes, fails: Callable[[bytes], Awaitable[bool]]) -> bytes:
    size = len(content)
    while size := size // 2:
        start = 0
        while start < len(content):
            rest = content[:start] + content[start + size :]
            if await fails(rest):
                content = rest
            else:
                start += size
    return content
