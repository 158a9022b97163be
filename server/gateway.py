"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread

from index import Catalog, Exposure, Tool
from server.answers import description, hits, missing, not_yet_listed, search_note, unresolved, with_starting
from server.calling import Call, CallPath, UpstreamFailure
from server.clean import one_line
from server.client_tools import CLIENT, refused, run_by_the_host
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.keeper import owner_in
from server.library import Library, Snapshot
from server.redaction import Redactor
from server.results import READ_RESULT_ID
from server.surface import Surface
from server.telemetry import Observation, Sink, Via
from upstream_clients import JsonObject, State, UpstreamStatus

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
    """What a gateway is made of. A change of the configuration makes new ones, which are exchanged at once."""

    servers: Mapping[str, ServerEntry]
    settings: GatewaySettings
    library: Library
    calls: CallPath
    instructions: Callable[[str], str]
    statuses: Callable[[], Mapping[str, UpstreamStatus]]
    want: Callable[[str], None]
    redact: Redactor
    sinks: tuple[Sink, ...] = ()


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

    def adopt(self, parts: Parts) -> None:
        """Other parts from now on. What is under way goes on with those that it has begun with."""
        self._parts = parts

    async def search(self, query: str, limit: int | None = None, via: Via = "tools") -> JsonObject:
        """Hits for a query, best first, and what could not be searched.

        Raises:
            GatewayError: the query is empty or far too long.
        """
        with Observation(self._parts.sinks, "search", via) as seen:
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

    async def search_all(self, queries: Sequence[str], limit: int | None = None) -> JsonObject:
        """Hits for several queries: which tools each found, how sure, and every tool once.

        Raises:
            GatewayError: there are too many queries, or one is empty or far too long.
        """
        if len(queries) > MOST_QUERIES:
            raise GatewayError("invalid_arguments", f"Over {MOST_QUERIES} queries.", "Ask for fewer at a time.")
        with Observation(self._parts.sinks, "search", "tools") as seen:
            answer = await self._search_all(queries, limit)
            seen.ids = _ids(answer)
            seen.answered(answer)
        return answer

    async def _search_all(self, queries: Sequence[str], limit: int | None) -> JsonObject:
        count = min(self._count(limit), max(LEAST_HITS_A_QUERY, MOST_HITS // len(queries)))
        snapshot, found = await self._look_up(queries, count)
        unseen = missing(self._statuses(), snapshot.indexed)
        tools = {tool.id: tool for one in found for tool in one.tools}
        answer: JsonObject = {
            "answers": [_short_answer(query, one) for query, one in zip(queries, found, strict=True)],
            "tools": hits(tuple(tools.values()), self._shows_hints),
            **unseen,
        }
        if "starting" in unseen:
            answer["note"] = search_note(len(tools), unseen, ())
        return answer

    async def describe(self, reference: str, via: Via = "tools") -> JsonObject:
        """All that is known of one tool.

        Raises:
            GatewayError: no such tool, or several of that name.
        """
        with Observation(self._parts.sinks, "describe", via) as seen:
            tool = await self.find(reference)
            seen.ids = (tool.id,)
            status = self._parts.statuses().get(tool.owner)
            answer = description(tool, status and self._redacted(status), self._parts.instructions(tool.owner))
            seen.answered(answer)
        return answer

    async def call(self, call: Call) -> JsonObject:
        """The upstream's result; see `CallPath.call`.

        Raises:
            GatewayError: for whatever stands in the way, an upstream's failure included.
        """
        parts = self._parts
        with Observation(parts.sinks, "call", call.via) as seen:
            if call.reference == READ_RESULT_ID:
                seen.ids = (READ_RESULT_ID,)
                result = parts.calls.read_result(call)
            else:
                tool = await self.find(call.reference)
                seen.ids = (tool.id,)
                if tool.source == CLIENT:
                    raise run_by_the_host(tool)
                try:
                    result = await parts.calls.call(tool, call)
                except UpstreamFailure as failure:
                    told = parts.redact(failure.message), parts.redact(failure.hint)
                    raise GatewayError(failure.code, *told) from None
            seen.returned(result)
        return result

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
        with Observation(self._parts.sinks, "search", "tools") as seen:
            surface = self.surface()
            if surface.mode != "directory":
                raise GatewayError("invalid_arguments", "tool_search needs a text 'query'.", '{"query": "read a file"}')
            unseen = missing(self._statuses(), self._parts.library.snapshot.listed)
            answer: JsonObject = {"directory": surface.directory, **unseen}
            seen.answered(answer)
        return answer

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
        self._want_unlisted()
        status = self._parts.statuses().get(owner_in(reference))
        if status is not None and status.owner not in snapshot.listed:
            raise not_yet_listed(self._redacted(status), time.time())
        raise with_starting(unresolved(found), self._statuses(), snapshot.listed)

    async def _look_up(self, queries: Sequence[str], count: int) -> tuple[Snapshot, tuple[Found, ...]]:
        for query in queries:
            _check(query)
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        return snapshot, await anyio.to_thread.run_sync(_found_in, snapshot, queries, count)

    def _count(self, limit: int | None) -> int:
        settings = self._parts.settings.tool_search
        return max(1, min(limit or settings.search_default_limit, settings.max_search_limit))

    def _want_unlisted(self) -> None:
        """Starts what has never been listed and would be started by a call only, which nobody can make before."""
        listed = self._parts.library.snapshot.listed
        for status in self._parts.statuses().values():
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


def _ids(answer: JsonObject) -> tuple[str, ...]:
    """The ids in an answer of hits."""
    tools = answer["tools"]
    return tuple(hit["id"] for hit in tools) if isinstance(tools, list) else ()


def _held(catalog: Catalog, reference: str) -> GatewayError | None:
    """The error of a tool that waits for a person's word, or that is the host's own and refused. Whoever has its id may know
    why it does not work.
    """
    tool = catalog.get(reference.strip())
    if tool is None or tool.exposure is not Exposure.QUARANTINED:
        return None
    if tool.source == CLIENT:
        return refused(tool)
    if not tool.warning:
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


def _found_in(snapshot: Snapshot, queries: Sequence[str], count: int) -> tuple[Found, ...]:
    """For a worker thread: the answers of one snapshot to all queries."""
    return tuple(_found(snapshot, query, count) for query in queries)


def _found(snapshot: Snapshot, query: str, count: int) -> Found:
    if snapshot.index is None:
        return Found((), {}, ())
    matches = snapshot.index.search(query, count)
    found = [tool for match in matches if (tool := snapshot.catalog.get(match.tool_id)) and _is_found(tool)]
    closest_words = () if found else snapshot.index.closest_words(query)
    return Found(tuple(found), {match.tool_id: str(match.confidence) for match in matches}, closest_words)


def _short_answer(query: str, found: Found) -> JsonObject:
    """One of several answers: ids and confidence; the tools stand beside it."""
    answer: JsonObject = {
        "query": one_line(query, SHOWN_QUERY),
        "found": {tool.id: found.confidence[tool.id] for tool in found.tools},
    }
    if found.closest_words:
        answer["closest_words"] = list(found.closest_words)
    return answer
