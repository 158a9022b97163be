"""What a gateway is made of, and what it has published to callers who may not see all of it. `server.standing` makes it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from index import Near, Tool, Unresolved
from server.access import Access, Accesses, Caller, Verdict
from server.answers import unresolved, upstream_words
from server.approvals import Approvals, definition_digest
from server.calling import CallPath
from server.clearance import Clearing
from server.config import GatewaySettings, ServerEntry
from server.errors import GatewayError
from server.hooks import Hook
from server.library import Library, Snapshot
from server.publishing import Publisher
from server.redaction import Redactor
from server.surface import NOTHING_PUBLISHED, Surface
from server.telemetry import Sink
from upstream_clients import UNNAMED, JsonObject, State, UpstreamStatus


@dataclass(frozen=True, slots=True)
class Parts:
    """What a gateway is made of. A change of the configuration makes new ones, which are exchanged at once.

    `node` is its id among gateways, `gateways` are the ids of those that are its upstreams, by owner. `publisher` is for
    what callers see who may not see all; what all others see, the library has published.
    """

    servers: Mapping[str, ServerEntry]
    settings: GatewaySettings
    library: Library
    calls: CallPath
    instructions: Callable[[str], str]
    node: str
    gateways: Callable[[], Mapping[str, str]]
    statuses: Callable[[], Mapping[str, UpstreamStatus]]
    want: Callable[[str], None]
    is_ready: Callable[[str], bool]
    hurry: Callable[[str], Awaitable[None]]
    redact: Redactor
    near: Callable[[], Near | None]
    on_call: Callable[[], None]
    accesses: Accesses
    publisher: Publisher
    hook: Hook | None
    approvals: Approvals
    sinks: tuple[Sink, ...] = ()

    def count(self, limit: int | None) -> int:
        """How many hits a search that wants so many is given."""
        settings = self.settings.tool_search
        return max(1, min(limit or settings.search_default_limit, settings.max_search_limit))

    def shows_hints(self, tool: Tool) -> bool:
        server = self.servers.get(tool.upstream)
        return tool.trusted or "safe" in (self.settings.hints, server.hints if server else "off")

    def words_of(self, upstream: str) -> JsonObject:
        """What the upstream says of itself, fit to be shown."""
        return upstream_words(upstream, self.instructions(upstream), self.settings.pins)

    def redacted(self, status: UpstreamStatus) -> UpstreamStatus:
        return replace(status, error=self.redact(status.error), hint=self.redact(status.hint))

    def reachable(self, access: Access) -> list[UpstreamStatus]:
        """The upstreams of which the caller may hear."""
        return [self.redacted(status) for status in self.statuses().values() if access.may_reach(status.owner)]

    def running_gateways(self, access: Access) -> list[str]:
        """Those that may have kept a part of a result: gateways of our kind, which nothing has stopped."""
        ready = {status.owner for status in self.reachable(access) if status.state is State.READY}
        return [owner for owner, node in self.gateways().items() if node != UNNAMED and owner in ready]

    def clearing(self, tool: Tool, caller: Caller, current: "Current") -> Clearing | None:
        """What stands before a call of the tool; None where nothing does. By the rules of now, however long it took to find.

        Raises:
            GatewayError: the policy blocks it, or does not let it be seen any more.
        """
        access = self.accesses.of(caller)
        if self.hook is None and access.sees_all and access.allows_all:
            return None
        if not access.sees(tool):
            raise unresolved(Unresolved(tool.id, ambiguous=False, candidates=()), current.surface(access))
        if access.verdict(tool) is Verdict.BLOCK:
            hint = "Do without it. Only the operator can change that, in the configuration of toolfold."
            raise GatewayError("blocked_by_policy", f"{tool.id} was not called: the policy blocks it.", hint)
        if self.hook is None and access.allows_all:
            return None
        still_holds = partial(current.still_holds, tool, access, caller)
        return Clearing(access, caller, self.hook, self.approvals, self.redact, still_holds)


_Kind: TypeAlias = tuple[tuple[str, ...], bool]
"""The profiles that apply to a caller, and whether it is the owner."""


@dataclass(frozen=True, slots=True)
class _View:
    """What callers of one kind see, and what it was made of."""

    surface: Surface
    whole: Surface
    publisher: Publisher


@dataclass(slots=True)
class Current:
    """What every view of one gateway shares: its parts now, and what was published to callers of each kind."""

    parts: Parts
    _views: dict[_Kind, _View] = field(default_factory=dict)

    def surface(self, access: Access) -> Surface:
        """What is published to these callers. A name once given to them stands for that one tool, whatever changes."""
        snapshot, publisher = self.parts.library.snapshot, self.parts.publisher
        if access.sees_all:
            return snapshot.surface
        kind = access.profiles, access.is_owner
        known = self._views.get(kind)
        if known is None or known.whole is not snapshot.surface or known.publisher is not publisher:
            former = known.surface if known else NOTHING_PUBLISHED
            known = self._views[kind] = self._viewed(snapshot, former, access)
        return known.surface

    def still_holds(self, tool: Tool, access: Access, caller: Caller) -> bool:
        """Whether what was cleared under this access is the tool that there is now, and may be called no less freely."""
        by_now = self.parts.accesses.of(caller)
        now = self.parts.library.snapshot.catalog.resolve(tool.id, by_now.sees)
        if not isinstance(now, Tool):
            return False
        is_same = now.definition is tool.definition or definition_digest(now) == definition_digest(tool)
        return is_same and by_now.verdict(now) <= access.verdict(tool)

    def _viewed(self, snapshot: Snapshot, former: Surface, access: Access) -> _View:
        publisher = self.parts.publisher
        surface = publisher.view(snapshot.catalog, snapshot.listed, former.direct, access)
        return _View(surface, snapshot.surface, publisher)
