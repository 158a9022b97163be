"""The index of fastmcp's BM25 transform, measured like ours. For an interpreter of its own that has fastmcp.

Standard input has `{"texts": [...], "queries": [...]}`; the answer has the keys of `bench_search.measure` that apply.
Bare functions on purpose: this runs where nothing of toolfold is installed.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial

HITS = 5


def main() -> None:
    asked = json.load(sys.stdin)
    index = importlib.import_module("fastmcp.server.transforms.search.bm25")._BM25Index()
    resident = pages()
    build = timed(lambda: index.build(asked["texts"]))
    index.query(asked["queries"][0], HITS)
    taken = [timed(partial(index.query, query, HITS)) for query in asked["queries"]]
    answer = {
        "build": build,
        "p50": at(taken, 50),
        "p99": at(taken, 99),
        "megabytes": [(pages() - resident) * 4096 / 1e6],
    }
    print(json.dumps(answer))


def timed(work: Callable[[], object]) -> list[float]:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return [time.process_time() - processor, time.perf_counter() - clock]


def at(taken: list[list[float]], percent: int) -> list[float]:
    return [1000 * sorted(one[place] for one in taken)[len(taken) * percent // 100] for place in range(2)]


def pages() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main()
