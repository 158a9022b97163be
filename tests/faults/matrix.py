"""The fault matrix as data: what each row injects, what must come of it, and how its figures are judged.

A run really injects the fault. It asserts the outcome itself and returns the figures; whether those hold is judged here,
by the bounds that stand beside the run. Knows no particular fault.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

import anyio
import anyio.to_thread

from tests.support.processes import all_gone

BUSY: Final = 5.0
"""How much longer than its metric a thing may take, for a machine that has other work. What is counted gets no such room."""

ROW_SECONDS: Final = 300.0
"""Ends a run that hangs. Far above what the longest one takes."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that one figure may come to. Made by `takes` and `stays`."""

    figure: str
    metric: float
    unit: str
    room: float

    @property
    def most(self) -> float:
        return self.metric * self.room


def takes(figure: str, metric: float, unit: str = "s") -> Bound:
    """Of a time or another figure that grows with the load of the machine."""
    return Bound(figure, metric, unit, BUSY)


def stays(figure: str, metric: float, unit: str = "") -> Bound:
    """Of a count or of memory, which no load excuses."""
    return Bound(figure, metric, unit, 1.0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run works. `marker` stands in the command line of every upstream that it starts."""

    folder: Path
    marker: str


class NotTried(Exception):
    """A run's fault cannot be injected on this machine. The message says what is missing."""


Figures: TypeAlias = Mapping[str, float]
Measure: TypeAlias = Callable[[Place], Awaitable[Figures]]


@dataclass(frozen=True, slots=True)
class Run:
    """One way to inject a row's fault. Those that are not quick are left to `make faults`."""

    measure: Measure
    bounds: tuple[Bound, ...]
    quick: bool = True
    how: str = ""  # what tells it from the row's other run


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `metric` and `expected` are the matrix's own words; `remark` says where we depart from them, and why."""

    number: int
    fault: str
    injected: str
    expected: str
    metric: str
    runs: tuple[Run, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure beside its bound."""

    bound: Bound
    seen: float

    @property
    def meets_metric(self) -> bool:
        return self.seen <= self.bound.metric

    @property
    def is_held(self) -> bool:
        return self.seen <= self.bound.most

    def __str__(self) -> str:
        return f"{self.bound.figure} {self.seen:.3g} {self.bound.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: its judged figures, or the reason that there are none."""

    judged: tuple[Judged, ...] = ()
    reason: str = field(default="")
    was_tried: bool = True

    @property
    def is_held(self) -> bool:
        return not self.reason and all(one.is_held for one in self.judged)

    @property
    def meets_metric(self) -> bool:
        return not self.reason and all(one.meets_metric for one in self.judged)


async def play(run: Run, folder: Path) -> tuple[Judged, ...]:
    """Injects the fault in this folder and judges what is seen. Afterwards nothing that was started may be left."""
    place = Place(folder, f"toolfold-fault-{uuid4().hex}")
    with anyio.fail_after(ROW_SECONDS):
        figures = await run.measure(place)
    assert await anyio.to_thread.run_sync(all_gone, place.marker) == {}, "an upstream has outlived the gateway"
    assert set(figures) == {bound.figure for bound in run.bounds}, "each bound has its figure"
    return tuple(Judged(bound, figures[bound.figure]) for bound in run.bounds)


def name_of(row: Row, run: Run) -> str:
    """For a list of runs: `08-giant-line`."""
    words = re.findall(r"\w+", f"{row.fault} {run.how}")
    return "-".join((f"{row.number:02}", *words)).lower()


def is_whole(run: Run) -> bool:
    """Whether it has bounds and can be played."""
    return bool(run.bounds) and inspect.iscoroutinefunction(run.measure)
