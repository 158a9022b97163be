"""This gateway among others: what it lists for a gateway that it is an upstream of, and whose requests it refuses.

A gateway that asks for the list with its path in `_meta` is given what is behind us: every tool that a client may reach,
under its id as the name, in pages. Everybody else is given the published list. Nothing is sent upstream for either.

Laws
1. A request whose path has our own id went in a circle, and is refused; one that came through too many gateways, too.
2. A gateway is never shown a tool that is behind itself, nor one that it could not call: catalogues that mirror each
   other don't grow.
3. A gateway behind us is told whom we call for, by a word that says no more: what it keeps of a result is kept for that
   caller alone.
4. A page is bounded, and the pages of an unchanged catalogue are all of it. A change in between is told of, as ever.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

from index import Tool
from server.errors import GatewayError
from server.results import Holder
from upstream_clients import HOLDER_META, MOST_HOPS, PATH_META, JsonObject, path_in

PAGE_TOOLS: Final = 500
PAGE_BYTES: Final = 1024 * 1024
"""With the largest definition on top it is a third of the longest line that a gateway reads by default."""

CHAINED_RESULT_BYTES: Final = 2 * 1024 * 1024
"""What of a result goes to another gateway whole: that one cuts it for its own host, and keeps the rest of it. What is
longer is kept here, and read through that gateway."""

HOLDER_CHARACTERS: Final = 64
"""A SHA-256."""


def refuse_circles(node: str, meta: Mapping[str, object]) -> None:
    """Refuses a request that has been here before, or that has come too far. `node` is our own id.

    Raises:
        GatewayError: it is one of these.
    """
    path = path_in(meta) or ()
    if node in path:
        raise GatewayError(
            "chain_loop",
            "This gateway is an upstream of itself, by way of other gateways.",
            "Take one of the entries out that lead from gateway to gateway and back.",
        )
    if len(path) >= MOST_HOPS:
        raise GatewayError(
            "chain_too_long",
            f"There are more than {MOST_HOPS} gateways in a row.",
            "Give the first ones the servers that are wanted, not gateways to gateways.",
        )


def holder_in(meta: Mapping[str, object]) -> str:
    """For whom a gateway says that it calls. Whoever says it divides but its own."""
    return str(meta.get(HOLDER_META, ""))[:HOLDER_CHARACTERS]


def told_holder(holder: Holder, meta: Mapping[str, object]) -> JsonObject:
    """The `_meta` of a call for this holder that goes to a gateway."""
    return {**meta, HOLDER_META: sha256(repr(holder).encode("utf-8", "surrogatepass")).hexdigest()}


def page(
    tools: Sequence[Tool], gateways: Mapping[str, str], meta: Mapping[str, object], after: object = None
) -> JsonObject:
    """One page of what is behind us, for the gateway whose path is in `meta`. `tools` are sorted by id.

    `gateways` are the ids of upstreams that are gateways, by owner; `after` is the cursor, the last id of the page before.
    """
    path = path_in(meta) or ()
    start = bisect_right(tools, after, key=lambda tool: tool.id) if isinstance(after, str) else 0
    listed: list[JsonObject] = []
    size, last = 0, ""
    for tool, behind in _shown(tools[start:], gateways, path):
        if len(listed) >= PAGE_TOOLS or size >= PAGE_BYTES:
            return {"tools": listed, "nextCursor": last}
        definition = _definition(tool, behind)
        listed.append(definition)
        size += len(json.dumps(definition))
        last = tool.id
    return {"tools": listed}


def _shown(
    tools: Sequence[Tool], gateways: Mapping[str, str], path: Sequence[str]
) -> Iterator[tuple[Tool, tuple[str, ...]]]:
    """The tools that may be shown to a gateway with this path, each with the gateways that it is behind."""
    for tool in tools:
        behind = _behind(tool, gateways)
        if not set(behind) & set(path) and len(path) + 1 + len(behind) <= MOST_HOPS:
            yield tool, behind


def _behind(tool: Tool, gateways: Mapping[str, str]) -> tuple[str, ...]:
    nearest = gateways.get(tool.upstream)
    return () if not nearest else (nearest, *(path_in(tool.definition.get("_meta")) or ()))


def _definition(tool: Tool, behind: tuple[str, ...]) -> JsonObject:
    """The upstream's own definition under the tool's id, and where it is behind further gateways, behind which."""
    named: JsonObject = {**tool.definition, "name": tool.id}
    if not behind:
        return named
    meta = tool.definition.get("_meta")
    return {**named, "_meta": {**(meta if isinstance(meta, dict) else {}), PATH_META: list(behind)}}
