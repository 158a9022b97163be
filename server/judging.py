"""What becomes of each tool of a listing: the policy's word first, then what was accepted of its upstream before.

Every listing comes through here, live or stored, in a worker thread. A tool that policy hides is not looked at further:
nobody can see it, so nobody need be warned of it.
"""

from dataclasses import replace
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from index import Classify, Exposure, JsonObject, Judgement, Listing
from server.config import GatewaySettings
from server.keeper import ListingKeeper
from server.pins import Accepted, Difference, Pins
from server.policy import Policy

LOOK_SECONDS: Final = 1.0
"""Between two looks at whether a person has accepted something: as soon as an edit of the configuration is seen."""

WARNINGS: Final = {
    Difference.NEW: "it is new since its upstream's tools were accepted",
    Difference.CHANGED: "it has changed since it was accepted",
}


class Judge:
    """Judges one listing after another, by the policy and the pins of one configuration."""

    def __init__(self, policy: Policy, pins: Pins, settings: GatewaySettings) -> None:
        self._policy = policy
        self._pins = pins
        self._mode = settings.pins

    def __call__(self, listing: Listing) -> Classify:
        upstream = None if self._mode == "off" else self._policy.pinned_upstream(listing.upstream)
        accepted = None if upstream is None else self._pins.review(upstream, listing.tools)
        return partial(self._judge, listing.upstream, accepted)

    def _judge(self, owner: str, accepted: Accepted | None, tool_id: str, definition: JsonObject) -> Judgement:
        judgement = Judgement(*self._policy.exposure(owner, tool_id, definition))
        if accepted is None or judgement.exposure is Exposure.HIDDEN:
            return judgement
        difference = accepted.difference(definition)
        if difference is None:
            return judgement
        warning = WARNINGS[difference]
        if self._mode == "strict":
            return Judgement(Exposure.QUARANTINED, warning, warning)
        return replace(judgement, warning=warning)


async def follow_pins(pins: Pins, keeper: ListingKeeper) -> None:
    """Has the tools judged anew of which a person has accepted something. Ends only by cancellation."""
    while True:
        await anyio.sleep(LOOK_SECONDS)
        keeper.relist(await anyio.to_thread.run_sync(pins.changed_since_looked_at, abandon_on_cancel=True))
