"""What is published of a catalogue under one configuration: the mode in force, the list, the instructions and their bill.

Runs in the worker thread that makes the catalogue: the schemas of some hundred tools are too much for the event loop.

Laws
1. What is published is a function of configuration, catalogue and the names given before: no host changes it.
2. Mode `auto` folds until every upstream has listed its tools: a host that does not look at its list again must not be left
   with an empty one.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from index import Catalog, Exposure, JsonObject, Tool, approximate_tokens, shown_bytes, utf8_bytes
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
        self._written: dict[str, tuple[JsonObject, JsonObject]] = {}

    def __call__(self, catalog: Catalog, listed: frozenset[str], former: Surface) -> Surface:
        """The next surface. `listed` are the upstreams that have listed their tools."""
        mode, why = self._choice(catalog, listed)
        # The modes that fold must not cost by the size of the catalogue, whose every change comes through here.
        candidates = catalog.reachable() if mode in ("off", "directory") else catalog.direct()
        shown = [tool for tool in candidates if self._is_listed(tool, mode)]
        others = [tool for tool in candidates if not self._is_listed(tool, mode)] if mode == "directory" else []
        surface = build_surface(shown, self._settings, former.direct, mode, self._write)
        if why and (mode, why) != (former.mode, former.why):
            logger.info("toolSearch auto: mode %s, because %s", surface.mode_as_written, why)
        told = self._instructions(others)
        sources = catalog.sources()
        bill = Bill(
            tools=sum(count for source, count in sources.items() if source != CLIENT),
            sources=sources,
            direct_bytes=_direct_bytes(catalog),
            published_bytes=shown_bytes(surface.tools) + utf8_bytes(told),
        )
        whole = directory(others, DIRECTORY_CHARACTERS)
        return replace(surface, why=why, instructions=told, directory=whole, bill=bill)

    def _choice(self, catalog: Catalog, listed: frozenset[str]) -> tuple[Mode, str]:
        """The mode in force, and for `auto` the reason."""
        mode, limit = self._settings.mode, self._settings.auto_above_tokens
        if mode != "auto":
            return mode, ""
        unlisted = [server.owner for server in self._servers if server.owner not in listed]
        if unlisted:
            return "tools", f"these have not listed their tools yet: {one_line(', '.join(unlisted), NAMED_CHARACTERS)}"
        cost = approximate_tokens(_direct_bytes(catalog))
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

    def _write(self, name: str, tool: Tool) -> JsonObject:
        """The published form, made once for each definition."""
        known = self._written.get(name)
        if known is None or known[0] is not tool.definition:
            known = self._written[name] = tool.definition, published_tool(name, tool)
        return known[1]

    def _instructions(self, others: Sequence[Tool]) -> str:
        mode = self._settings.mode
        if mode != "directory":
            return instructions(self._servers, _HOW.get(mode, HOW))
        characters = self._settings.directory.instructions_characters
        head = instructions(self._servers, HOW, round(characters * UPSTREAMS_SHARE))
        return f"{head}\n{directory(others, characters - len(head) - 1)}".rstrip()


def _direct_bytes(catalog: Catalog) -> int:
    return catalog.shown_bytes() - catalog.shown_bytes(CLIENT)
