"""How long until nothing is left: after the host closes the input, after SIGTERM, and after SIGKILL.

Fifty upstreams: five hang and ignore SIGTERM, and have each started two children that ignore every signal they can; five
crash at start.
"""

import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.benchmarks import catalogue
from tests.benchmarks.landscape import JsonObject, Landscape, configured, replayed
from tests.benchmarks.measuring import Process, alternate, announce, processes, show, verdict
from tests.support.raw_client import RawClient
from tests.support.upstreams import entry

HEALTHY: Final = 40
STUBBORN: Final = 5
CRASHING: Final = 5
CHILDREN_EACH: Final = 2
ALL: Final = 1 + HEALTHY + STUBBORN * (1 + CHILDREN_EACH)

ROUNDS: Final = 3
BOUND: Final = 1.5
"""Seconds; hosts kill after two."""

STARTED_SECONDS: Final = 60.0
LEFT_SECONDS: Final = 10.0
LOOK_AGAIN_SECONDS: Final = 0.01

MOVES: Final[Mapping[str, Callable[[RawClient], object]]] = {
    "the input is closed": RawClient.close_input,
    "SIGTERM": lambda client: client.process.send_signal(signal.SIGTERM),
    "SIGKILL": lambda client: client.process.kill(),
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as folder:
        landscape = mixed_landscape(Path(folder))
        announce(
            f"Until nothing is left: {ALL} processes, {STUBBORN * CHILDREN_EACH} of them grandchildren; {ROUNDS} rounds"
        )
        taken = alternate(ROUNDS, {name: partial(seconds_to_end, landscape, move) for name, move in MOVES.items()})
    show(
        ("after", "least", "most", "of the most"),
        [
            (name, f"{min(times):.2f} s", f"{max(times):.2f} s", verdict(max(times), BOUND, "s"))
            for name, times in taken.items()
        ],
    )


def mixed_landscape(folder: Path) -> Landscape:
    servers: dict[str, JsonObject] = {}
    for number in range(HEALTHY):
        listing = folder / f"listing-{number}.json"
        listing.write_text('{"tools": []}', encoding="utf-8")
        servers[catalogue.server_name(number)] = replayed(listing)
    for number in range(STUBBORN):
        servers[f"stubborn-{number}"] = entry(
            marker=str(folder), hang=True, ignore_sigterm=True, children=["holding", "detached"]
        )
    for number in range(CRASHING):
        servers[f"crashing-{number}"] = entry(exit=3)
    return configured(folder, servers, {"startup": {"concurrency": 16}})


def seconds_to_end(landscape: Landscape, move: Callable[[RawClient], object]) -> float:
    """Starts toolfold, waits until all that can run does, makes the move, and waits until nothing of it is left."""
    with RawClient(landscape.toolfold, landscape.env, stderr=subprocess.DEVNULL) as client:
        client.greet()
        client.request("tools/list", {})
        until(lambda: len(named(landscape)) >= ALL, STARTED_SECONDS, "the upstreams take too long to start")
        watchdog = {process for process in processes() if process.parent == client.process.pid} - named(landscape)
        assert watchdog, "there is no watchdog"
        start = time.perf_counter()
        move(client)

        def nothing_is_left() -> bool:
            client.process.poll()
            pids = {process.pid for process in watchdog}
            return not named(landscape) and pids.isdisjoint(process.pid for process in processes())

        until(nothing_is_left, LEFT_SECONDS, "processes are left")
        return time.perf_counter() - start


def named(landscape: Landscape) -> set[Process]:
    """The processes whose command names the landscape's folder: the gateway, every upstream, and their children."""
    return {process for process in processes() if str(landscape.folder) in process.command}


def until(holds: Callable[[], bool], seconds: float, complaint: str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, complaint
        time.sleep(LOOK_AGAIN_SECONDS)


if __name__ == "__main__":
    main()
