"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread

from index import Catalog, Explanation, Exposure, Near, Tool
from server.answers import (
    batch_note,
    description,
    explained,
    hits,
    missing,
    not_yet_listed,
    search_note,
    unresolved,
    with_starting,
)
from server.calling import Call, CallPath, UpstreamFailure
from server.chains import page, refuse_circles
from server.clean import one_line
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.keeper import owner_in
from server.library import Library, Snapshot
from server.redaction import Redactor
from server.results import READ_RESULT_ID
from server.surface import Surface, build_surface
from upstream_clients import PATH_META, UNNAMED, JsonObject, State, UpstreamError, UpstreamStatus

LONGEST_QUERY: Final = 10_000
"""Characters. The index reads fewer; a longer query is a document pasted by mistake, and is refused rather than cut."""

MOST_QUERIES: Final = 16
MOST_HITS: Final = 32
"""Of one answer to several queries: about 2,300 tokens."""

SHOWN_QUERY: Final = 80
"""Characters of a query that an answer repeats."""

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


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found: tools that are there now, the confidence of each by id, and words to try instead."""

    tools: tuple[Tool, ...]
    confidence: Mapping[str, str]
    closest_words: tuple[str, ...]


class Gateway:
    """What a surface talks to. Built by `server.app`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._surface_of = Catalog.empty()
        self._surface = build_surface((), parts.settings.tool_search, {})

    def adopt(self, parts: Parts) -> None:
        """Other parts from now on. What is under way goes on with those that it has begun with."""
        self._surface_of = Catalog.empty()
        self._surface = build_surface((), parts.settings.tool_search, self._surface.direct)
        self._parts = parts

    async def search(self, query: str, limit: int | None = None) -> JsonObject:
        """Hits for a query, best first, and what could not be searched.

        Raises:
            GatewayError: the query is empty or far too long.
        """
        snapshot, (found,) = await self._look_up((query,), self._count(limit))
        unseen = missing(self._statuses(), snapshot.indexed)
        answer: JsonObject = {"tools": hits(found.tools, self._shows_hints, found.confidence), **unseen}
        if note := search_note(len(found.tools), unseen, found.closest_words):
            answer["note"] = note
        return answer

    async def explain(self, query: str, limit: int | None = None) -> JsonObject:
        """The answer of `search`, and in each hit why it was found: for people, and never shown to a model.

        Raises:
            GatewayError: as `search`.
        """
        answer, snapshot = await self.search(query, limit), self._parts.library.snapshot
        taken = await anyio.to_thread.run_sync(_taken_apart, snapshot, query, self._count(limit), self._parts.near())
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
        count = min(self._count(limit), max(LEAST_HITS_A_QUERY, MOST_HITS // len(queries)))
        snapshot, found = await self._look_up(queries, count)
        unseen = missing(self._statuses(), snapshot.indexed)
        tools = {tool.id: tool for one in found for tool in one.tools}
        answer: JsonObject = {
            "answers": [_short_answer(query, one) for query, one in zip(queries, found, strict=True)],
            "tools": hits(tuple(tools.values()), self._shows_hints),
            **unseen,
        }
        if note := batch_note([bool(one.tools) for one in found], unseen):
            answer["note"] = note
        return answer

    async def describe(self, reference: str) -> JsonObject:
        """All that is known of one tool.

        Raises:
            GatewayError: no such tool, or several of that name.
        """
        tool = await self.find(reference)
        status = self._parts.statuses().get(tool.owner)
        return description(tool, status and self._redacted(status), self._parts.instructions(tool.owner))

    async def call(self, call: Call) -> JsonObject:
        """The upstream's result; see `CallPath.call`.

        Raises:
            GatewayError: for whatever stands in the way, an upstream's failure included.
        """
        if PATH_META in call.meta:
            refuse_circles(self._parts.node, call.meta)
        if call.reference == READ_RESULT_ID:
            return await self._read_result(call)
        try:
            tool = await self.find(call.reference)
        except GatewayError as unknown:
            tool = await self._found_after_start(call.reference, unknown)
        redact = self._parts.redact
        try:
            return await self._parts.calls.call(tool, call)
        except UpstreamFailure as failure:
            raise GatewayError(failure.code, redact(failure.message), redact(failure.hint)) from None

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
        """A page of what is behind this gateway, for another one. What was never listed is started, as for a search.

        Raises:
            GatewayError: its request went in a circle, or came too far.
        """
        refuse_circles(self._parts.node, meta)
        self._want_unlisted()
        return page(self._parts.library.snapshot.catalog.reachable(), self._parts.gateways(), meta, after)

    def statuses(self) -> Mapping[str, UpstreamStatus]:
        """Every configured upstream that is not disabled."""
        return self._parts.statuses()

    def surface(self) -> Surface:
        """What is published now."""
        catalog = self._parts.library.snapshot.catalog
        if catalog is not self._surface_of:
            direct = (tool for tool in catalog.reachable() if tool.exposure is Exposure.DIRECT)
            self._surface = build_surface(direct, self._parts.settings.tool_search, self._surface.direct)
            self._surface_of = catalog
        return self._surface

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
        if held := _held(snapshot.catalog, reference):
            raise held
        status = self._parts.statuses().get(owner_in(reference))
        self._want_unlisted(status)
        if status is not None and status.owner not in snapshot.listed:
            raise not_yet_listed(self._redacted(status), time.time())
        raise with_starting(unresolved(found), self._statuses(), snapshot.listed)

    async def _found_after_start(self, reference: str, unknown: GatewayError) -> Tool:
        """For a call: waits for the upstream that its id names, where that is why the tool is not known."""
        if unknown.code != "still_starting":
            raise unknown
        owner = owner_in(reference)
        try:
            await self._parts.hurry(owner)
        except UpstreamError as error:
            raise UpstreamFailure(owner, error) from None
        return await self.find(reference)

    async def _look_up(self, queries: Sequence[str], count: int) -> tuple[Snapshot, tuple[Found, ...]]:
        for query in queries:
            _check(query)
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        return snapshot, await anyio.to_thread.run_sync(_found_in, snapshot, queries, count, self._parts.near())

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
        server = self._parts.servers.get(tool.owner)
        return tool.trusted or "safe" in (self._parts.settings.hints, server.hints if server else "off")

    def _redacted(self, status: UpstreamStatus) -> UpstreamStatus:
        redact = self._parts.redact
        return replace(status, error=redact(status.error), hint=redact(status.hint))


def _held(catalog: Catalog, reference: str) -> GatewayError | None:
    """The error of a tool that waits for a person's word. Whoever has its id may know why it stopped working."""
    tool = catalog.get(reference.strip())
    if tool is None or tool.exposure is not Exposure.QUARANTINED or not tool.warning:
        return None
    hint = f"A person has to look at it: toolfold trust {tool.owner} {tool.name}"
    return GatewayError("tool_held", f"{tool.id} is held back: {tool.warning}.", hint)


def _is_found(tool: Tool) -> bool:
    """The index may lag behind: a tool that has just been hidden must not be found."""
    return tool.exposure in (Exposure.CATALOG, Exposure.DIRECT)


def _check(query: str) -> None:
    if not query.strip():
        raise GatewayError("invalid_arguments", "The query is empty.", "Say in a few words what the tool should do.")
    if len(query) > LONGEST_QUERY:
        raise GatewayError("invalid_arguments", f"The query is over {LONGEST_QUERY} characters.", "Use a few words.")


def _found_in(snapshot: Snapshot, queries: Sequence[str], count: int, near: Near | None) -> tuple[Found, ...]:
    """For a worker thread: the answers of one snapshot to all queries."""
    return tuple(_found(snapshot, query, count, near) for query in queries)


def _found(snapshot: Snapshot, query: str, count: int, near: Near | None) -> Found:
    if snapshot.index is None:
        return Found((), {}, ())
    matches = snapshot.index.search(query, count, near)
    found = [tool for match in matches if (tool := snapshot.catalog.get(match.tool_id)) and _is_found(tool)]
    closest_words = () if found else snapshot.index.closest_words(query)
    return Found(tuple(found), {match.tool_id: str(match.confidence) for match in matches}, closest_words)


def _taken_apart(snapshot: Snapshot, query: str, count: int, near: Near | None) -> tuple[Explanation, ...]:
    return snapshot.index.explain(query, count, snapshot.catalog.get, near) if snapshot.index else ()


def _short_answer(query: str, found: Found) -> JsonObject:
    """One of several answers: ids and confidence; the tools stand beside it."""
    answer: JsonObject = {
        "query": one_line(query, SHOWN_QUERY),
        "found": {tool.id: found.confidence[tool.id] for tool in found.tools},
    }
    if found.closest_words:
        answer["closest_words"] = list(found.closest_words)
    return answer
