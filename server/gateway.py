"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread

from index import Exposure, Near, Tool
from server.answers import (
    batch_note,
    description,
    explained,
    hits,
    missing,
    not_yet_listed,
    search_note,
    unavailable,
    unresolved,
    with_starting,
)
from server.calling import Call, CallPath, UpstreamFailure
from server.chains import page, refuse_circles
from server.client_tools import CLIENT, run_by_the_host
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.found import Found, check, found_in, held, ids_in, short_answer, taken_apart
from server.keeper import upstream_in
from server.library import Library, Snapshot
from server.redaction import Redactor
from server.results import READ_RESULT_ID
from server.surface import Surface
from server.telemetry import Kind, Observation, Sink, Via
from upstream_clients import PATH_META, UNNAMED, JsonObject, State, UpstreamError, UpstreamStatus

MOST_QUERIES: Final = 16
MOST_HITS: Final = 32
"""Of one answer to several queries: about 2,300 tokens."""

LEAST_HITS_A_QUERY: Final = 2
"""The right tool is first in two of three answers, and among the first two in most of the others."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a gateway is made of. A change of the configuration makes new ones, which are exchanged at once.

    `node` is its id among gateways, `gateways` are the ids of those that are its upstreams, by owner.
    """

    servers: Mapping[str, ServerEntry]
    settings: GatewaySettings
    library: Library
    calls: CallPath
    instructions: Callable[[str], str]
    node: str
    gateways: Callable[[], Mapping[str, str]]
    statuses: Callable[[], Mapping[str, UpstreamStatus]]
    want: Callable[[str], None]
    hurry: Callable[[str], Awaitable[None]]
    redact: Redactor
    near: Callable[[], Near | None]
    on_call: Callable[[], None]
    sinks: tuple[Sink, ...] = ()


