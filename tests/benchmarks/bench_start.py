"""How soon a host has its first list and its first search, with 50 upstreams of which 5 hang and 5 crash.

Counted from process start. The first list is compared with that of the floor, the search over 1,000 cached tools with
the first list of the smallest server that the SDK allows.
"""

import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.benchmarks.landscape import TRIVIAL_SDK_SERVER, Landscape, synthetic_landscape, trouble
from tests.benchmarks.measuring import Taken, alternate, announce, cells, processor_seconds, ratios, show
from tests.support.raw_client import RawClient, structured, wait_for_upstreams

UPSTREAMS: Final = 50
TOOLS_EACH: Final = 20
HANGING: Final = range(3, UPSTREAMS, 10)
CRASHING: Final = range(7, UPSTREAMS, 10)
WANTED: Final = "delete_document"

ROUNDS: Final = 7
LIST_BOUND: Final = 5.0
SEARCH_BOUND: Final = 3.0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as folder:
        landscape = synthetic_landscape(Path(folder), UPSTREAMS, TOOLS_EACH)
        fill_cache(landscape)
        first_list(TRIVIAL_SDK_SERVER, landscape.env)  # compiles what the others do not import
        trouble(landscape, HANGING, CRASHING)
        announce(f"Process start to first answer: {UPSTREAMS} upstreams, of which 5 hang and 5 crash; {ROUNDS} rounds")
        empty = (landscape.env_with_cache(f"empty-{number}") for number in range(ROUNDS))
        report(
            alternate(
                ROUNDS,
                {
                    "floor": lambda: first_list(landscape.floor, landscape.env),
                    "nothing cached": lambda: first_list(landscape.toolfold, next(empty)),
                    "all cached": lambda: first_list(landscape.toolfold, landscape.env),
                    "SDK server": lambda: first_list(TRIVIAL_SDK_SERVER, landscape.env),
                    "search": lambda: first_search(landscape),
                },
            )
        )


def report(taken: Mapping[str, Sequence[Taken]]) -> None:
    floor, sdk = taken["floor"], taken["SDK server"]
    cold, warm, search = taken["nothing cached"], taken["all cached"], taken["search"]
    show(
        ("from process start to", "least", "median", "processor", "ratio", "of processor"),
        [
            ("floor: tools/list", *cells(floor), "", ""),
            ("toolfold, nothing cached: tools/list", *cells(cold), *ratios(cold, floor, LIST_BOUND)),
            ("toolfold, 1,000 tools cached: tools/list", *cells(warm), *ratios(warm, floor, LIST_BOUND)),
            ("smallest SDK server: tools/list", *cells(sdk), "", ""),
            ("toolfold: search over 1,000 cached tools", *cells(search), *ratios(search, sdk, SEARCH_BOUND)),
        ],
    )


def fill_cache(landscape: Landscape) -> None:
    """Runs once with every upstream in good health."""
    with RawClient(landscape.toolfold, landscape.env) as client:
        client.greet()
        wait_for_upstreams(client)


def first_list(command: Sequence[str], env: Mapping[str, str]) -> Taken:
    with RawClient(command, env, stderr=subprocess.DEVNULL) as client:
        client.greet()
        assert client.request("tools/list", {})["tools"]
        return taken_by(client)


def first_search(landscape: Landscape) -> Taken:
    with RawClient(landscape.toolfold, landscape.env, stderr=subprocess.DEVNULL) as client:
        client.greet()
        result = client.call("tool_search", {"query": WANTED.replace("_", " ")})
        taken = taken_by(client)
        found = structured(result)["tools"]
        assert isinstance(found, list)
        assert found[0]["id"].endswith(f":{WANTED}"), result
        return taken


def taken_by(client: RawClient) -> Taken:
    return Taken(time.perf_counter() - client.started, processor_seconds(client.process.pid))


if __name__ == "__main__":
    main()
