"""What becomes of each tool of a listing: the policy's word first, then what was accepted of its upstream before.

Every listing comes through here, live or stored, in a worker thread. A tool that policy hides is not looked at further:
nobody can see it, so nobody need be warned of it. What was accepted is not looked at further either, so that only what is
new or changed costs anything, and a person's word stands.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from index import Catalog, Classify, Exposure, JsonObject, Judgement, Listing, appearance, tool_id
from server.config import GatewaySettings
from server.keeper import ListingKeeper
from server.pins import Accepted, Difference, Pins
from server.policy import Policy
from server.surface import OUR_NAMES
from server.suspicion import suspicion

LOOK_SECONDS: Final = 1.0
"""Between two looks at whether a person has accepted something: as soon as an edit of the configuration is seen."""

WARNINGS: Final = {
    Difference.NEW: "it is new since its upstream's tools were accepted",
    Difference.CHANGED: "it has changed since it was accepted",
}

_OUR_APPEARANCES: Final = {appearance(name): name for name in OUR_NAMES}


@dataclass(frozen=True, slots=True)
class Company:
    """A listing among all others: by what they look like, its own names; what only others' tools are called; and whatever
    else is catalogued."""

    upstream: str
    owner: str
    own: Mapping[str, frozenset[str]] = field(repr=False)
    elsewhere: frozenset[str] = field(repr=False)
    catalog: Catalog
    is_gateway: bool = False

    def doubt(self, definition: JsonObject) -> str:
        """Why the tool is suspicious, as the end of a sentence; empty where it is not."""
        name = str(definition.get("name"))
        if taken_for := self.look_alike(name):
            return f"its name looks like {taken_for}"
        if self.is_gateway:
            definition = {**definition, "name": _bare(name)}  # an id names this tool, and no other
        return suspicion(definition, self.elsewhere)

    def look_alike(self, name: str) -> str:
        """What the name could be taken for; empty for nothing."""
        bare_name = _bare(name)
        looks = appearance(bare_name)
        if ours := _OUR_APPEARANCES.get(looks):
            return f"toolfold's own {ours}"
        if siblings := self.own.get(appearance(name), frozenset()) - {name}:
            return min(siblings)
        other = self.catalog.look_alike(self.owner, bare_name)
        return other.id if other else ""


class Judge:
    """Judges one listing after another, by the policy and the pins of one configuration."""

    def __init__(self, policy: Policy, pins: Pins, settings: GatewaySettings) -> None:
        self._policy = policy
        self._pins = pins
        self._mode = settings.pins

    def __call__(self, listing: Listing, catalog: Catalog) -> Classify:
        upstream = None if self._mode == "off" else self._policy.pinned_upstream(listing.upstream)
        if upstream is None:
            return partial(self._exposure, listing.upstream)
        elsewhere = catalog.names_elsewhere(listing.owner).difference(map(str.lower, _names(listing.tools)))
        like = self._by_appearance(listing)
        company = Company(listing.upstream, listing.owner, like, elsewhere, catalog, listing.gateway)
        accepted = self._pins.review(upstream, listing.tools, company.doubt)
        return partial(self._judge, company, accepted)

    def _exposure(self, owner: str, tool_id: str, definition: JsonObject) -> Judgement:
        return Judgement(*self._policy.exposure(owner, tool_id, definition))

    def _judge(self, company: Company, accepted: Accepted, tool_id: str, definition: JsonObject) -> Judgement:
        judgement = self._exposure(company.upstream, tool_id, definition)
        difference = None if judgement.exposure is Exposure.HIDDEN else accepted.difference(definition)
        if difference is None:
            return judgement
        warning = _warning(difference, company.doubt(definition))
        if self._mode == "strict":
            return Judgement(Exposure.QUARANTINED, warning, warning)
        return replace(judgement, warning=warning)

    def _by_appearance(self, listing: Listing) -> Mapping[str, frozenset[str]]:
        """The names that look alike within a listing, of tools that can be seen."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name in _names(listing.tools):
            found[appearance(name)].add(name)
        return {looks: self._seen(listing, names) for looks, names in found.items() if len(names) > 1}

    def _seen(self, listing: Listing, names: Iterable[str]) -> frozenset[str]:
        exposures = {
            name: self._policy.exposure(listing.upstream, tool_id(listing.source, listing.owner, name), {"name": name})[
                0
            ]
            for name in names
        }
        return frozenset(name for name, exposure in exposures.items() if exposure is not Exposure.HIDDEN)


async def follow_pins(pins: Pins, keeper: ListingKeeper) -> None:
    """Has the tools judged anew of which a person has accepted something. Ends only by cancellation."""
    while True:
        await anyio.sleep(LOOK_SECONDS)
        keeper.relist(await anyio.to_thread.run_sync(pins.changed_since_looked_at, abandon_on_cancel=True))


def _bare(name: str) -> str:
    """Behind a gateway a name is an id there."""
    return name.rpartition(":")[2]


def _warning(difference: Difference, doubt: str) -> str:
    if not doubt:
        return WARNINGS[difference]
    suspicious = f"it is suspicious: {doubt}"
    return suspicious if difference is Difference.NEW else f"{WARNINGS[difference]}, and {suspicious}"


def _names(tools: Iterable[object]) -> Iterable[str]:
    names = (tool.get("name") for tool in tools if isinstance(tool, dict))
    return (name for name in names if isinstance(name, str) and name.isascii())
