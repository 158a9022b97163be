"""What gateways say to each other: the mark by which one is known, the path of a request, the road to what is behind one.

Knows the words and how a call is put into them. Sends nothing, and knows nothing of what is behind a gateway.

Laws
1. Every gateway has a random id. It adds that to the path of each request that it makes of another gateway, and of no
   other server: a gateway that finds itself in a path refuses the request.
2. A path has at most MOST_HOPS ids.
3. A call through a gateway is one call of its one tool; name and arguments stay whole inside.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from upstream_clients.era import Greeting
from upstream_clients.framing import JsonObject

GATEWAY_MARK: Final = "toolfold/gateway"
"""Among the experimental capabilities of a greeting: `{"node": ID}`. Nothing that a host looks at has it."""

PATH_META: Final = "toolfold/path"
"""In `_meta` of requests: the ids of the gateways that they came through, the last one last. In `_meta` of a listed tool:
the ids of the gateways that it is behind, the nearest one first."""

HOLDER_META: Final = "toolfold/holder"
"""In `_meta` of calls: a word for whom a gateway calls, so that what is kept of a result behind it is kept for that one."""

_OF_GATEWAYS: Final = frozenset({PATH_META, HOLDER_META})
"""No other server is told these."""

MOST_HOPS: Final = 4
"""Gateways in a row, ourselves among them: a person's, a team's, a company's and one more. Each costs a start, an index
and some milliseconds; a longer row is a loop that could not be seen otherwise."""

UNNAMED: Final = "unnamed"
"""Stands for the id of a gateway that has no mark of ours."""

LONGEST_NODE: Final = 64
NODE_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Road:
    """How to call what is behind a gateway: one tool of its own, that takes an id and arguments.

    `node` is the gateway's id; `plain` are its other tools, which are called by their names.
    """

    node: str
    tool: str = "tool_call"
    id_key: str = "id"
    arguments_key: str = "args"
    plain: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Chaining:
    """What of chains concerns one upstream: our own id, and whether it is a gateway (None: it is looked at)."""

    node: str
    gateway: bool | None = None


def new_node() -> str:
    """An id for a gateway, for as long as its process lives."""
    return secrets.token_hex(NODE_BYTES)


def mark_of(node: str) -> dict[str, JsonObject]:
    """The experimental capabilities of this gateway."""
    return {GATEWAY_MARK: {"node": node}}


def marked_node(greeting: Greeting) -> str:
    """The id of the gateway that greets; empty for any other server, and for a gateway without our mark."""
    experimental = greeting.capabilities.get("experimental")
    mark = experimental.get(GATEWAY_MARK) if isinstance(experimental, dict) else None
    node = mark.get("node") if isinstance(mark, dict) else None
    return node if isinstance(node, str) and 0 < len(node) <= LONGEST_NODE else ""


def path_in(meta: object) -> tuple[str, ...] | None:
    """The path in a `_meta`; None where there is none. Whatever is no path counts as one without end.

    The ids are the senders' own words: they are compared and counted, and shown nowhere.
    """
    path = meta.get(PATH_META) if isinstance(meta, dict) else None
    if path is None:
        return None
    if not isinstance(path, list) or len(path) > MOST_HOPS:
        return ("",) * (MOST_HOPS + 1)
    return tuple(node if isinstance(node, str) and len(node) <= LONGEST_NODE else "" for node in path)


def call_params(
    road: Road | None, node: str, name: str, arguments: JsonObject, meta: Mapping[str, object]
) -> JsonObject:
    """The params of a `tools/call`. The path goes to gateways alone."""
    if road is None or name in road.plain:
        params: JsonObject = {"name": name, "arguments": arguments}
        is_told = PATH_META in meta or HOLDER_META in meta
        carried = {key: value for key, value in meta.items() if key not in _OF_GATEWAYS} if is_told else meta
    else:
        params = {"name": road.tool, "arguments": {road.id_key: name, road.arguments_key: arguments}}
        carried = {**meta, PATH_META: [*(path_in(meta) or ()), node]}
    return {**params, "_meta": carried} if carried else params
