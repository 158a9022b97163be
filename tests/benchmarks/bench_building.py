"""What an echo call takes while nothing is indexed, and while one upstream says again and again that its tools changed.

First the cause alone: how late a thread gets on that wakes up every millisecond, as an event loop does at each turn, while
another thread builds an index, with and without giving way. Then the effect: one gateway and the same calls, one after the
other, in turns with and without. All tools of that upstream are listed, catalogued and indexed anew as often as the gateway
does that.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from index import Catalog, Judgement, Listing, SearchIndex
from server.pace import Pace
from tests.benchmarks import catalogue
from tests.benchmarks.landscape import HERE, JsonObject, Landscape, configured, replayed
from tests.benchmarks.measuring import alternate, announce, milliseconds, percentile, processor_seconds, show
from tests.support.raw_client import RawClient, structured, wait_for_upstreams

UPSTREAMS: Final = 10
TOOLS_EACH: Final = 500
ROUNDS: Final = 3
BLOCK_SECONDS: Final = 4.0
SETTLING_SECONDS: Final = 4.0
"""Until the last change has been indexed."""

TURN_SECONDS: Final = 0.001
TURNS_SECONDS: Final = 4.0

ECHO: Final[JsonObject] = {"id": f"mcp:{catalogue.server_name(0)}:echo", "args": {"text": "x" * 200}}
CHANGING: Final = "changing"


def main() -> None:
    report_turns()
    report_calls()


def report_turns() -> None:
    catalog = Catalog.empty()
    for number in range(UPSTREAMS):
        listing = Listing("mcp", catalogue.server_name(number), tuple(catalogue.tools(number, TOOLS_EACH)))
        catalog = catalog.with_listing(listing, lambda _id, _definition: Judgement())
    pace = Pace()
    ways = {"no build": None, "a build that does not give way": lambda: None, "a build that gives way": pace.give_way}
    announce("How much later than after a millisecond a thread gets on")
    late = {name: lateness(catalog, way, pace) for name, way in ways.items()}
    show(
        ("beside", "turns", "median", "9 of 10 within", "99 of 100 within"),
        [
            [name, str(len(times)), *(milliseconds(percentile(times, percent), 2) for percent in (50, 90, 99))]
            for name, times in late.items()
        ],
    )


def lateness(catalog: Catalog, give_way: Callable[[], None] | None, pace: Pace) -> list[float]:
    """Seconds, turn by turn; None builds nothing."""
    done = threading.Event()

    def build() -> None:
        while give_way is not None and not done.is_set():
            SearchIndex.build(()).followed_by(catalog.searchable(), give_way).warm(give_way)

    thread = threading.Thread(target=build)
    thread.start()
    late: list[float] = []
    end = time.perf_counter() + TURNS_SECONDS
    while (start := time.perf_counter()) < end:
        pace.called()
        time.sleep(TURN_SECONDS)
        late.append(time.perf_counter() - start - TURN_SECONDS)
    done.set()
    thread.join()
    return late


def report_calls() -> None:
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as name:
        folder = Path(name)
        switch = folder / "switch"
        landscape = changing_landscape(folder, switch)
        with RawClient(landscape.toolfold, landscape.env) as client:
            client.greet()
            wait_for_upstreams(client)
            calls(client, BLOCK_SECONDS)
            announce(f"Echo calls, {UPSTREAMS} upstreams of {TOOLS_EACH} tools, {ROUNDS} x {BLOCK_SECONDS:g} s each")
            taken = alternate(
                ROUNDS, {"quiet": lambda: quiet(client, switch), "changing": lambda: changing(client, switch)}
            )
    report(taken)


def changing_landscape(folder: Path, switch: Path) -> Landscape:
    servers: dict[str, JsonObject] = {}
    for number in range(UPSTREAMS):
        listing = folder / f"listing-{number}.json"
        listing.write_text(json.dumps({"tools": catalogue.tools(number, TOOLS_EACH)}), encoding="utf-8")
        servers[catalogue.server_name(number)] = replayed(listing)
    command = ["-I", "-S", str(HERE / "changing.py"), str(folder / f"listing-{UPSTREAMS - 1}.json"), str(switch)]
    servers[CHANGING] = {"command": sys.executable, "args": command}
    return configured(folder, servers)


def quiet(client: RawClient, switch: Path) -> tuple[list[float], int, float]:
    switch.unlink(missing_ok=True)
    time.sleep(SETTLING_SECONDS)
    return block(client)


def changing(client: RawClient, switch: Path) -> tuple[list[float], int, float]:
    switch.touch()
    return block(client)


def block(client: RawClient) -> tuple[list[float], int, float]:
    """The seconds of each call, how many editions came in meanwhile, and the processor time of the gateway."""
    before, used = edition(client), processor_seconds(client.process.pid) or 0.0
    times = calls(client, BLOCK_SECONDS)
    return times, edition(client) - before, (processor_seconds(client.process.pid) or 0.0) - used


def calls(client: RawClient, seconds: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        client.call("tool_call", ECHO)
        times.append(time.perf_counter() - start)
    return times


def edition(client: RawClient) -> int:
    """Which edition of the changing upstream the catalogue has."""
    tool = structured(client.call("tool_describe", {"id": f"mcp:{CHANGING}:create_appointment"}))["tool"]
    assert isinstance(tool, dict)
    return int(str(tool["description"]).rpartition("Edition ")[2].rstrip("."))


def report(taken: dict[str, list[tuple[list[float], int, float]]]) -> None:
    rows = []
    for name, blocks in taken.items():
        times = [one for each, _, _ in blocks for one in each]
        p99 = [percentile(each, 99) for each, _, _ in blocks]
        rows.append(
            [
                name,
                str(len(times)),
                str(sum(editions for _, editions, _ in blocks)),
                f"{sum(used for _, _, used in blocks) / len(blocks) / BLOCK_SECONDS:.0%}",
                milliseconds(median(times), 2),
                milliseconds(percentile(times, 99), 2),
                " ".join(f"{1000 * one:.1f}" for one in p99),
                milliseconds(max(times), 1),
            ]
        )
    show(("", "calls", "new listings", "processor", "median", "p99", "p99 of each block", "longest"), rows)


if __name__ == "__main__":
    main()