class Gateway:
    """What a surface talks to. Built by `server.app`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def adopt(self, parts: Parts) -> None:
        """Other parts from now on. What is under way goes on with those that it has begun with."""
        self._parts = parts

    def observed(self, kind: Kind, via: Via = "tools") -> Observation:
        """What follows one operation, and reports it at its end."""
        return Observation(self._parts.sinks, kind, via)

    async def search(self, query: str, limit: int | None = None, via: Via = "tools") -> JsonObject:
        """Hits for a query, best first, and what could not be searched.

        Raises:
            GatewayError: the query is empty or far too long.
        """
        with self.observed("search", via) as seen:
            found, answer = await self._search(query, limit)
            seen.ids = tuple(tool.id for tool in found.tools)
            seen.answered(answer)
        return answer

    async def _search(self, query: str, limit: int | None) -> tuple[Found, JsonObject]:
        snapshot, (found,) = await self._look_up((query,), self._count(limit))
        unseen = missing(self._statuses(), snapshot.indexed)
        answer: JsonObject = {"tools": hits(found.tools, self._shows_hints, found.confidence), **unseen}
        if note := search_note(len(found.tools), unseen, found.closest_words):
            answer["note"] = note
        return found, answer

    async def explain(self, query: str, limit: int | None = None) -> JsonObject:
        """The answer of `search`, and in each hit why it was found: for people, and never shown to a model.

        Raises:
            GatewayError: as `search`.
        """
        answer, snapshot = await self.search(query, limit), self._parts.library.snapshot
        taken = await anyio.to_thread.run_sync(taken_apart, snapshot, query, self._count(limit), self._parts.near())
        why = {one.tool_id: explained(one) for one in taken}
        found = answer["tools"]
        assert isinstance(found, list)
        return {**answer, "tools": [{**hit, "explanation": why.get(hit["id"])} for hit in found]}

    async def search_all(self, queries: Sequence[str], limit: int | None = None) -> JsonObject:
        """Hits for several queries: which tools each found, how sure, and every tool once.

        Raises:
            GatewayError: there are too many queries, or one is empty or far too long.
        """
        if len(queries) > MOST_QUERIES:
            raise GatewayError("invalid_arguments", f"Over {MOST_QUERIES} queries.", "Ask for fewer at a time.")
        with self.observed("search") as seen:
            answer = await self._search_all(queries, limit)
            seen.ids = ids_in(answer)
            seen.answered(answer)
        return answer

    async def _search_all(self, queries: Sequence[str], limit: int | None) -> JsonObject:
        count = min(self._count(limit), max(LEAST_HITS_A_QUERY, MOST_HITS // len(queries)))
        snapshot, found = await self._look_up(queries, count)
        unseen = missing(self._statuses(), snapshot.indexed)
        tools = {tool.id: tool for one in found for tool in one.tools}
        answer: JsonObject = {
            "answers": [short_answer(query, one) for query, one in zip(queries, found, strict=True)],
            "tools": hits(tuple(tools.values()), self._shows_hints),
            **unseen,
        }
        if note := batch_note([bool(one.tools) for one in found], unseen):
            answer["note"] = note
        return answer

    async def describe(self, reference: str, via: Via = "tools") -> JsonObject:
        """All that is known of one tool.

        Raises:
            GatewayError: no such tool, or several of that name.
        """
        with self.observed("describe", via) as seen:
            tool = await self.find(reference)
            seen.ids = (tool.id,)
            status = self._parts.statuses().get(tool.upstream)
            answer = description(tool, status and self._redacted(status), self._parts.instructions(tool.upstream))
            seen.answered(answer)
        return answer

    async def call(self, call: Call) -> JsonObject:
        """The upstream's result; see `CallPath.call`.

        Raises:
            GatewayError: for whatever stands in the way, an upstream's failure included.
        """
        parts = self._parts
        parts.on_call()
        with Observation(parts.sinks, "call", call.via) as seen:
            if PATH_META in call.meta:
                refuse_circles(parts.node, call.meta)
            if call.reference == READ_RESULT_ID:
                seen.ids = (READ_RESULT_ID,)
                result = await self._read_result(call)
            else:
                try:
                    tool = await self.find(call.reference)
                except GatewayError as unknown:
                    tool = await self._found_after_start(call.reference, unknown)
                seen.ids = (tool.id,)
                if tool.source == CLIENT:
                    raise run_by_the_host(tool)
                try:
                    result = await parts.calls.call(tool, call)
                except UpstreamFailure as failure:
                    told = parts.redact(failure.message), parts.redact(failure.hint)
                    raise GatewayError(failure.code, *told) from None
                finally:
                    parts.on_call()
            seen.returned(result)
        return result

    async def _read_result(self, call: Call) -> JsonObject:
        calls = self._parts.calls
        try:
            return calls.read_result(call)
        except GatewayError as unknown:
            read = await calls.read_behind(call, self._running_gateways()) if unknown.code == "unknown_result" else None
            if read is None:
                raise
            return read

    def _running_gateways(self) -> list[str]:
        """Those that may have kept a part of a result: gateways of our kind, which nothing has stopped."""
        statuses = self._parts.statuses()
        of_our_kind = [owner for owner, node in self._parts.gateways().items() if node != UNNAMED]
        return [owner for owner in of_our_kind if owner in statuses and statuses[owner].state is State.READY]

    def behind(self, meta: Mapping[str, object], after: object) -> JsonObject:
        """A page of what is behind this gateway, for another one. What was never listed is started, as for a search; what
        our own host runs itself is not behind us.

        Raises:
            GatewayError: its request went in a circle, or came too far.
        """
        refuse_circles(self._parts.node, meta)
        self._want_unlisted()
        reachable = self._parts.library.snapshot.catalog.reachable()
        return page([tool for tool in reachable if tool.source != CLIENT], self._parts.gateways(), meta, after)

    def statuses(self) -> Mapping[str, UpstreamStatus]:
        """Every configured upstream that is not disabled."""
        return self._parts.statuses()

    def surface(self) -> Surface:
        """What is published now."""
        return self._parts.library.snapshot.surface

    def directory(self) -> JsonObject:
        """What there is, for a model that does not know what to search for.

        Raises:
            GatewayError: there is no directory in this mode.
        """
        with self.observed("search") as seen:
            surface = self.surface()
            if surface.mode != "directory":
                raise GatewayError("invalid_arguments", "tool_search needs a text 'query'.", '{"query": "read a file"}')
            unseen = missing(self._statuses(), self._parts.library.snapshot.listed)
            answer: JsonObject = {"directory": surface.directory, **unseen}
            seen.answered(answer)
        return answer

    def sources(self) -> Mapping[str, int]:
        """How many tools there are to be found, by source."""
        return self._parts.library.snapshot.catalog.sources()

    async def find(self, reference: str) -> Tool:
        """The tool of an exact id or a unique bare name. Waits for listings that have come in but are not catalogued yet.

        Raises:
            GatewayError: no such tool, several of that name, one that is held back, or its upstream has not listed any yet.
        """
        found = self._parts.library.snapshot.catalog.resolve(reference)
        if isinstance(found, Tool):
            return found
        snapshot = await self._parts.library.caught_up()
        found = snapshot.catalog.resolve(reference)
        if isinstance(found, Tool):
            return found
        if why := held(snapshot.catalog, reference):
            raise why
        status = self._parts.statuses().get(upstream_in(reference))
        self._want_unlisted(status)
        if status is not None and status.owner not in snapshot.listed:
            raise not_yet_listed(self._redacted(status), time.time())
        known = snapshot.catalog.get(found.reference)
        if known is not None and known.exposure is Exposure.UNAVAILABLE:
            raise unavailable(known)
        raise with_starting(unresolved(found), self._statuses(), snapshot.listed)

    async def _found_after_start(self, reference: str, unknown: GatewayError) -> Tool:
        """For a call: waits for the upstream that its id names, where that is why the tool is not known."""
        if unknown.code != "still_starting":
            raise unknown
        owner = upstream_in(reference)
        try:
            await self._parts.hurry(owner)
        except UpstreamError as error:
            raise UpstreamFailure(owner, error) from None
        return await self.find(reference)

    async def _look_up(self, queries: Sequence[str], count: int) -> tuple[Snapshot, tuple[Found, ...]]:
        for query in queries:
            check(query)
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        return snapshot, await anyio.to_thread.run_sync(found_in, snapshot, queries, count, self._parts.near())

    def _count(self, limit: int | None) -> int:
        settings = self._parts.settings.tool_search
        return max(1, min(limit or settings.search_default_limit, settings.max_search_limit))

    def _want_unlisted(self, only: UpstreamStatus | None = None) -> None:
        """Starts what has never been listed, and so can't be found. Who names one upstream wants no other."""
        listed = self._parts.library.snapshot.listed
        for status in self._parts.statuses().values() if only is None else (only,):
            if status.state is State.IDLE and status.owner not in listed:
                self._parts.want(status.owner)

    def _statuses(self) -> list[UpstreamStatus]:
        return [self._redacted(status) for status in self._parts.statuses().values()]

    def _shows_hints(self, tool: Tool) -> bool:
        server = self._parts.servers.get(tool.upstream)
        return tool.trusted or "safe" in (self._parts.settings.hints, server.hints if server else "off")

    def _redacted(self, status: UpstreamStatus) -> UpstreamStatus:
        redact = self._parts.redact
        return replace(status, error=redact(status.error), hint=redact(status.hint))
