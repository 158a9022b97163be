"""Who may see and call what: the one place where the operator's filters are asked.

Decides per tool when a listing comes in; the answer is kept in the catalogue, so that search, describe and call can't
disagree. Exclusion wins over inclusion at every level.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from index import Exposure
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
        if _matches(name, server.exclude_tools):
            return Exposure.HIDDEN, "excluded by excludeTools"
        if server.include_tools and not _matches(name, server.include_tools):
            return Exposure.HIDDEN, "not among includeTools"
        if why := self.refusal(tool_id):
            return Exposure.HIDDEN, why
        if server.always_load:
            return Exposure.DIRECT, "alwaysLoad"
        if _matches(tool_id, self._direct):
            return Exposure.DIRECT, "directTools"
        return Exposure.CATALOG, ""

    def refusal(self, tool_id: str) -> str:
        """Why `gateway.policy` keeps back what has this id, whatever its source; empty if it does not."""
        if _matches(tool_id, self._deny):
            return "denied by gateway.policy.deny"
        return "" if _matches(tool_id, self._allow) else "not allowed by gateway.policy.allow"

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
            if server.always_load or any(_could_match(pattern, f"mcp:{owner}:") for pattern in self._direct)
        )


def _matches(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _could_match(pattern: str, prefix: str) -> bool:
    """Whether the pattern could match an id that begins with `prefix`. Errs towards yes."""
    literal = pattern.split("*", maxsplit=1)[0].split("?", maxsplit=1)[0].split("[", maxsplit=1)[0]
    return literal.startswith(prefix) or prefix.startswith(literal)
