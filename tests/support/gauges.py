"""What a running gateway has, measured from outside, and whether it grows.

Linux: all but the tasks is read from /proc. Tasks are counted by the gateway itself, when a signal asks for it
(`counting/sitecustomize.py`); nothing of that is in the project.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import linear_regression
from types import MappingProxyType
from typing import Final

from tests.support.processes import PROC, descendants, resident_bytes
from tests.support.waiting import until

MIB: Final = 1 << 20

MOST_GROWTH: Final[Mapping[str, float]] = MappingProxyType(
    {"rss": 16.0, "descriptors": 16.0, "threads": 6.0, "tasks": 40.0, "children": 5.0}
)
"""How far the fitted line may rise over the measured part of a run; RSS in MiB.

Beyond the noise of upstreams that come and go (three or four descriptors, one process and about eight tasks each, of which
three or four are down at any moment) and far below what one leak in each fault, or in each call, comes to.
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """At one moment. `rss` is in MiB, `at` in seconds since the start."""

    at: float
    rss: float
    descriptors: int
    threads: int
    tasks: int
    children: int


@dataclass(frozen=True, slots=True)
class Growth:
    """The line fitted through one gauge after the warm-up: where it starts, and how far it rises."""

    gauge: str
    start: float
    rise: float
    bound: float

    @property
    def is_leak(self) -> bool:
        return self.rise > self.bound

    def __str__(self) -> str:
        verdict = "GROWS" if self.is_leak else "ok"
        return f"{self.gauge:12} {self.start:9.1f} {self.rise:+9.2f} {self.bound:7.0f}  {verdict}"


GAUGES: Final = tuple(field.name for field in fields(Sample) if field.name != "at")


def growths(samples: Sequence[Sample], warm_up_seconds: float) -> tuple[Growth, ...]:
    """How each gauge has gone since the warm-up, by the line of least squares through it."""
    measured = [sample for sample in samples if sample.at >= warm_up_seconds]
    times = [sample.at for sample in measured]
    lines = {gauge: linear_regression(times, [getattr(sample, gauge) for sample in measured]) for gauge in GAUGES}
    return tuple(
        Growth(gauge, line.intercept + line.slope * times[0], line.slope * (times[-1] - times[0]), MOST_GROWTH[gauge])
        for gauge, line in lines.items()
    )


def counting(counts: Path) -> dict[str, str]:
    """Variables for a gateway that counts its tasks into this file when it is asked."""
    return {"COUNT_TASKS": str(counts), "PYTHONPATH": str(Path(__file__).with_name("counting"))}


async def measure(pid: int, counts: Path, at: float) -> Sample:
    """The gauges of a gateway that was started with `counting`."""
    folder = PROC / str(pid)
    return Sample(
        at=at,
        rss=resident_bytes(pid) / MIB,
        descriptors=len(os.listdir(folder / "fd")),
        threads=len(os.listdir(folder / "task")),
        tasks=await _tasks(pid, counts),
        children=len(descendants(pid)),
    )


async def _tasks(pid: int, counts: Path) -> int:
    _ask(pid, counts)
    await until(lambda: _told(counts).endswith(b"\n"))
    return int(_told(counts))


def _ask(pid: int, counts: Path) -> None:
    counts.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR2)


def _told(counts: Path) -> bytes:
    return counts.read_bytes() if counts.exists() else b""
