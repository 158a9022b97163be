"""How a running gateway fares, as one plain document: for the state file, `toolfold status` and `toolfold list`."""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from index import NOTHING, Tally, Tool
from server.app import Running
from server.clean import escaped, one_line
from server.surface import Surface
from upstream_clients import JsonObject, UpstreamStatus

NAMED_TOOLS: Final = 50
"""Tools named with what is wrong with them; the rest is counted."""


def describe_state(running: Running, surface: Surface | None = None) -> JsonObject:
    """Upstreams, catalogue, the mode in force and the published names: those of `surface`, or else of the owner's."""
    catalog, surface = running.library.snapshot.catalog, surface or running.gateway.surface()
    tallies, gateways = catalog.tallies(), running.keeper.gateways()
    total = sum((Counter(tally.exposures) for tally in tallies.values()), Counter[str]())
    warned = [tool for tally in tallies.values() for tool in tally.warned]
    return {
        "upstreams": [
            describe_upstream(status, tallies.get(owner, NOTHING)) | ({"gateway": True} if owner in gateways else {})
            for owner, status in running.statuses().items()
        ],
        "catalogue": {
            "generation": catalog.generation,
            "tools": dict(total),
            "quarantined": _reasons(tool for tally in tallies.values() for tool in tally.quarantined),
            "unavailable": _reasons(tool for tally in tallies.values() for tool in tally.unavailable),
            "warned": {tool.id: tool.warning for tool in warned[:NAMED_TOOLS]},
        },
        "published": [tool["name"] for tool in surface.tools],
        "mode": surface.mode_as_written,
        **({"chosen_because": surface.why} if surface.why else {}),
    }


def _reasons(tools: Iterable[Tool]) -> dict[str, str]:
    """By id, in which what nobody sees is written out: it must not pass for another tool's."""
    return {one_line(escaped(tool.id), 200): one_line(tool.reason, 200) for tool in islice(tools, NAMED_TOOLS)}


def describe_upstream(status: UpstreamStatus, tally: Tally) -> JsonObject:
    """One upstream, its counts and, where it is down, since when and why."""
    described: JsonObject = {
        "upstream": status.owner,
        "state": str(status.state),
        "for_seconds": round(max(0.0, time.time() - status.since), 1),
        "tools": dict(tally.exposures),
        "cached": tally.cached,
        "starts": status.starts,
    }
    optional: JsonObject = {
        "pid": status.pid,
        "protocol": status.protocol_version,
        "error": one_line(status.error, 300),
        "hint": status.hint,
        "down_since": status.down_since,
        "next_try": status.next_try,
    }
    return described | {key: value for key, value in optional.items() if value}
