"""The one road: search, describe and call, each implemented once, for every surface.

Search and describe answer from the current snapshot and send nothing upstream. Errors are `GatewayError`s whose text a
model can act on; the surface decides how they look on its wire.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread

from index import Catalog, Exposure, Tool
from server.answers import description, hits, missing, not_yet_listed, search_note, unresolved, with_starting
from server.calling import Call, CallPath, UpstreamFailure
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.keeper import owner_in
from server.library import Library
from server.redaction import Redactor
from server.results import READ_RESULT_ID
from server.surface import Surface, build_surface
from upstream_clients import JsonObject, State, UpstreamStatus

LONGEST_QUERY: Final = 10_000
"""Characters. The index reads fewer; a longer query is a document pasted by mistake, and is refused rather than cut."""


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
        if not query.strip():
            raise GatewayError(
                "invalid_arguments", "The query is empty.", "Say in a few words what the tool should do."
            )
        if len(query) > LONGEST_QUERY:
            raise GatewayError(
                "invalid_arguments", f"The query is over {LONGEST_QUERY} characters.", "Use a few words."
            )
        settings = self._parts.settings.tool_search
        count = max(1, min(limit or settings.search_default_limit, settings.max_search_limit))
        snapshot = await self._parts.library.searchable()
        self._want_unlisted()
        matches = () if snapshot.index is None else await anyio.to_thread.run_sync(snapshot.index.search, query, count)
        found = [tool for match in matches if (tool := snapshot.catalog.get(match.tool_id)) and _is_found(tool)]
        unseen = missing(self._statuses(), snapshot.indexed)
        answer: JsonObject = {"tools": hits(found, self._shows_hints), **unseen}
        if note := search_note(len(found), unseen):
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
        tool, redact = await self.find(call.reference), self._parts.redact
        try:
            return await self._parts.calls.call(tool, call)
        except UpstreamFailure as failure:
            raise GatewayError(failure.code, redact(failure.message), redact(failure.hint)) from None

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
            GatewayError: no such tool, several of that name, or its upstream has not listed any tool yet.
        """
        found = self._parts.library.snapshot.catalog.resolve(reference)
        if isinstance(found, Tool):
            return found
        snapshot = await self._parts.library.caught_up()
        found = snapshot.catalog.resolve(reference)
        if isinstance(found, Tool):
            return found
        self._want_unlisted()
        status = self._parts.statuses().get(owner_in(reference))
        if status is not None and status.owner not in snapshot.listed:
            raise not_yet_listed(self._redacted(status), time.time())
        raise with_starting(unresolved(found), self._statuses(), snapshot.listed)

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


def _is_found(tool: Tool) -> bool:
    """The index may lag behind: a tool that has just been hidden must not be found."""
    return tool.exposure in (Exposure.CATALOG, Exposure.DIRECT)
