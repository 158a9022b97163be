"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import anyio.to_thread

from index import Catalog, Explanation, Exposure, Near, Tool
from server.access import OWNER, Access, Accesses, Caller, Verdict
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
from server.approvals import Approvals
from server.calling import Call, CallPath, UpstreamFailure
from server.clean import one_line
from server.clearance import Clearing
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.hooks import Hook
from server.keeper import owner_in
from server.library import Library, Snapshot
from server.redaction import Redactor
from server.results import READ_RESULT_ID
from server.surface import Surface, build_surface
from upstream_clients import JsonObject, State, UpstreamStatus

LONGEST_QUERY: Final = 10_000
"""Characters. The index reads fewer; a longer query is a document pasted by mistake, and is refused rather than cut."""

MOST_QUERIES: Final = 16
MOST_HITS: Final = 32
"""Of one answer to several queries: about 2,300 tokens."""

SHOWN_QUERY: Final = 80
"""Characters of a query that an answer repeats."""

DEEPER: Final = 4
"""Times as many matches are looked at where the caller may not see all of the first ones."""

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
    near: Callable[[], Near | None]
    accesses: Accesses
    hook: Hook | None
    approvals: Approvals


@dataclass(slots=True)
class Current:
    """What every view of one gateway shares: its parts now, and by the profiles that apply, what was published of what."""

    parts: Parts
    published: dict[tuple[tuple[str, ...], bool], tuple[Catalog, Surface]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found: tools that are there now, the confidence of each by id, and words to try instead."""

    tools: tuple[Tool, ...]
    confidence: Mapping[str, str]
    closest_words: tuple[str, ...]


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
        empty, names = Catalog.empty(), self._current.published
        self._current.published = {
            key: (empty, build_surface((), parts.settings.tool_search, surface.direct))
            for key, (_catalog, surface) in names.items()
        }
        self._current.parts = parts

    async def search(self, query: str, limit: int | None = None) -> JsonObject:
        """Hits for a query, best first, and what could not be searched.

        Raises:
            GatewayError: the query is empty or far too long.
        """
        snapshot, (found,) = await self._look_up((query,), self._count(limit))
        unseen = missing(self._reachable(), snapshot.indexed)
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
        unseen = missing(self._reachable(), snapshot.indexed)
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
        if call.reference == READ_RESULT_ID:
            return self._parts.calls.read_result(call)
        parts = self._current.parts
        access = parts.accesses.of(self._caller)
        tool, redact = await self._find(call.reference, access), parts.redact
        clearing = None
        if parts.hook is not None or not access.allows_all:
            clearing = Clearing(access, self._caller, parts.hook, parts.approvals, redact)
        if not access.allows_all and access.verdict(tool) is Verdict.BLOCK:
            hint = "Do without it. Only the operator can change that, in the configuration of toolfold."
            raise GatewayError("blocked_by_policy", f"{tool.id} was not called: the policy blocks it.", hint)
        try:
            return await parts.calls.call(tool, call, clearing)
        except UpstreamFailure as failure:
            raise GatewayError(failure.code, redact(failure.message), redact(failure.hint)) from None

    def statuses(self) -> Mapping[str, UpstreamStatus]:
        """Every configured upstream that is not disabled."""
        return self._parts.statuses()

    def surface(self) -> Surface:
        """What is published now."""
        catalog, access, published = self._parts.library.snapshot.catalog, self._access, self._current.published
        key = (access.profiles, access.is_owner)
        known, surface = published.get(key, (None, None))
        if surface is None or catalog is not known:
            direct = (tool for tool in catalog.reachable() if tool.exposure is Exposure.DIRECT and access.sees(tool))
            surface = build_surface(direct, self._parts.settings.tool_search, surface.direct if surface else {})
            published[key] = (catalog, surface)
        return surface

    async def find(self, reference: str) -> Tool:
        """The tool of an exact id or a unique bare name. Waits for listings that have come in but are not catalogued yet.

        Raises:
            GatewayError: no such tool, several of that name, one that is held back, or its upstream has not listed any yet.
        """
        return await self._find(reference, self._access)

    async def _find(self, reference: str, access: Access) -> Tool:
        sees = None if access.sees_all else access.sees
        found = self._parts.library.snapshot.catalog.resolve(reference, sees)
        if isinstance(found, Tool):
            return found
        snapshot = await self._parts.library.caught_up()
        found = snapshot.catalog.resolve(reference, sees)
        if isinstance(found, Tool):
            return found
        if held := _held(snapshot.catalog, reference, access):
            raise held
        self._want_unlisted()
        status = self._parts.statuses().get(owner_in(reference))
        if status is not None and status.owner not in snapshot.listed and access.may_reach(status.owner):
            raise not_yet_listed(self._redacted(status), time.time())
        raise with_starting(unresolved(found), self._reachable(), snapshot.listed)

    async def _look_up(self, queries: Sequence[str], count: int) -> tuple[Snapshot, tuple[Found, ...]]:
        for query in queries:
            _check(query)
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        return snapshot, await anyio.to_thread.run_sync(
            partial(_found_in, snapshot, queries, count, near=self._parts.near(), access=self._access)
        )

    def _count(self, limit: int | None) -> int:
        settings = self._parts.settings.tool_search
        return max(1, min(limit or settings.search_default_limit, settings.max_search_limit))

    def _want_unlisted(self) -> None:
        """Starts what has never been listed and would be started by a call only, which nobody can make before."""
        listed = self._parts.library.snapshot.listed
        for status in self._parts.statuses().values():
            if status.state is State.IDLE and status.owner not in listed:
                self._parts.want(status.owner)

    def _reachable(self) -> list[UpstreamStatus]:
        """The upstreams of which the caller may hear."""
        access = self._access
        statuses = self._parts.statuses().values()
        return [self._redacted(status) for status in statuses if access.may_reach(status.owner)]

    def _shows_hints(self, tool: Tool) -> bool:
        server = self._parts.servers.get(tool.owner)
        return tool.trusted or "safe" in (self._parts.settings.hints, server.hints if server else "off")

    def _redacted(self, status: UpstreamStatus) -> UpstreamStatus:
        redact = self._parts.redact
        return replace(status, error=redact(status.error), hint=redact(status.hint))


def _held(catalog: Catalog, reference: str, access: Access) -> GatewayError | None:
    """The error of a tool that waits for a person's word. Whoever has its id may know why it stopped working."""
    tool = catalog.get(reference.strip())
    if tool is None or tool.exposure is not Exposure.QUARANTINED or not tool.warning or not access.sees(tool):
        return None
    hint = f"A person has to look at it: toolfold trust {tool.owner} {tool.name}"
    return GatewayError("tool_held", f"{tool.id} is held back: {tool.warning}.", hint)


def _is_found(tool: Tool, access: Access) -> bool:
    """The index may lag behind: a tool that has just been hidden must not be found. It knows nothing of callers."""
    return tool.exposure in (Exposure.CATALOG, Exposure.DIRECT) and access.sees(tool)


def _check(query: str) -> None:
    if not query.strip():
        raise GatewayError("invalid_arguments", "The query is empty.", "Say in a few words what the tool should do.")
    if len(query) > LONGEST_QUERY:
        raise GatewayError("invalid_arguments", f"The query is over {LONGEST_QUERY} characters.", "Use a few words.")


def _found_in(
    snapshot: Snapshot, queries: Sequence[str], count: int, *, near: Near | None, access: Access
) -> tuple[Found, ...]:
    """For a worker thread: the answers of one snapshot to all queries."""
    return tuple(_found(snapshot, query, count, near, access) for query in queries)


def _found(snapshot: Snapshot, query: str, count: int, near: Near | None, access: Access) -> Found:
    if snapshot.index is None:
        return Found((), {}, ())
    asked = count
    while True:
        matches = snapshot.index.search(query, asked, near)
        found = [tool for match in matches if (tool := snapshot.catalog.get(match.tool_id)) and _is_found(tool, access)]
        if access.sees_all or len(found) >= count or len(matches) < asked:
            break
        asked *= DEEPER  # what was left out makes room for what came after it
    closest_words = snapshot.index.closest_words(query) if access.sees_all and not found else ()
    confidence = {match.tool_id: str(match.confidence) for match in matches}
    return Found(tuple(found[:count]), confidence, closest_words)


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
