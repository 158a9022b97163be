"""From what a Gateway says of its tools to a listing as an MCP server would give it. Pure.

Laws
1. Every tool of the inventory is listed. One that cannot be called carries the reason; nothing is left out silently.
2. A schema is the Gateway's own, else the bundled one, else `{"type": "object"}`; a result's is the bundled one, and only
   where the Gateway is of the version that it was taken from.
3. What the Gateway says of a tool is shown; our own words for it then help a search to find it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.bundled import Bundle
from upstream_clients.openclaw.rules import DIRECT_ONLY, why_not
from upstream_clients.openclaw.target import CORE_OWNER, DIRECT_META, OWNER_META, UNAVAILABLE_META, OpenClawGateway

MOST_TOOLS: Final = 2_000
"""As many as the catalogue takes of one listing. Gateways have some 60, and those of the servers behind them."""

SEARCH_HINT: Final = "anthropic/searchHint"


@dataclass(frozen=True, slots=True)
class Known:
    """One tool of an inventory."""

    name: str
    owner: str = CORE_OWNER
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
    """What else is known of a Gateway: its version, the definitions it gave by name, and the tools it answered 404 to."""

    version: str
    schemas: Mapping[str, JsonObject]
    refused: Collection[str]


def read_inventory(payload: JsonObject) -> tuple[Known, ...]:
    """The tools of an answer to `tools.effective` or `tools.catalog`, each name once."""
    found: dict[str, Known] = {}
    for group in _objects(payload.get("groups")):
        for tool in _objects(group.get("tools")):
            name = _text(tool.get("id"))
            if name and name not in found and len(found) < MOST_TOOLS:
                found[name] = Known(name, _owner(tool, group), _text(tool.get("label")), _description(tool))
    return tuple(found.values())


def has_unlisted_servers(payload: JsonObject) -> bool:
    """Whether servers behind the Gateway have not told it their tools yet: another answer follows soon."""
    return any(_text(notice.get("id")).startswith("mcp-not-yet") for notice in _objects(payload.get("notices")))


def bundled_inventory(bundle: Bundle) -> tuple[Known, ...]:
    return tuple(Known(name, _text(tool.get("owner")) or CORE_OWNER) for name, tool in bundle.tools.items())


def listing(
    known: Iterable[Known], gateway: OpenClawGateway, bundle: Bundle, learned: Learned
) -> tuple[JsonObject, ...]:
    """The tools as `tools/list` has them, by name."""
    return tuple(_definition(tool, gateway, bundle, learned) for tool in sorted(known, key=lambda one: one.name))


def _definition(tool: Known, gateway: OpenClawGateway, bundle: Bundle, learned: Learned) -> JsonObject:
    ours, theirs = bundle.tools.get(tool.name, {}), learned.schemas.get(tool.name, {})
    described = _text(theirs.get("description")) or tool.description
    meta: JsonObject = {OWNER_META: tool.owner}
    if described and ours:
        meta[SEARCH_HINT] = ours["description"]
    if tool.name in DIRECT_ONLY:
        meta[DIRECT_META] = True
    if why := why_not(tool.name, gateway, learned.refused):
        meta[UNAVAILABLE_META] = why
    definition: JsonObject = {
        "name": tool.name,
        "title": tool.title or ours.get("title", tool.name),
        "description": described or ours.get("description", ""),
        "inputSchema": _schema(theirs) or _schema(ours) or {"type": "object"},
        "_meta": meta,
    }
    if "outputSchema" in ours and bundle.fits(learned.version):
        definition["outputSchema"] = ours["outputSchema"]
    return definition


def _owner(tool: JsonObject, group: JsonObject) -> str:
    for key in ("pluginId", "channelId"):
        if owner := _text(tool.get(key)) or _text(group.get(key)):
            return owner
    source = _text(tool.get("source")) or _text(group.get("source"))
    return source if source in ("mcp", "channel") else CORE_OWNER


def _description(tool: JsonObject) -> str:
    for key in ("rawDescription", "fullDescription", "description"):
        if text := _text(tool.get(key)):
            return text
    return ""


def _schema(definition: JsonObject) -> JsonObject | None:
    schema = definition.get("inputSchema")
    return schema if isinstance(schema, dict) else None


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
