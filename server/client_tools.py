"""The tools that the host runs itself: in the catalogue like all others, and never called from here.

They are the operator's own words, so they are trusted. One whose name a catalogue tool has, too, is refused with both ids: a
model that calls by that name could get either. The catalogue tool stays, because its upstream is what was connected.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from index import Catalog, Exposure, JsonObject, Judgement, Listing, Tool, signature
from server.config import ClientTool
from server.errors import GatewayError
from server.policy import Policy
from server.surface import OUR_NAMES

CLIENT: Final = "client"
"""Their source, and their one owner."""

HOST: Final = f"{CLIENT}:{CLIENT}"
"""Stands where another tool has its upstream; no upstream can be called so."""


RENAME: Final = "give it another name in the host and in gateway.clientTools, or take it out there."


class ClientTools:
    """Those of one configuration."""

    def __init__(self, tools: Iterable[ClientTool], policy: Policy) -> None:
        definitions: list[JsonObject] = [
            {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
            for tool in tools
        ]
        self._listing = Listing(CLIENT, CLIENT, tuple(definitions), trusted=True, via=HOST)
        self._policy = policy

    def added_to(self, catalog: Catalog) -> Catalog:
        """The catalogue with them in it, each judged by what else is there."""
        if not self._listing.tools:
            return catalog.without(CLIENT, CLIENT)
        taken = {tool.name: tool.id for tool in catalog.reachable() if tool.source != CLIENT}
        ours = {name: f"toolfold's own {name}" for name in OUR_NAMES}
        return catalog.with_listing(self._listing, partial(self._judge, ours | taken))

    def _judge(self, taken: Mapping[str, str], tool_id: str, definition: JsonObject) -> Judgement:
        if why := self._policy.refusal(tool_id):
            return Judgement(Exposure.HIDDEN, why)
        other = taken.get(str(definition["name"]))
        if other is None:
            return Judgement()
        return Judgement(Exposure.QUARANTINED, f"its name is taken, by {other}")


def run_by_the_host(tool: Tool) -> GatewayError:
    """The answer to a call of one through the gateway."""
    how = f"Call {tool.name} directly, with {signature(tool.input_schema)}."
    return GatewayError("client_tool", f"{tool.id} is a tool of the host, and is not run here.", how)


def refused(tool: Tool) -> GatewayError:
    """The answer to whoever asks for one that is quarantined."""
    return GatewayError("tool_refused", f"{tool.id} can't be used: {tool.reason}.", f"A person can help: {RENAME}")
