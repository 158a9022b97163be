"""What one echo call costs through toolfold, through the floor, and without a gateway: one after the other, in turns.

The processor time is that of the gateway's own process (of the server itself, where there is no gateway).
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.landscape import Landscape, synthetic_landscape
from tests.benchmarks.measuring import Taken, alternate, announce, cells, processor_seconds, ratios, show
from tests.support.raw_client import JsonObject, RawClient

BLOCKS: Final = 15
CALLS: Final = 100
TEXT: Final = "x" * 200
ID: Final = "mcp:calendar:echo"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as folder, ExitStack() as stack:
        landscape = synthetic_landscape(Path(folder), upstreams=1, tools=20)
        variants = {
            "no gateway": block(stack.enter_context(direct(landscape)), "echo", {"text": TEXT}),
            "floor": block(stack.enter_context(RawClient(landscape.floor, landscape.env)), "tool_call", folded()),
            "toolfold": block(stack.enter_context(RawClient(landscape.toolfold, landscape.env)), "tool_call", folded()),
        }
        for warm_up in variants.values():
            warm_up()
        announce(f"One echo call of {len(TEXT)} characters: {BLOCKS} blocks of {CALLS}, medians of each block")
        taken = alternate(BLOCKS, variants)
    floor, ours = taken["floor"], taken["toolfold"]
    show(
        ("a call through", "least", "median", "processor", "ratio to the floor", "of processor"),
        [
            ("nothing", *cells(taken["no gateway"], 2), "", ""),
            ("the floor", *cells(floor, 2), "", ""),
            ("toolfold", *cells(ours, 2), *ratios(ours, floor)),
        ],
    )


def direct(landscape: Landscape) -> RawClient:
    """The upstream itself."""
    return RawClient(landscape.command("calendar"), landscape.env)


def folded() -> JsonObject:
    return {"id": ID, "args": {"text": TEXT}}


def block(client: RawClient, name: str, arguments: JsonObject) -> Callable[[], Taken]:
    """Makes CALLS calls and gives what one of them took."""
    client.greet()
    return partial(_block, client, name, arguments)


def _block(client: RawClient, name: str, arguments: JsonObject) -> Taken:
    pid = client.process.pid
    before, times = processor_seconds(pid), []
    for _ in range(CALLS):
        start = time.perf_counter()
        result = client.call(name, arguments)
        times.append(time.perf_counter() - start)
        assert result["content"] == [{"type": "text", "text": TEXT}]
    after = processor_seconds(pid)
    used = None if before is None or after is None else (after - before) / CALLS
    return Taken(median(times), used)


if __name__ == "__main__":
    main()
