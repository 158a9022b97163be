"""A gateway in this process, over real scripted upstreams: for what can be seen without the host's wire."""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import anyio

from server.access import OWNER, Caller
from server.app import Hooks, Running, open_gateway
from server.config import Directories, Settings, load
from server.face import Face, ToolRequest
from server.telemetry import Sink
from tests.support.upstreams import write_config
from upstream_clients import JsonObject, Progress, State

WAIT_SECONDS: Final = 30.0


class News:
    """What a gateway reports outward, as something to wait for."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self.hooks = Hooks(self._tell, lambda _status: self._tell())

    def _tell(self) -> None:
        self._event.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Returns once this holds, looking again at every change of the catalogue or of an upstream."""
        with anyio.fail_after(WAIT_SECONDS):
            while not holds():
                self._event = anyio.Event()
                await self._event.wait()


@dataclass(frozen=True, slots=True)
class Opened:
    """A running gateway, and the face that a host would see of it."""

    running: Running
    face: Face
    settings: Settings
    news: News

    async def ready(self, *owners: str) -> None:
        """Returns once these upstreams (all of them by default) are settled, catalogued and searchable."""
        with anyio.fail_after(WAIT_SECONDS):
            await self.running.fleet.settled(owners or self.owners(self.settings))
            await self.running.library.indexed()

    @staticmethod
    def owners(settings: Settings) -> Iterable[str]:
        return [server.owner for server in settings.servers if not server.disabled and not server.problem]

    async def ask(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        meta: JsonObject | None = None,
        on_progress: Progress | None = None,
        caller: Caller = OWNER,
    ) -> JsonObject:
        """The result of a `tools/call`."""
        with anyio.fail_after(WAIT_SECONDS):
            return await self.face.call_tool(ToolRequest(name, dict(arguments or {}), meta or {}, caller), on_progress)

    async def call(self, tool_id: str, arguments: object = None, **beside: object) -> JsonObject:
        """The result of `tool_call`."""
        args = {} if arguments is None else {"args": arguments}
        return await self.ask("tool_call", {"id": tool_id, **args, **beside})

    async def search(self, query: str, **beside: object) -> JsonObject:
        """The payload of `tool_search`."""
        return payload(await self.ask("tool_search", {"query": query, **beside}))

    async def describe(self, tool_id: str) -> JsonObject:
        """The payload of `tool_describe`."""
        return payload(await self.ask("tool_describe", {"id": tool_id}))

    async def found(self, query: str) -> list[object]:
        """The ids that a search finds."""
        hits = (await self.search(query))["tools"]
        assert isinstance(hits, list)
        return [hit["id"] for hit in hits]

    async def until_state(self, owner: str, state: State) -> None:
        await self.news.until(lambda: self.running.statuses()[owner].state is state)


def payload(result: JsonObject) -> JsonObject:
    """The structured content of a result of one of our own tools."""
    structured = result["structuredContent"]
    assert isinstance(structured, dict)
    return structured


def error_of(result: JsonObject) -> JsonObject:
    """The error inside a failed result: code, message, hint."""
    assert result.get("isError") is True, result
    error = payload(result)["error"]
    assert isinstance(error, dict)
    return error


@asynccontextmanager
async def gateway(
    folder: Path,
    servers: Mapping[str, Mapping[str, object]],
    settings: Mapping[str, object] | None = None,
    *,
    ready: bool = True,
    sinks: tuple[Sink, ...] = (),
) -> AsyncIterator[Opened]:
    """A gateway over these entries of `mcpServers`, with these `gateway` settings; by default once all are settled.

    Its cache and state are in the folder too: a second gateway over the same folder is the next start.
    """
    loaded = load([write_config(folder, servers, settings)], dict(os.environ), folder)
    news = News()
    places = Directories(
        cache=folder / "toolfold-cache", state=folder / "toolfold-state", data=folder / "toolfold-data"
    )
    async with open_gateway(loaded, places, replace(news.hooks, sinks=sinks)) as running:
        opened = Opened(running, Face(running.gateway), loaded, news)
        if ready:
            await opened.ready()
        yield opened
