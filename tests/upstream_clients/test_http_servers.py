"""Servers on the Python SDK over HTTP, each era and both transports: the same calls on every pair."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import anyio
import anyio.to_thread
import pytest

from tests.support.endpoints import endpoint_spec
from tests.support.fleets import fleet_of
from tests.support.hosts import text_of
from tests.support.sdk_servers import Served, sdk_server
from upstream_clients import State, UpstreamSpec


@pytest.fixture(scope="module")
def streamable() -> Iterator[Served]:
    with sdk_server() as served:
        yield served


@pytest.fixture(scope="module")
def older() -> Iterator[Served]:
    with sdk_server("legacy-sse") as served:
        yield served


@dataclass(frozen=True)
class Pair:
    name: str
    protocol: Literal["legacy", "auto", "modern"]
    version: str
    is_older: bool = False


PAIRS: Final = [
    Pair("streamable, legacy", "legacy", "2025-11-25"),
    Pair("streamable, modern", "modern", "2026-07-28"),
    Pair("streamable, auto", "auto", "2026-07-28"),
    Pair("SSE, legacy", "legacy", "2025-11-25", is_older=True),
    Pair("SSE, auto", "auto", "2025-11-25", is_older=True),
]


@pytest.fixture(params=PAIRS, ids=lambda pair: pair.name)
def pair(request: pytest.FixtureRequest) -> Pair:
    assert isinstance(request.param, Pair)
    return request.param


@pytest.fixture
def served(pair: Pair, streamable: Served, older: Served) -> Served:
    return older if pair.is_older else streamable


@pytest.fixture
def spec(pair: Pair, served: Served) -> UpstreamSpec:
    return endpoint_spec("a", served.url, protocol=pair.protocol)


async def test_it_is_greeted_listed_and_called(pair: Pair, spec: UpstreamSpec) -> None:
    async with fleet_of(spec) as (fleet, witness):
        ready = await witness.until_state("a", State.READY)
        async with anyio.create_task_group() as tasks:

            async def call(text: str) -> None:
                assert text_of(await fleet.call("a", "echo", {"text": text}, {})) == text

            for number in range(20):
                tasks.start_soon(call, f"Grüße {number} \U0001f33f")
    assert ready.protocol_version == pair.version
    assert witness.names("a")[0][:4] == ["echo", "slow", "add_tool", "region"]


async def test_an_argument_that_belongs_into_a_header_is_there(spec: UpstreamSpec) -> None:
    async with fleet_of(spec) as (fleet, _):
        assert text_of(await fleet.call("a", "region", {"text": "Übersee"}, {})) == "Übersee"


async def test_progress_comes_and_a_cancelled_call_is_cancelled_there(spec: UpstreamSpec, served: Served) -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    half_way = anyio.Event()

    def progress(*step: object) -> None:
        seen.append(step)  # type: ignore[arg-type]
        half_way.set()

    async with fleet_of(spec) as (fleet, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fleet.call, "a", "slow", {}, {}, progress)
            await half_way.wait()
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(served.line) == "cancelled"
        assert text_of(await fleet.call("a", "echo", {"text": "still here"}, {})) == "still here"
    assert seen == [(1, 2, "half-way")]


async def test_a_tool_that_is_added_is_listed(pair: Pair, spec: UpstreamSpec) -> None:
    name = f"added-{pair.name}"
    async with fleet_of(spec) as (fleet, witness):
        await witness.until_state("a", State.READY)
        assert name not in witness.names("a")[0]
        await fleet.call("a", "add_tool", {"text": name.replace(" ", "").replace(",", "-")}, {})
        await witness.until(lambda: len(witness.names("a")) == 2)
    assert witness.names("a")[1][-1] == name.replace(" ", "").replace(",", "-")
