"""What a run of code costs, and a bridged call in it, against a Node that does nothing (`node -e 1`), in turns.

Processor time is of the child and of this process together. A bridged call is answered at once, so that only the bridge
is measured: the difference between runs with and without calls, for each of them.
"""

import os
import resource
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from server.code import CodeRunner, Runtime
from server.code.engine import INSTALL, engine_folder, is_installed
from server.code.node import Node, ask_node
from server.code.run import Method
from server.config import find_program
from tests.benchmarks.measuring import (
    Taken,
    alternate,
    announce,
    cells,
    clocks,
    least_processor,
    milliseconds,
    ratios,
    show,
)

ROUNDS: Final = 12
CALLS: Final = 60
SECONDS: Final = 30.0
DATA: Final = Path(__file__).parents[2] / ".engine"

ONE_BY_ONE: Final = f"for (let i = 0; i < {CALLS}; i++) await tools.call('echo', {{ text: 'x'.repeat(200) }})"
SIDE_BY_SIDE: Final = (
    f"await Promise.all(Array.from({{ length: {CALLS} }}, () => tools.call('echo', {{ text: 'x'.repeat(200) }})))"
)


def main() -> None:
    path = find_program("node", os.environ)
    if path is None or not is_installed(engine_folder(DATA)):
        print(f"Nothing to measure: this needs Node and the engine ({INSTALL}, with TOOLFOLD_DATA_DIR=.engine).")
        return
    node = ask_node(path)
    run = partial(timed_run, Runtime(node, engine_folder(DATA)))
    variants: dict[str, Callable[[], Taken]] = {
        "node -e 1": partial(bare, node),
        "an empty run": partial(run, "return 1"),
        "calls one by one": partial(run, ONE_BY_ONE),
        "calls side by side": partial(run, SIDE_BY_SIDE),
    }
    for warm_up in variants.values():
        warm_up()
    announce(f"One run of code on {node}: {ROUNDS} rounds")
    taken = alternate(ROUNDS, variants)
    floor, empty = taken["node -e 1"], taken["an empty run"]
    rows = [("node -e 1", *cells(floor), "", "")]
    rows += [(name, *cells(taken[name]), *ratios(taken[name], floor)) for name in variants if name != "node -e 1"]
    show(("", "least", "median", "processor", "ratio to node -e 1", "of processor"), rows)
    announce(f"One bridged call of 200 characters, out of {CALLS}")
    each = [bridged(name, taken[name], empty, floor) for name in ("calls one by one", "calls side by side")]
    show(("", "clock", "processor", "ratio to node -e 1", "of processor"), each)


def bare(node: Node) -> Taken:
    with measured() as taken:
        subprocess.run([node.program, "-e", "1"], check=True, stdin=subprocess.DEVNULL)
    return taken()


def timed_run(runtime: Runtime, code: str) -> Taken:
    async def answer(_method: Method, values: list[object]) -> object:
        return values

    with measured() as taken:
        outcome = anyio.run(CodeRunner(runtime).run, code, answer, SECONDS)
    assert outcome.failure is None, outcome.failure
    return taken()


class measured:  # noqa: N801 - read as words: with measured() as taken
    """The time that the body takes, its finished children's processor time included."""

    def __enter__(self) -> Callable[[], Taken]:
        self._clock, self._processor = time.perf_counter(), _processor()
        return lambda: self._taken

    def __exit__(self, *_: object) -> None:
        self._taken = Taken(time.perf_counter() - self._clock, _processor() - self._processor)


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def bridged(name: str, with_calls: list[Taken], without: list[Taken], floor: list[Taken]) -> tuple[str, ...]:
    clock = (min(clocks(with_calls)) - min(clocks(without))) / CALLS
    used, idle, least = map(least_processor, (with_calls, without, floor))
    assert used is not None
    assert idle is not None
    assert least is not None
    processor = (used - idle) / CALLS
    by_clock = f"{clock / min(clocks(floor)):.4f} x"
    return name, milliseconds(clock, 2), milliseconds(processor, 2), by_clock, f"{processor / least:.4f} x"


if __name__ == "__main__":
    main()
