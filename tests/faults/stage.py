"""A real gateway with a host and upstreams, as most rows need it, and what they measure on it.

Every helper waits within bounds. Nothing here injects a fault: `hostile_server.py` and `tests.support` do that.
"""

import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio

from tests.benchmarks.measuring import percentile
from tests.faults.matrix import Place
from tests.support.gateways import error_of
from tests.support.hosts import Host, JsonObject, open_host, part, text_of
from tests.support.state_files import state_of
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until

HOSTILE: Final = Path(__file__).with_name("hostile_server.py")
NEIGHBOUR: Final = "neighbour"
PACE_SECONDS: Final = 0.004
"""Between two calls of the neighbour: they are there to notice what they wait for, not to be load themselves."""

ENOUGH_CALLS: Final = 100
"""Of which 99 in 100 can be told."""

AGAIN_SECONDS: Final = 0.02
MEGABYTE: Final = 1 << 20


def hostile(place: Place, mode: str, **options: object) -> dict[str, object]:
    """An entry of `mcpServers`: `hostile_server.py` in this mode."""
    wanted = json.dumps({"mode": mode, "marker": place.marker, **options})
    return {"command": sys.executable, "args": ["-I", "-S", str(HOSTILE), wanted]}


@dataclass(slots=True)
class Stage:
    """A gateway under test, seen from its host."""

    place: Place
    host: Host
    _base: int = 0

    @property
    def pid(self) -> int:
        return self.host.process.pid

    async def call(self, tool_id: str, **arguments: object) -> JsonObject:
        """The result of a call, failed or not."""
        return await self.host.call("tool_call", {"id": tool_id, "args": arguments})

    async def text(self, tool_id: str, **arguments: object) -> str:
        """The text that a call which succeeds answers."""
        result = await self.call(tool_id, **arguments)
        assert result.get("isError") is not True, result
        return text_of(result)

    async def failure(self, tool_id: str, **arguments: object) -> tuple[str, float]:
        """The code with which a call fails, and the seconds that this took."""
        start = time.monotonic()
        result = await self.call(tool_id, **arguments)
        return str(error_of(result)["code"]), time.monotonic() - start

    async def back(self, tool_id: str) -> float:
        """Seconds until this tool answers again; it is called until it does."""
        start = time.monotonic()
        with anyio.fail_after(30):
            while (await self.call(tool_id)).get("isError") is True:  # noqa: ASYNC110  (nobody tells)
                await anyio.sleep(AGAIN_SECONDS)
        return time.monotonic() - start

    async def search(self, query: str) -> list[str]:
        """The ids that a search finds."""
        hits = (await self.search_answer(query))["tools"]
        assert isinstance(hits, list)
        return [hit["id"] for hit in hits]

    async def search_answer(self, query: str) -> JsonObject:
        """All that a search answers."""
        return part(await self.host.call("tool_search", {"query": query}), "structuredContent")

    def upstream(self, owner: str) -> JsonObject:
        """What the gateway's state file says of an upstream; nothing if there is none yet."""
        upstreams = state_of(self.place.folder, self.pid).get("upstreams", [])
        assert isinstance(upstreams, list)
        return next((one for one in upstreams if one["upstream"] == owner), {})

    async def until_state(self, owner: str, state: str) -> JsonObject:
        """What the state file says once the upstream is in that state."""
        await until(lambda: self.upstream(owner).get("state") == state)
        return self.upstream(owner)

    def count_on(self) -> None:
        """From here on `grown` counts."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")
        self._base = self._memory("VmRSS")

    def grown(self) -> float:
        """The most megabytes that the gateway's own memory has grown by since `count_on`."""
        return (self._memory("VmHWM") - self._base) / MEGABYTE

    def _memory(self, key: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))

    def written(self) -> bytes:
        """All that the gateway has said and stored: answers, standard error, and every file in its folder but the logs
        of the upstreams and the configuration."""
        files = (path for path in self.place.folder.rglob("toolfold-*/**/*") if path.is_file())
        stored = []
        for path in files:
            with suppress(FileNotFoundError):  # it was replaced in this moment
                stored.append(path.read_bytes())
        return b"".join([json.dumps(self.host.received).encode(), self.host.stderr.encode(), *stored])


@dataclass(slots=True)
class Neighbour:
    """Somebody who calls a healthy upstream all the while. Every call must be answered, and rightly."""

    stage: Stage
    seconds: list[float] = field(default_factory=list)
    _news: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        number = 0
        while True:
            number += 1
            start = time.monotonic()
            assert await self.stage.text(f"mcp:{NEIGHBOUR}:echo", text=f"call {number}") == f"call {number}"
            self.seconds.append(time.monotonic() - start)
            self._news.set()
            self._news = anyio.Event()
            await anyio.sleep(PACE_SECONDS)

    async def calls(self, count: int = ENOUGH_CALLS) -> None:
        """Returns once there were so many since the last `forget`."""
        while len(self.seconds) < count:
            await self._news.wait()

    def forget(self) -> None:
        self.seconds.clear()

    def p99(self) -> float:
        """Milliseconds."""
        return 1000 * percentile(self.seconds, 99)

    def slowest(self) -> float:
        """Milliseconds."""
        return 1000 * max(self.seconds)


@asynccontextmanager
async def beside(stage: Stage) -> AsyncIterator[Neighbour]:
    """A neighbour that calls for as long as the context lasts."""
    neighbour = Neighbour(stage)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(neighbour.run)
        await neighbour.calls(ENOUGH_CALLS // 5)  # the first calls compile and import
        neighbour.forget()
        yield neighbour
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def staged(
    place: Place,
    servers: Mapping[str, Mapping[str, object]],
    gateway: Mapping[str, object] | None = None,
    *,
    warm: tuple[str, ...] = (),
) -> AsyncIterator[Stage]:
    """A gateway over these upstreams and a healthy one, `mcp:neighbour:echo`, with a host that has shaken hands.

    The neighbour, and the tools of `warm`, have been called once: so they are up, and all that calls need is imported.
    """
    neighbour = entry(does={"echo": {"do": "echo"}}, marker=place.marker)
    config = write_config(place.folder, {**servers, NEIGHBOUR: neighbour}, gateway)
    async with open_host(config) as host:
        stage = Stage(place, host)
        for tool_id in (f"mcp:{NEIGHBOUR}:echo", *warm):
            await stage.text(tool_id, text="warm")
        await stage.search("echo")
        yield stage
