"""What is published of a catalogue under one configuration: the mode in force, the list, the instructions and their bill.

Runs in the worker thread that makes the catalogue: the schemas of some hundred tools are too much for the event loop.

Laws
1. What is published is a function of configuration, catalogue, what the caller may see and the names given before: nothing
   else of a host changes it.
2. Mode `auto` folds until every upstream has listed its tools: a host that does not look at its list again must not be left
   with an empty one.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from index import Catalog, Exposure, JsonObject, Tool, approximate_tokens, shown_bytes, utf8_bytes
from server.access import Access
from server.clean import one_line
from server.client_tools import CLIENT
from server.config import Mode, ServerEntry, Settings
from server.directory import DIRECTORY_CHARACTERS, directory
from server.surface import (
    HOW,
    HOW_BY_NAME,
    HOW_EITHER,
    HOW_IN_CODE,
    Bill,
    Surface,
    build_surface,
    instructions,
    published_tool,
)

logger = logging.getLogger(__name__)

NAMED_CHARACTERS: Final = 200
"""Of the names of upstreams that have not listed their tools yet."""

UPSTREAMS_SHARE: Final = 0.4
"""Of the instructions of mode directory, the most that the upstreams' own lines take: the tools are what it is for."""

_HOW: Final[Mapping[Mode, str]] = {"code": HOW_IN_CODE, "off": HOW_BY_NAME, "auto": HOW_EITHER}
"""How to use what is published, in the modes that publish something else than the three tools."""


class Publisher:
    """Publishes one catalogue after another. Called by one thread at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.gateway.tool_search
        self._servers: Sequence[ServerEntry] = [
            server for server in settings.servers if not server.disabled and not server.problem
        ]
        self._written: dict[tuple[str, Mode], tuple[JsonObject, JsonObject]] = {}

    def __call__(self, catalog: Catalog, listed: frozenset[str], former: Surface) -> Surface:
        """The next surface. `listed` are the upstreams that have listed their tools."""
        direct_bytes = catalog.shown_bytes() - catalog.shown_bytes(CLIENT)
        mode, why = self._choice(direct_bytes, self._servers, listed)
        # The modes that fold must not cost by the size of the catalogue, whose every change comes through here.
        candidates = catalog.reachable() if mode in ("off", "directory") else catalog.direct()
        surface = self._published(candidates, former.direct, mode, self._servers)
        if why and (mode, why) != (former.mode, former.why):
            logger.info("toolSearch auto: mode %s, because %s", surface.mode_as_written, why)
        return replace(surface, why=why, bill=_bill(catalog.sources(), direct_bytes, surface))

    def view(self, catalog: Catalog, listed: frozenset[str], former: Mapping[str, str], access: Access) -> Surface:
        """The surface of callers who may not see all of the catalogue. What they may not see counts for nothing, in the
        choice of the mode either. `former` are the names that such callers were given before.
        """
        seen = [tool for tool in catalog.reachable() if access.sees(tool)]
        servers = [server for server in self._servers if access.may_reach(server.owner)]
        direct_bytes = shown_bytes(tuple(tool.definition for tool in seen if tool.source != CLIENT))
        mode, why = self._choice(direct_bytes, servers, listed)
        surface = self._published(seen, former, mode, servers)
        return replace(surface, why=why, bill=_bill(Counter(tool.source for tool in seen), direct_bytes, surface))

    def _published(
        self, candidates: Sequence[Tool], former: Mapping[str, str], mode: Mode, servers: Sequence[ServerEntry]
    ) -> Surface:
        shown = [tool for tool in candidates if self._is_listed(tool, mode)]
        others = [tool for tool in candidates if not self._is_listed(tool, mode)] if mode == "directory" else []
        surface = build_surface(shown, self._settings, former, mode, self._write)
        told = self._instructions(others, servers)
        return replace(surface, instructions=told, directory=directory(others, DIRECTORY_CHARACTERS))

    def _choice(self, direct_bytes: int, servers: Sequence[ServerEntry], listed: frozenset[str]) -> tuple[Mode, str]:
        """The mode in force, and for `auto` the reason."""
        mode, limit = self._settings.mode, self._settings.auto_above_tokens
        if mode != "auto":
            return mode, ""
        unlisted = [server.owner for server in servers if server.owner not in listed]
        if unlisted:
            return "tools", f"these have not listed their tools yet: {one_line(', '.join(unlisted), NAMED_CHARACTERS)}"
        cost = approximate_tokens(direct_bytes)
        if cost > limit:
            return "tools", f"all schemas are about {cost:,} tokens, over {limit:,}"
        return "off", f"all schemas are about {cost:,} tokens, not over {limit:,}"

    def _is_listed(self, tool: Tool, mode: Mode) -> bool:
        """Whether it is published by itself. What the host runs is in the host's own list already."""
        if tool.source == CLIENT:
            return False
        if tool.exposure is Exposure.DIRECT or mode == "off":
            return True
        return mode == "directory" and tool.id in self._settings.directory.schemas

    def _write(self, name: str, tool: Tool, mode: Mode) -> JsonObject:
        """The published form, made once for each definition."""
        known = self._written.get((name, mode))
        if known is None or known[0] is not tool.definition:
            known = self._written[name, mode] = tool.definition, published_tool(name, tool, mode)
        return known[1]

    def _instructions(self, others: Sequence[Tool], servers: Sequence[ServerEntry]) -> str:
        mode = self._settings.mode
        if mode != "directory":
            return instructions(servers, how_in(mode))
        characters = self._settings.directory.instructions_characters
        head = instructions(servers, HOW, round(characters * UPSTREAMS_SHARE))
        return f"{head}\n{directory(others, characters - len(head) - 1)}".rstrip()


def how_in(mode: Mode) -> str:
    """How to use what is published in this mode, and nothing of what there is."""
    return _HOW.get(mode, HOW)


def _bill(sources: Mapping[str, int], direct_bytes: int, surface: Surface) -> Bill:
    return Bill(
        tools=sum(count for source, count in sources.items() if source != CLIENT),
        sources=sources,
        direct_bytes=direct_bytes,
        published_bytes=shown_bytes(surface.tools) + utf8_bytes(surface.instructions),
    )
