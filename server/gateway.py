"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import anyio.to_thread

from index import Exposure, Tool
from server.access import OWNER, Access, Caller
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
    way_to_call,
    with_starting,
)
from server.calling import Call, UpstreamFailure
from server.chains import holder_in, page, refuse_circles
from server.client_tools import CLIENT, run_by_the_host
from server.config import Mode
from server.errors import GatewayError
from server.found import Found, check, found_in, held, ids_in, short_answer, taken_apart
from server.keeper import upstream_in
from server.library import Snapshot
from server.parts import Current, Parts
from server.results import Reader
from server.surface import Surface
from server.telemetry import Kind, Observation, Via
from server.ways import READ_RESULT_ID
from upstream_clients import PATH_META, JsonObject, State, UpstreamError, UpstreamStatus

MOST_QUERIES: Final = 16
MOST_HITS: Final = 32
"""Of one answer to several queries: about 2,300 tokens."""

LEAST_HITS_A_QUERY: Final = 2
"""The right tool is first in two of three answers, and among the first two in most of the others."""


class Gateway:
    """What a surface talks to. Built by `server.app`; `seen_by` gives what one caller sees of it."""

    def __init__(self, current: Current, caller: Caller = OWNER) -> None:
        self._current = current
        self._caller = caller

    @property
    def _parts(self) -> Parts:
        return self._current.parts

    @property
    def _access(self) -> Access:
        return self._current.parts.accesses.of(self._caller)

    def seen_by(self, caller: Caller) -> "Gateway":
        """The same gateway, as this caller may see and use it."""
        return Gateway(self._current, caller)

    def adopt(self, parts: Parts) -> None:
        """Other parts from now on. What is under way goes on with those that it has begun with."""
        self._current.parts = parts

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
        snapshot, (found,) = await self._look_up((query,), self._parts.count(limit))
        unseen = missing(self._parts.reachable(self._access), snapshot.indexed)
        shown = hits(found.tools, self._parts.shows_hints, self._access.verdict, found.confidence)
        answer: JsonObject = {"tools": shown, **unseen}
        if note := search_note(len(found.tools), unseen, found.closest_words):
            answer["note"] = note
        return found, answer

    async def explain(self, query: str, limit: int | None = None) -> JsonObject:
        """The answer of `search`, and in each hit why it was found: for people, and never shown to a model.

        Raises:
            GatewayError: as `search`.
        """
        answer, snapshot = await self.search(query, limit), self._parts.library.snapshot
        taken = await anyio.to_thread.run_sync(
            taken_apart, snapshot, query, self._parts.count(limit), self._parts.near()
        )
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
        count = min(self._parts.count(limit), max(LEAST_HITS_A_QUERY, MOST_HITS // len(queries)))
        snapshot, found = await self._look_up(queries, count)
        unseen = missing(self._parts.reachable(self._access), snapshot.indexed)
        tools = {tool.id: tool for one in found for tool in one.tools}
        answer: JsonObject = {
            "answers": [short_answer(query, one) for query, one in zip(queries, found, strict=True)],
            "tools": hits(tuple(tools.values()), self._parts.shows_hints, self._access.verdict),
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
            status = status and self._parts.redacted(status)
            answer = description(tool, self._access.verdict(tool), status, self._parts.words_of(tool.upstream))
            answer["call"] = way_to_call(tool, self.surface())
            seen.answered(answer)
        return answer

    async def call(self, call: Call) -> JsonObject:
        """The upstream's result; see `CallPath.call`.

        Raises:
            GatewayError: for whatever stands in the way, an upstream's failure included.
        """
        parts = self._current.parts
        access = parts.accesses.of(self._caller)
        behind = holder_in(call.meta) if call.meta else ""
        reader = Reader((self._caller.session, access.profiles, behind), self.mode)
        parts.on_call()
        with Observation(parts.sinks, "call", call.via) as seen:
            if PATH_META in call.meta:
                refuse_circles(parts.node, call.meta)
            if call.reference == READ_RESULT_ID:
                seen.ids = (READ_RESULT_ID,)
                result = await parts.calls.read_result(call, reader, lambda: parts.running_gateways(access))
            else:
                tool = await self._found_for_call(call.reference, access)
                seen.ids = (tool.id,)
                clearing = parts.clearing(tool, self._caller, self._current)
                if tool.source == CLIENT:
                    raise run_by_the_host(tool)
                try:
                    result = await parts.calls.call(tool, call, reader, clearing)
                except UpstreamFailure as failure:
                    told = parts.redact(failure.message), parts.redact(failure.hint)
                    raise GatewayError(failure.code, *told) from None
            seen.returned(result)
        return result

    def behind(self, meta: Mapping[str, object], after: object) -> JsonObject:
        """A page of what is behind this gateway, for another one. What was never listed is started, as for a search; what
        our own host runs itself is not behind us.

        Raises:
            GatewayError: its request went in a circle, or came too far.
        """
        refuse_circles(self._parts.node, meta)
        self._want_unlisted()
        access, reachable = self._access, self._parts.library.snapshot.catalog.reachable()
        tools = [tool for tool in reachable if tool.source != CLIENT and access.sees(tool)]
        return page(tools, self._parts.gateways(), meta, after)

    def statuses(self) -> Mapping[str, UpstreamStatus]:
        """Every configured upstream that is not disabled."""
        return self._parts.statuses()

    def surface(self) -> Surface:
        """What is published now."""
        return self._current.surface(self._access)

    def mode(self) -> Mode:
        """The mode of what is published now."""
        return self.surface().mode

    def directory(self) -> JsonObject:
        """What there is, for a model that does not know what to search for.

        Raises:
            GatewayError: there is no directory in this mode.
        """
        with self.observed("search") as seen:
            surface = self.surface()
            if surface.mode != "directory":
                raise GatewayError("invalid_arguments", "tool_search needs a text 'query'.", '{"query": "read a file"}')
            unseen = missing(self._parts.reachable(self._access), self._parts.library.snapshot.listed)
            answer: JsonObject = {"directory": surface.directory, **unseen}
            seen.answered(answer)
        return answer

    def sources(self) -> Mapping[str, int]:
        """How many tools there are to be found, by source."""
        catalog, access = self._parts.library.snapshot.catalog, self._access
        seen = (tool.source for tool in catalog.reachable() if access.sees(tool))
        return catalog.sources() if access.sees_all else Counter(seen)

    async def find(self, reference: str) -> Tool:
        """The tool of an exact id or a unique bare name. Waits for listings that have come in but are not catalogued yet.

        Raises:
            GatewayError: no such tool, several of that name, one that is held back, or its upstream has not listed any yet.
        """
        return await self._find(reference, self._access)

    async def _find(self, reference: str, access: Access) -> Tool:
        sees = None if access.sees_all else access.sees
        found = self._current.parts.library.snapshot.catalog.resolve(reference, sees)
        if isinstance(found, Tool):
            return found
        snapshot = await self._parts.library.caught_up()
        found = snapshot.catalog.resolve(reference, sees)
        if isinstance(found, Tool):
            return found
        if why := held(snapshot.catalog, reference, access):
            raise why
        named = self._parts.statuses().get(upstream_in(reference))
        status = named if named is not None and access.may_reach(named.owner) else None
        self._want_unlisted(status)
        if status is not None and status.owner not in snapshot.listed:
            raise not_yet_listed(self._parts.redacted(status), time.time())
        known = snapshot.catalog.get(found.reference)
        if known is not None and known.exposure is Exposure.UNAVAILABLE and access.sees(known):
            raise unavailable(known)
        raise with_starting(unresolved(found, self.surface()), self._parts.reachable(access), snapshot.listed)

    async def _found_for_call(self, reference: str, access: Access) -> Tool:
        """As its upstream lists it now: one that is still to start is waited for, and may then have another tool."""
        try:
            tool = await self._find(reference, access)
            owner, reference = tool.upstream, tool.id
            if tool.source == CLIENT or (self._parts.is_ready(owner) and not tool.cached):
                return tool
        except GatewayError as unknown:
            owner = upstream_in(reference)
            if unknown.code != "still_starting" or not access.may_reach(owner):
                raise
        try:
            await self._parts.hurry(owner)
        except UpstreamError as error:
            raise UpstreamFailure(owner, error) from None
        await self._parts.library.caught_up()
        return await self._find(reference, access)

    async def _look_up(self, queries: Sequence[str], count: int) -> tuple[Snapshot, tuple[Found, ...]]:
        for query in queries:
            check(query)
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        return snapshot, await anyio.to_thread.run_sync(
            found_in, snapshot, queries, count, self._parts.near(), self._access
        )

    def _want_unlisted(self, only: UpstreamStatus | None = None) -> None:
        """Starts what has never been listed, and so can't be found. Who names one upstream wants no other."""
        listed = self._parts.library.snapshot.listed
        for status in self._parts.reachable(self._access) if only is None else (only,):
            if status.state is State.IDLE and status.owner not in listed:
                self._parts.want(status.owner)
