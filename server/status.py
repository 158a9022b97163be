"""How a running gateway fares, as one plain document: for the state file, `toolfold status` and `toolfold list`."""

import time
from collections import Counter
from typing import Final

from index import Exposure, Tool
from server.app import Running
from server.clean import one_line
from upstream_clients import JsonObject, UpstreamStatus

NAMED_TOOLS: Final = 50
"""Tools named with what is wrong with them; the rest is counted."""


def describe_state(running: Running) -> JsonObject:
    """Upstreams, catalogue, the mode in force and the published names."""
    catalog, surface = running.library.snapshot.catalog, running.gateway.surface()
    tools = catalog.tools()
    quarantined = [tool for tool in tools if tool.exposure is Exposure.QUARANTINED]
    warned = [tool for tool in tools if tool.warning]
    return {
        "upstreams": [describe_upstream(status, tools) for status in running.statuses().values()],
        "catalogue": {
            "generation": catalog.generation,
            "tools": dict(Counter(str(tool.exposure) for tool in tools)),
            "quarantined": {one_line(tool.id, 200): one_line(tool.reason, 200) for tool in quarantined[:NAMED_TOOLS]},
            "warned": {tool.id: tool.warning for tool in warned[:NAMED_TOOLS]},
        },
        "published": [tool["name"] for tool in surface.tools],
        "mode": "false" if surface.mode == "off" else surface.mode,
        **({"chosen_because": surface.why} if surface.why else {}),
    }


def describe_upstream(status: UpstreamStatus, tools: tuple[Tool, ...]) -> JsonObject:
    """One upstream, its counts and, where it is down, since when and why."""
    own = [tool for tool in tools if tool.owner == status.owner]
    described: JsonObject = {
        "upstream": status.owner,
        "state": str(status.state),
        "for_seconds": round(max(0.0, time.time() - status.since), 1),
        "tools": dict(Counter(str(tool.exposure) for tool in own)),
        "cached": any(tool.cached for tool in own),
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
