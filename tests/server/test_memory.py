"""What a listing costs once it is catalogued and indexed: counted in bytes that Python has allocated, so without noise."""

import gc
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from index import Judgement, Listing
from server.library import Library
from tests.benchmarks import catalogue
from tests.support.fleets import LONG_SECONDS

FEW, MANY = 2, 8
TOOLS_EACH = 20

BOUND = 160 * 1024
"""For each listing of 15 KB of JSON. An upstream may cost 512 KB in all; its definitions as objects are 75 of them."""


def listing(number: int) -> Listing:
    """As it comes from an upstream: no string is shared with another listing."""
    tools = json.loads(json.dumps(catalogue.tools(number, TOOLS_EACH)))
    return Listing("mcp", catalogue.server_name(number), tuple(tools))


async def test_a_listing_costs_little_beside_its_own_definitions() -> None:
    library = Library(lambda _listing, _catalog: lambda _tool_id, _definition: Judgement(), lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(library.run)
        with anyio.fail_after(LONG_SECONDS):
            library.take(listing(0))
            await library.indexed()  # imports what it needs, which would take long while it is traced
            with traced():
                before = await allocated(library, range(1, FEW))
                after = await allocated(library, range(FEW, MANY))
        tasks.cancel_scope.cancel()
    assert (after - before) / (MANY - FEW) < BOUND


async def allocated(library: Library, numbers: range) -> int:
    """Bytes that are in use once these listings are searchable, too."""
    library.take(*map(listing, numbers))
    snapshot = await library.indexed()
    assert snapshot.index is not None
    assert snapshot.index.search("delete document", 8) != ()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@contextmanager
def traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
