"""The live catalogue: what comes in is catalogued, indexed off the loop, and handed out as snapshots."""

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from index import Catalog, Classify, Exposure, JsonObject, Judgement, Listing
from server.library import Gone, Library
from tests.support.rules import EVERYTHING, judged_by


def listing(owner: str, *names: str, description: str = "Waters plants.", cached: bool = False) -> Listing:
    schema: JsonObject = {"type": "object"}
    tools: list[JsonObject] = [{"name": name, "description": description, "inputSchema": schema} for name in names]
    return Listing("mcp", owner, tuple(tools), cached=cached)


@asynccontextmanager
async def running(library: Library) -> AsyncIterator[Library]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(library.run)
        with anyio.fail_after(20):
            yield library
        tasks.cancel_scope.cancel()


def ids(library: Library) -> list[str]:
    return [tool.id for tool in library.snapshot.catalog.tools()]


async def test_a_listing_becomes_all_that_its_owner_has() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        library.take(listing("one", "a", "b"), listing("two", "c"))
        await library.caught_up()
        before = ids(library)
        library.take(listing("one", "b", "d"))
        await library.caught_up()
        after = ids(library)
    assert before == ["mcp:one:a", "mcp:one:b", "mcp:two:c"]
    assert after == ["mcp:one:b", "mcp:one:d", "mcp:two:c"]


async def test_a_reader_keeps_the_snapshot_that_it_was_given() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        library.take(listing("one", "a"))
        kept = await library.indexed()
        library.take(listing("one", "b"))
        now = await library.indexed()
    assert [tool.name for tool in kept.catalog.tools()] == ["a"]
    assert kept.index is not None
    assert [match.tool_id for match in kept.index.search("water", 8)] == ["mcp:one:a"]
    assert now.index is not None
    assert [match.tool_id for match in now.index.search("water", 8)] == ["mcp:one:b"]
    assert now.catalog.generation > kept.catalog.generation


async def test_each_change_of_the_catalogue_is_told_on_the_event_loop() -> None:
    told: list[threading.Thread] = []
    async with running(Library(EVERYTHING, lambda: told.append(threading.current_thread()))) as library:
        library.take(listing("one", "a"))
        await library.caught_up()
    assert set(told) == {threading.main_thread()}


async def test_the_policy_is_asked_off_the_event_loop_for_each_tool() -> None:
    asked: list[tuple[str, str, bool]] = []

    def judge(listing: Listing, _catalog: Catalog) -> Classify:
        def classify(tool_id: str, _definition: JsonObject) -> Judgement:
            asked.append((listing.owner, tool_id, threading.current_thread() is threading.main_thread()))
            return Judgement(Exposure.HIDDEN, "because")

        return classify

    async with running(Library(judged_by(judge), lambda: None)) as library:
        library.take(listing("one", "a", "b"))
        snapshot = await library.caught_up()
    assert asked == [("one", "mcp:one:a", False), ("one", "mcp:one:b", False)]
    assert {(tool.exposure, tool.reason) for tool in snapshot.catalog.tools()} == {(Exposure.HIDDEN, "because")}


async def test_a_listing_that_says_the_same_builds_no_index() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        library.take(listing("one", "a", cached=True))
        cached = await library.indexed()
        library.take(listing("one", "a"))
        live = await library.indexed()
        library.take(listing("one", "a"))
        again = await library.indexed()
    assert [tool.cached for tool in cached.catalog.tools()] == [True]
    assert [tool.cached for tool in live.catalog.tools()] == [False]
    assert cached.index is live.index is again.index
    assert again.catalog is live.catalog


async def test_an_empty_catalogue_can_be_searched() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        snapshot = await library.searchable()
    assert snapshot.index is not None
    assert snapshot.index.search("water", 8) == ()


async def test_whose_tools_a_search_covers_is_known_even_where_there_are_none() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        library.take(listing("one", "a"))
        first = await library.indexed()
        library.take(listing("none"))
        second = await library.indexed()
    assert (first.listed, first.indexed) == (frozenset({"one"}), frozenset({"one"}))
    assert (second.listed, second.indexed) == (frozenset({"one", "none"}), frozenset({"one", "none"}))
    assert first.index is second.index


async def test_a_list_that_is_newer_than_the_index_does_not_count_as_searched() -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        library.take(listing("one", "a"), listing("two", "a"))
        await library.indexed()
        library.take(listing("one", "b"))
        behind = await library.caught_up()
        covered = await library.indexed()
    assert (ids(library), behind.indexed) == (["mcp:one:b", "mcp:two:a"], frozenset({"two"}))
    assert covered.indexed == frozenset({"one", "two"})


async def test_all_that_comes_during_a_build_is_indexed_by_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    """The first build is held at its first step. Until the catalogue is told of, all steps are those of cataloguing."""
    catalogued, building, may_go_on = threading.Event(), threading.Event(), threading.Event()

    def give_way() -> None:
        if catalogued.is_set() and not building.is_set():
            building.set()
            assert may_go_on.wait(10)

    with caplog.at_level(logging.DEBUG, "server.library"):
        async with running(Library(EVERYTHING, catalogued.set, give_way)) as library:
            library.take(listing("first", "a"))
            await anyio.to_thread.run_sync(building.wait, 10)
            for edition in range(10):
                library.take(listing("one", "a", description=f"Edition {edition}."))
                await library.caught_up()
            may_go_on.set()
            snapshot = await library.indexed()
    assert snapshot.index is not None
    assert [match.tool_id for match in snapshot.index.search("edition 9", 8)] == ["mcp:one:a"]
    assert caplog.messages == ["indexed generation 1", "indexed generation 11"]


async def test_of_an_owners_listings_that_wait_only_the_latest_is_catalogued() -> None:
    asked: list[str] = []

    def classify(tool_id: str, _definition: JsonObject) -> Judgement:
        asked.append(tool_id)
        return Judgement()

    async with running(Library(judged_by(lambda _listing, _catalog: classify), lambda: None)) as library:
        for number in range(100):
            library.take(listing("one", f"a{number}"), listing("two", "b"))
        library.take(Gone("mcp", "two", "two"))
        snapshot = await library.indexed()
    assert asked == ["mcp:one:a99"]
    assert (ids(library), snapshot.listed, snapshot.indexed) == (
        ["mcp:one:a99"],
        frozenset({"one"}),
        frozenset({"one"}),
    )


async def test_each_tool_that_is_catalogued_and_each_that_is_indexed_is_a_step() -> None:
    """So that a call that comes meanwhile waits for one of them, not for a listing."""
    steps: list[bool] = []
    library = Library(EVERYTHING, lambda: None, lambda: steps.append(threading.current_thread() is not main))
    main = threading.main_thread()
    async with running(library):
        library.take(listing("one", *(f"a{number}" for number in range(50))))
        await library.caught_up()
        catalogued = len(steps)
        await library.indexed()
    assert all(steps)
    assert catalogued >= 50
    assert len(steps) - catalogued >= 50


@pytest.mark.parametrize("count", [1, 30])
async def test_many_listings_at_once_are_all_catalogued(count: int) -> None:
    async with running(Library(EVERYTHING, lambda: None)) as library:
        for number in range(count):
            library.take(listing(f"owner{number:02}", "a"))
        snapshot = await library.indexed()
    assert len(snapshot.catalog.tools()) == count
    assert repr(library) == f"<Library {snapshot.catalog!r}, 0 listings to come>"
