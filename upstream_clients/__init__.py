"""Connections to upstream MCP servers: bounded transports, one owner task each, raw listings and raw results.

Never ranks, never authorises, never knows the host. Reports outward through the callables it is given.
"""

from upstream_clients.chain import HOLDER_META, MOST_HOPS, PATH_META, UNNAMED, mark_of, new_node, path_in
from upstream_clients.connection import Target
from upstream_clients.endpoint import Endpoint, HeadersHelper
from upstream_clients.era import Era, Protocol
from upstream_clients.errors import (
    UpstreamDeclined,
    UpstreamDown,
    UpstreamError,
    UpstreamGone,
    UpstreamOverloaded,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamStalled,
    UpstreamTimeout,
    UpstreamUnauthorized,
)
from upstream_clients.fleet import Fleet, open_fleet
from upstream_clients.framing import JsonObject, LineSplitter, NotAMessage, dump, parse, sayable
from upstream_clients.openclaw import (
    CORE_OWNER,
    DIRECT_META,
    KNOWN_TOOLS,
    OWNER_META,
    UNAVAILABLE_META,
    OpenClawGateway,
    is_loopback,
)
from upstream_clients.peer import Patience, Progress
from upstream_clients.platform import process_birth
from upstream_clients.platform.threaded_pipes import ThreadedReader, ThreadedWriter
from upstream_clients.process import Launch
from upstream_clients.program import Program, run_program
from upstream_clients.status import State, UpstreamListing, UpstreamSpec, UpstreamStatus

__all__ = [
    "CORE_OWNER",
    "DIRECT_META",
    "HOLDER_META",
    "KNOWN_TOOLS",
    "MOST_HOPS",
    "OWNER_META",
    "PATH_META",
    "UNAVAILABLE_META",
    "UNNAMED",
    "Endpoint",
    "Era",
    "Fleet",
    "HeadersHelper",
    "JsonObject",
    "Launch",
    "LineSplitter",
    "NotAMessage",
    "OpenClawGateway",
    "Patience",
    "Program",
    "Progress",
    "Protocol",
    "State",
    "Target",
    "ThreadedReader",
    "ThreadedWriter",
    "UpstreamDeclined",
    "UpstreamDown",
    "UpstreamError",
    "UpstreamGone",
    "UpstreamListing",
    "UpstreamOverloaded",
    "UpstreamProtocolFault",
    "UpstreamRefused",
    "UpstreamSpec",
    "UpstreamStalled",
    "UpstreamStatus",
    "UpstreamTimeout",
    "UpstreamUnauthorized",
    "dump",
    "is_loopback",
    "mark_of",
    "new_node",
    "open_fleet",
    "parse",
    "path_in",
    "process_birth",
    "run_program",
    "sayable",
]
