"""What all benchmarks share: rounds that alternate, tables, verdicts, and what the operating system says of a process.

Nothing here asserts a time. Ratios are of minima, because load makes times longer and never shorter.
"""

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

from index import BYTES_PER_TOKEN

PS: Final = ("ps", "-axww", "-o", "pid=,ppid=,command=")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Taken:
    """What something took: seconds by the clock, and of the process that did it (None where that can't be asked)."""

    clock: float
    processor: float | None


def announce(title: str) -> None:
    """Says what comes, and on what machine in what state."""
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    print(f"\n{title}\n(Python {platform.python_version()}, {os.cpu_count()} cores, load {load})")


def alternate(rounds: int, variants: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """Measures every variant once a round, so that a busy minute falls on all of them."""
    measured: dict[str, list[T]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, measure in variants.items():
            measured[name].append(measure())
    return measured


def show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    dashes = ["-" * (width - 1) + ":" for width in widths[1:]]

    def line(first: str, rest: Sequence[str]) -> str:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        return f"| {' | '.join(cells)} |"

    print(line(header[0], header[1:]))
    print(line("-" * widths[0], dashes))
    for row in rows:
        print(line(row[0], row[1:]))


def milliseconds(seconds: float | None, digits: int = 0) -> str:
    return "?" if seconds is None else f"{seconds * 1000:.{digits}f} ms"


def clocks(taken: Sequence[Taken]) -> list[float]:
    return [one.clock for one in taken]


def least_processor(taken: Sequence[Taken]) -> float | None:
    used = [one.processor for one in taken if one.processor is not None]
    return min(used) if used else None


def cells(taken: Sequence[Taken], digits: int = 0) -> list[str]:
    """Least and median by the clock, and least of the processor."""
    times = clocks(taken)
    return [milliseconds(number, digits) for number in (min(times), median(times), least_processor(taken))]


def ratios(ours: Sequence[Taken], theirs: Sequence[Taken], bound: float | None = None) -> list[str]:
    """By the clock, with a verdict where there is a bound, and of the processor."""
    by_clock = min(clocks(ours)) / min(clocks(theirs))
    mine, others = least_processor(ours), least_processor(theirs)
    of_processor = f"{mine / others:.1f} x" if mine and others else "?"
    return [f"{by_clock:.1f} x" if bound is None else verdict(by_clock, bound, "x"), of_processor]


def verdict(number: float, bound: float, unit: str, digits: int = 1) -> str:
    return f"{number:.{digits}f} {unit}, {'within' if number <= bound else 'OVER'} {bound:g} {unit}"


def tokens(size: float) -> float:
    """About so many, for English text and JSON."""
    return size / BYTES_PER_TOKEN


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def processor_seconds(pid: int) -> float | None:
    """What a running process has used so far, all its threads together; None where that can't be asked."""
    if not Path("/proc/self").exists():
        return None
    with suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)  # Linux: the process's own clock, to the nanosecond
    return None


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    command: str


def processes() -> Iterator[Process]:
    """All that run, zombies excepted."""
    if Path("/proc/self/stat").exists():
        yield from filter(None, map(_read_process, Path("/proc").glob("[0-9]*")))
        return
    for line in subprocess.run(PS, capture_output=True, text=True, check=True).stdout.splitlines():
        pid, parent, command = line.split(None, 2)
        yield Process(int(pid), int(parent), command)


def _read_process(folder: Path) -> Process | None:
    with suppress(OSError):
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        return Process(int(folder.name), parent, command) if command else None
    return None
