"""What a search takes, and what it takes to become searchable, beside fastmcp's BM25 transform where that is installed.

    bench_search.py [--sizes 1000,10000,50000] [--catalogue FOLDER] [--fastmcp PYTHON]

FOLDER has a `catalog.py` with `server_name(i)`, `tools(server, n)` and `queries(k)`; without it, the tools are those of
`catalogue.py`. PYTHON is an interpreter that can import fastmcp. Each size is measured in a process of its own.
"""

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

from index import Catalog, JsonObject, Judgement, Listing, SearchIndex
from tests.benchmarks import catalogue
from tests.benchmarks.measuring import announce, percentile, show, verdict

SHAPES: Final = {1_000: (50, 20), 10_000: (50, 200), 50_000: (100, 500)}
"""How many upstreams of how many tools each."""

BOUNDS: Final = {1_000: (2.0, 6.0), 10_000: (6.0, 25.0), 50_000: (25.0, 100.0)}
"""Milliseconds of processor time: the median, and what 99 of 100 searches keep within."""

QUERIES: Final = 200
FORMS: Final = (
    "{deed} {thing}",
    "{deed} a {thing} in {service}",
    "how do I {deed} the {thing}",
    "{thing} {deed} {service}",
    "{thing}",
)
HITS: Final = 5
THEIRS: Final = Path(__file__).with_name("fastmcp_search.py")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--catalogue", default="")
    parser.add_argument("--fastmcp", default="")
    parser.add_argument("--measure", type=int, default=0, help="one size, in this process")
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.catalogue)))
        return
    announce(f"Search: {QUERIES} queries, times in ms of processor, by the clock in brackets")
    rows = []
    for size in map(int, arguments.sizes.split(",")):
        child = [sys.executable, __file__, "--measure", str(size), "--catalogue", arguments.catalogue]
        rows.append((size, "toolfold", json.loads(subprocess.check_output(child))))
        if arguments.fastmcp:
            asked = json.dumps({"texts": texts(size, arguments.catalogue), "queries": queries(arguments.catalogue)})
            theirs = subprocess.check_output([arguments.fastmcp, str(THEIRS)], input=asked.encode())
            rows.append((size, "fastmcp", json.loads(theirs)))
    report(rows)


def generator(folder: str) -> ModuleType | None:
    """The module that makes tools and queries; None for our own."""
    if not folder:
        return None
    sys.path.insert(0, folder)
    return importlib.import_module("catalog")


def listings(size: int, folder: str) -> list[Listing]:
    """The upstreams of a catalogue of this size."""
    theirs, (upstreams, each) = generator(folder), SHAPES[size]
    if theirs is None:
        named = ((catalogue.server_name(number), catalogue.tools(number, each)) for number in range(upstreams))
    else:
        names = [theirs.server_name(number) for number in range(upstreams)]
        named = ((name, theirs.tools(name, each)) for name in names)
    return [Listing("mcp", name, tuple(tools)) for name, tools in named]


def queries(folder: str) -> list[str]:
    """The same ones each time."""
    theirs = generator(folder)
    if theirs is not None:
        return list(theirs.queries(QUERIES))
    deeds, things, services = list(catalogue.DEEDS), catalogue.THINGS, catalogue.SERVICES
    return [
        FORMS[n % len(FORMS)].format(
            deed=deeds[n * 3 % len(deeds)], thing=things[n * 7 % len(things)], service=services[n * 11 % len(services)]
        )
        for n in range(QUERIES)
    ]


def texts(size: int, folder: str) -> list[str]:
    """What fastmcp's transform indexes of each tool: name, description, parameter names and their descriptions."""
    return [searchable_text(tool) for listing in listings(size, folder) for tool in listing.tools]


def searchable_text(tool: JsonObject) -> str:
    schema = tool["inputSchema"]
    assert isinstance(schema, dict)
    parameters = [f"{name} {body.get('description', '')}" for name, body in schema.get("properties", {}).items()]
    return " ".join([str(tool["name"]), str(tool["description"]), *parameters])


def measure(size: int, folder: str) -> dict[str, list[float]]:
    """What one catalogue takes. Numbers are pairs: processor, clock; seconds for building, milliseconds for searching."""
    asked, every = queries(folder), listings(size, folder)
    catalog = Catalog.empty()
    for listing in every:
        catalog = catalog.with_listing(listing, everything)
    changed = catalog.with_listing(with_other_texts(every[0]), everything)
    SearchIndex.build(catalog.tools()[:20]).search("warm up", HITS)
    resident = resident_megabytes()
    made: list[SearchIndex] = [SearchIndex.build(())]
    build = timed(lambda: made.append(made[0].followed_by(catalog.searchable())))
    cold = [timed(partial(made[1].search, query, HITS)) for query in asked]
    warming = timed(made[1].warm)
    warm = [timed(partial(made[1].search, query, HITS)) for query in asked]
    grown = resident_megabytes() - resident
    again = timed(lambda: made.append(made[1].followed_by(changed.searchable())))
    return {
        "build": build, "warming": warming, "again": again, "megabytes": [grown],
        "first p50": at(cold, 50), "first p99": at(cold, 99), "p50": at(warm, 50), "p99": at(warm, 99),
    }  # fmt: skip


def everything(_id: str, _definition: JsonObject) -> Judgement:
    return Judgement()


def with_other_texts(listing: Listing) -> Listing:
    """The same tools; each says one word more, which is a new one."""
    tools = ({**tool, "description": f"{tool['description']} Edition2."} for tool in listing.tools)
    return Listing(listing.source, listing.owner, tuple(tools))


def timed(work: Callable[[], object]) -> list[float]:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return [time.process_time() - processor, time.perf_counter() - clock]


def at(taken: Sequence[Sequence[float]], percent: int) -> list[float]:
    """Milliseconds."""
    return [1000 * percentile([one[place] for one in taken], percent) for place in range(2)]


def resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 1e6


def report(rows: Sequence[tuple[int, str, dict[str, list[float]]]]) -> None:
    def cell(found: dict[str, list[float]], key: str, digits: int) -> str:
        return f"{found[key][0]:.{digits}f} ({found[key][1]:.{digits}f})" if key in found else ""

    def bounded(size: int, who: str, found: dict[str, list[float]], place: int) -> str:
        value = found[("p50", "p99")[place]][0]
        return verdict(value, BOUNDS[size][place], "ms") if who == "toolfold" else f"{value:.1f} ms"

    show(
        ("tools", "", "build s", "one upstream anew s", "read ahead s", "first p50", "first p99", "p50", "p99", "MB"),
        [
            [
                f"{size:,}", who, cell(found, "build", 2), cell(found, "again", 3), cell(found, "warming", 2),
                cell(found, "first p50", 1), cell(found, "first p99", 1),
                bounded(size, who, found, 0), bounded(size, who, found, 1), f"{found['megabytes'][0]:.0f}",
            ]
            for size, who, found in rows
        ],
    )  # fmt: skip
    ours = {size: found for size, who, found in rows if who == "toolfold"}
    for size, found in ((size, found) for size, who, found in rows if who == "fastmcp"):
        parts = (f"{key} {ours[size][key][0] / found[key][0]:.2f}" for key in ("build", "p50", "p99"))
        print(f"toolfold to fastmcp at {size:,} tools, processor time: {', '.join(parts)}")


if __name__ == "__main__":
    main()
