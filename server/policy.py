"""What is there for anybody: the operator's filters that hold for every caller. What one caller may, `server.access` says.

Decides per tool when a listing comes in; the answer is kept in the catalogue, so that search, describe and call can't
disagree. Exclusion wins over inclusion at every level.
"""

from collections.abc import Iterable

from index import Exposure
from server.access import could_match, matches
from server.config import GatewaySettings, ServerEntry
from server.pins import PinnedUpstream


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
        if server is None:  # it was removed a moment ago, and its listing is about to follow
            return Exposure.HIDDEN, "its upstream is not configured"
        if matches(name, server.exclude_tools):
            return Exposure.HIDDEN, "excluded by excludeTools"
        if server.include_tools and not matches(name, server.include_tools):
            return Exposure.HIDDEN, "not among includeTools"
        if matches(tool_id, self._deny):
            return Exposure.HIDDEN, "denied by gateway.policy.deny"
        if not matches(tool_id, self._allow):
            return Exposure.HIDDEN, "not allowed by gateway.policy.allow"
        if server.always_load:
            return Exposure.DIRECT, "alwaysLoad"
        if matches(tool_id, self._direct):
            return Exposure.DIRECT, "directTools"
        return Exposure.CATALOG, ""

    def rules(self, owner: str) -> tuple[object, ...]:
        """All that the exposure of one owner's tools depends on besides the tools. Equal rules, equal exposure."""
        server = self._servers[owner]
        filters = (server.include_tools, server.exclude_tools, server.always_load, server.trusted)
        return (self._allow, self._deny, self._direct, self._pins, *filters)

    def pinned_upstream(self, owner: str) -> PinnedUpstream | None:
        """What the owner's pins are kept under; None when it is not configured any more."""
        server = self._servers.get(owner)
        return PinnedUpstream(owner, server.fingerprint) if server else None

    def may_publish_directly(self) -> frozenset[str]:
        """The owners whose tools may be direct-only, which the first `tools/list` must know of."""
        return frozenset(
            owner
            for owner, server in self._servers.items()
            if server.always_load or any(could_match(pattern, f"mcp:{owner}:") for pattern in self._direct)
        )
