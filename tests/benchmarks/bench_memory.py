"""What one more upstream costs in memory: the gateway's own process with 10 to 50 upstreams of 20 tools each.

Everything is started, listed and indexed, and has been searched; then the process is looked at until it no longer grows.
What the upstreams themselves take is not counted. Linux only: elsewhere the numbers mean something else.
"""

import asyncio
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from statistics import linear_regression
from typing import Final

from tests.benchmarks import catalogue
from tests.benchmarks.landscape import JsonObject, Landscape, configured, synthetic_landscape
from tests.benchmarks.measuring import announce, show, verdict
from tests.support.http_stub import http_stub
from tests.support.processes import resident_bytes
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
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as name, addresses(max(UPSTREAMS)) as servers:
        folder = Path(name)
        over_pipes = [settled(synthetic_landscape(made(folder / f"{n}"), n, TOOLS_EACH)) for n in UPSTREAMS]
        over_http = [settled(configured(made(folder / f"http-{n}"), first(servers, n))) for n in UPSTREAMS]
    rows = zip(UPSTREAMS, over_pipes, over_http, strict=True)
    show(
        ("RSS with", "processes", "addresses"),
        [
            *((f"{count} upstreams", megabytes(pipes), megabytes(http)) for count, pipes, http in rows),
            ("each further upstream", slope(over_pipes), slope(over_http)),
        ],
    )


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def first(servers: Mapping[str, JsonObject], count: int) -> Mapping[str, JsonObject]:
    return dict(list(servers.items())[:count])


def megabytes(size: float) -> str:
    return f"{size / MEGABYTE:.1f} MB"


def slope(sizes: Sequence[int]) -> str:
    """By least squares."""
    each = linear_regression(UPSTREAMS, [size / MEGABYTE for size in sizes]).slope
    return verdict(each, BOUND, "MB", digits=2)


def settled(landscape: Landscape) -> int:
    """Resident bytes once all is listed, indexed and searched, and no more is added."""
    with RawClient(landscape.toolfold, landscape.env, stderr=subprocess.DEVNULL) as client:
        client.greet()
        wait_for_upstreams(client)
        looks: list[int] = []
        while len(looks) < MOST_LOOKS:
            looks.append(resident_bytes(client.process.pid))
            last = looks[-STILL_LOOKS:]
            if len(last) == STILL_LOOKS and max(last) - min(last) < STILL_BYTES:
                break
            time.sleep(LOOK_SECONDS)
        return looks[-1]


@contextmanager
def addresses(count: int) -> Iterator[Mapping[str, JsonObject]]:
    """So many servers on loopback, in a thread of this process, as entries of `mcpServers`."""
    ready: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event, list[str]]] = SimpleQueue()

    async def serve() -> None:
        over = asyncio.Event()
        async with AsyncExitStack() as stack:
            stubs = [await stack.enter_async_context(http_stub()) for _ in range(count)]
            for number, stub in enumerate(stubs):
                stub.tools = catalogue.tools(number, TOOLS_EACH)
            ready.put((asyncio.get_running_loop(), over, [stub.url for stub in stubs]))
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    loop, over, urls = ready.get()
    try:
        yield {catalogue.server_name(number): {"type": "http", "url": url} for number, url in enumerate(urls)}
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


if __name__ == "__main__":
    main()
