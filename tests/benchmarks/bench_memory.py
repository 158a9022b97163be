"""What one more upstream costs in memory: the gateway's own process with 10 to 50 upstreams of 20 tools each.

Everything is started, listed and indexed, and has been searched; then the process is looked at until it no longer grows.
What the upstreams themselves take is not counted. The same over HTTP, where one process of ours serves all addresses.
Linux only: elsewhere the numbers mean something else.
"""

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Final

from tests.benchmarks.landscape import synthetic_landscape
from tests.benchmarks.measuring import announce, show, verdict
from tests.support.raw_client import RawClient, wait_for_upstreams

UPSTREAMS: Final = (10, 20, 30, 40, 50)
TOOLS_EACH: Final = 20
BOUND: Final = 0.5
"""Megabytes for each further upstream."""

LOOK_SECONDS: Final = 0.5
STILL_LOOKS: Final = 12
"""The index rests for up to five seconds between two builds, so memory that has been still for six is settled."""

STILL_BYTES: Final = 256 * 1024
MOST_LOOKS: Final = 120
MEGABYTE: Final = 1 << 20


def main() -> None:
    if not Path("/proc/self/smaps_rollup").exists():
        print("bench_memory: this system does not tell what memory a process has to itself")
        return
    announce(f"Memory of the gateway's own process: {TOOLS_EACH} tools for each upstream, all indexed")
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as folder:
        taken = [settled_memory(Path(folder, str(count)), count) for count in UPSTREAMS]
    resident, proportional = zip(*taken, strict=True)
    rows = [
        (f"{count} upstreams", f"{rss / MEGABYTE:.1f} MB", f"{pss / MEGABYTE:.1f} MB")
        for count, (rss, pss) in zip(UPSTREAMS, taken, strict=True)
    ]
    show(("with", "RSS", "PSS"), [*rows, ("each further upstream", slope(resident), slope(proportional))])


def slope(taken: Sequence[int]) -> str:
    """By least squares."""
    each = linear_regression(UPSTREAMS, [size / MEGABYTE for size in taken]).slope
    return verdict(each, BOUND, "MB", digits=2)


def settled_memory(folder: Path, upstreams: int) -> tuple[int, int]:
    """Resident and proportional set size in bytes."""
    folder.mkdir()
    landscape = synthetic_landscape(folder, upstreams, TOOLS_EACH)
    with RawClient(landscape.toolfold, landscape.env, stderr=subprocess.DEVNULL) as client:
        client.greet()
        wait_for_upstreams(client)
        looks = [memory_of(client.process.pid)]
        while (len(looks) < MOST_LOOKS and len(set(looks[-STILL_LOOKS:])) > 1) or len(looks) < STILL_LOOKS:
            time.sleep(LOOK_SECONDS)
            looks.append(memory_of(client.process.pid))
        return looks[-1]


def memory_of(pid: int) -> tuple[int, int]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]
    sizes = {name.rstrip(":"): int(size) * 1024 for name, size, _unit in (line.split() for line in lines)}
    return sizes["Rss"], sizes["Pss"]


if __name__ == "__main__":
    main()
