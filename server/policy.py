"""What is there for anybody: the operator's filters that hold for every caller. What one caller may, `server.access` says.

Decides per tool when a listing comes in; the answer is kept in the catalogue, so that search, describe and call can't
disagree. Exclusion wins over inclusion at every level.
"""

from collections.abc import Iterable

from index import Exposure
from server.access import could_match, forbids, matches
from server.config import GatewaySettings, ServerEntry
from server.pins import PinnedUpstream
from upstream_clients import DIRECT_META, UNAVAILABLE_META


class Policy:
    """Exposure of every tool, from the configuration alone."""

    def __init__(self, servers: Iterable[ServerEntry], settings: GatewaySettings) -> None:
        self._servers = {server.owner: server for server in servers}
        self._allow = settings.policy.allow
        self._deny = settings.policy.deny
        self._direct = settings.direct_tools
        self._pins = settings.pins

    def exposure(self, owner: str, tool_id: str, definition: dict[str, object]) -> tuple[Exposure, str]:
        """What becomes of one tool, and why (empty for an ordinary catalogue tool)."""
        server, name = self._servers.get(owner), str(definition.get("name"))
        names = (name, name.rpartition(":")[2])  # behind a gateway: the id there, and the tool's own name
        if server is None:  # it was removed a moment ago, and its listing is about to follow
            return Exposure.HIDDEN, "its upstream is not configured"
        if why := self._why_hidden(server, names, tool_id):
            return Exposure.HIDDEN, why
        if reason := _said_by_adapter(server, definition, UNAVAILABLE_META):
            return Exposure.UNAVAILABLE, str(reason)
        if server.always_load:
            return Exposure.DIRECT, "alwaysLoad"
        if matches(tool_id, self._direct):
            return Exposure.DIRECT, "directTools"
        if _said_by_adapter(server, definition, DIRECT_META):
            return Exposure.DIRECT, "direct-only in OpenClaw"
        return Exposure.CATALOG, ""

    def _why_hidden(self, server: ServerEntry, names: tuple[str, str], tool_id: str) -> str:
        """Which of the operator's filters keeps the tool from everyone; "" if none does."""
        if any(matches(name, server.exclude_tools) for name in names):
            return "excluded by excludeTools"
        if server.include_tools and not any(matches(name, server.include_tools) for name in names):
            return "not among includeTools"
        if server.openclaw is not None and matches(names[0], server.openclaw.deny):
            return "denied by gateway.openclaw.deny"
        return self.refusal(tool_id)

    def refusal(self, tool_id: str) -> str:
        """Why `gateway.policy` keeps back what has this id, whatever its source; empty if it does not."""
        if forbids(self._deny, tool_id):
            return "denied by gateway.policy.deny"
        return "" if matches(tool_id, self._allow) else "not allowed by gateway.policy.allow"

    def rules(self, owner: str) -> tuple[object, ...]:
        """All that the exposure of one owner's tools depends on besides the tools. Equal rules, equal exposure."""
        server = self._servers[owner]
        denied = server.openclaw.deny if server.openclaw else ()
        filters = (server.include_tools, server.exclude_tools, server.always_load, server.trusted, denied)
        return (self._allow, self._deny, self._direct, self._pins, *filters)

    def pinned_upstream(self, owner: str) -> PinnedUpstream | None:
        """What the owner's pins are kept under; None when it is not configured any more, or is a Gateway of the operator's.

        Such a Gateway is trusted, and says other things of its tools with each version and setting of its own.
        """
        server = self._servers.get(owner)
        return PinnedUpstream(owner, server.fingerprint) if server and server.openclaw is None else None

    def may_publish_directly(self) -> frozenset[str]:
        """The owners whose tools may be direct-only, which the first `tools/list` must know of."""
        return frozenset(
            owner
            for owner, server in self._servers.items()
            if server.always_load
            or (server.openclaw and server.openclaw.allow)
            or any(could_match(pattern, _prefix(server)) for pattern in self._direct)
        )


def _said_by_adapter(server: ServerEntry, definition: dict[str, object], key: str) -> object:
    """What an adapter of ours says of a tool. Of any other upstream nothing is believed here."""
    meta = definition.get("_meta")
    return meta.get(key) if server.openclaw is not None and isinstance(meta, dict) else None


def _prefix(server: ServerEntry) -> str:
    """How the ids of all its tools begin."""
    return "openclaw:" if server.openclaw is not None else f"mcp:{server.owner}:"
