"""Far more calls at once than the gateway takes: each is answered, and with its own answer."""

import itertools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeAlias

import anyio
import httpx2

from tests.benchmarks.measuring import percentile
from tests.faults.matrix import Figures, Place, Row, Run, stays, takes
from tests.faults.stage import MEGABYTE
from tests.support.hosts import Host, JsonObject, open_host, part, text_of
from tests.support.http_gateways import answer_in, call_request, http_client, open_http_gateway, open_session
from tests.support.processes import peak_bytes
from tests.support.upstreams import entry, write_config

UPSTREAMS: Final = 50
CALLS: Final = 1_000
TAKEN: Final = 128
"""Of all upstreams together (`IN_ALL` in upstream_clients/bulkhead.py)."""

WAVE: Final = 125
HOSTS: Final = 10
"""As many calls each as an HTTP client has connections by default."""

REFUSED: Final = ("error: overloaded", "HTTP 503")
"""By the bulkhead; or at the door, which takes 512 connections (`CONNECTIONS` in server/http/web.py)."""

Ask: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Calls a tool with a text, and returns what came of it: the text of the answer, or the code of the error."""


def fifty(place: Place) -> Path:
    """Upstreams that echo: at once, or, asked to wait, once the gate is open."""
    wait = [{"do": "gate", "path": str(gate(place))}, {"do": "echo"}]
    one = entry(does={"echo": {"do": "echo"}, "wait": wait}, marker=place.marker)
    return write_config(place.folder, {f"u{number}": one for number in range(UPSTREAMS)})


def gate(place: Place) -> Path:
    return place.folder / "gate"


def tool(number: int, name: str) -> str:
    """The upstreams take turns."""
    return f"mcp:u{number % UPSTREAMS}:{name}"


def outcome(answer: JsonObject) -> str:
    result = part(answer, "result")
    if result.get("isError"):
        return f"error: {part(result, 'structuredContent', 'error')['code']}"
    return text_of(result)


@dataclass(slots=True)
class Volley:
    """Calls that are sent without waiting for answers, and what came of them."""

    asks: Sequence[Ask]
    right: int = 0
    refused: int = 0
    other: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    _all_refused: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, name: str, count: int) -> None:
        """Returns once all are answered."""
        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(self._one, self.asks[number % len(self.asks)], tool(number, name))

    async def refusals(self) -> None:
        """Returns once as many were refused as do not fit."""
        await self._all_refused.wait()

    async def _one(self, ask: Ask, tool_id: str) -> None:
        text, began = token_hex(8), time.monotonic()
        said = await ask(tool_id, text)
        self.seconds.append(time.monotonic() - began)
        if said == text:
            self.right += 1
        elif said in REFUSED:
            self.refused += 1
        else:
            self.other.append(said)
        if self.refused == CALLS - TAKEN:
            self._all_refused.set()


async def measured(place: Place, asks: Sequence[Ask]) -> Mapping[str, float]:
    """All at once: as many as fit are taken and held, the rest refused at once. Then in waves that fit: all succeed."""
    for number in range(UPSTREAMS):
        assert await asks[0](tool(number, "echo"), "up") == "up"
    flood = Volley(asks)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flood.run, "wait", CALLS)
        await flood.refusals()
        await anyio.Path(gate(place)).touch()
    waves = [Volley(asks) for _ in range(CALLS // WAVE)]
    for wave in waves:
        await wave.run("echo", WAVE)
    assert flood.other == [] == [said for wave in waves for said in wave.other]
    assert flood.right + flood.refused == CALLS
    return {
        "not taken of those that fit": TAKEN - flood.right,
        "refused in waves": sum(wave.refused for wave in waves),
        "p99 in waves": 1000 * percentile([seconds for wave in waves for seconds in wave.seconds], 99),
    }


async def of_one_host(place: Place) -> Figures:
    async with open_host(fifty(place)) as host:
        figures = await measured(place, [by_hand(host)])
        return {**figures, "memory": peak_bytes(host.process.pid) / MEGABYTE}


def by_hand(host: Host) -> Ask:
    async def ask(tool_id: str, text: str) -> str:
        number = await host.post_call("tool_call", {"id": tool_id, "args": {"text": text}})
        return outcome(await host.answer(number))

    return ask


async def of_many_hosts(place: Place) -> Figures:
    async with open_http_gateway(fifty(place)) as gateway, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(http_client()) for _ in range(HOSTS)]
        asks = [over_http(client, gateway.url, await open_session(client, gateway.url)) for client in clients]
        figures = dict(await measured(place, asks))
        del figures["not taken of those that fit"]  # over HTTP that depends on who finds a connection
        return {**figures, "memory": peak_bytes(gateway.process.pid) / MEGABYTE}


def over_http(client: httpx2.AsyncClient, url: str, session: Mapping[str, str]) -> Ask:
    numbers = itertools.count(1)

    async def ask(tool_id: str, text: str) -> str:
        call = call_request(tool_id, {"text": text}, next(numbers))
        response = await client.post(url, json=call, headers=session)
        if response.status_code != 200:
            return f"HTTP {response.status_code}"
        answer = answer_in(response)
        assert answer["id"] == call["id"]
        return outcome(answer)

    return ask


BOUNDS: Final = (stays("refused in waves", 0), takes("p99 in waves", 1000, "ms"), stays("memory", 400, "MiB"))
ALL_THAT_FIT: Final = stays("not taken of those that fit", 0)

ROWS: Final = (
    Row(
        27,
        "1,000 calls at once, 50 upstreams",
        "asyncio client",
        "the limits hold, the rest is `overloaded`, none is lost",
        "1,000 answers; RSS < 400 MiB; p99 stated",
        (
            Run(of_one_host, (ALL_THAT_FIT, *BOUNDS), how="of one host"),
            Run(of_many_hosts, BOUNDS, quick=False, how="of 10 hosts over HTTP"),
        ),
        "Of 1,000 at once 128 are taken, and the rest is refused: over HTTP some with 503, because no more than 512"
        " connections are taken, so that places may stay free. Eight waves of 125 then succeed whole. Each call has a"
        " text of its own, which must be in"
        " its own answer. The bound of p99 is ours.",
    ),
)
