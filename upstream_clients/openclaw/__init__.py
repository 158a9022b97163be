"""An OpenClaw Gateway as an upstream: it is asked for its tools in its own protocol, and answers the way an MCP server does.

The connection (`connection`) takes whole MCP messages and hands on whole MCP messages, so that everything above it is the
same as for any other upstream. It imports the libraries for HTTP and WebSockets: `upstream_clients.connection` does so
when the first Gateway is connected to. What is exported here is light.
"""

from upstream_clients.openclaw.rules import KNOWN_TOOLS
from upstream_clients.openclaw.target import (
    CORE_OWNER,
    DIRECT_META,
    OWNER_META,
    UNAVAILABLE_META,
    OpenClawGateway,
    Profile,
    Visibility,
    is_loopback,
)

__all__ = [
    "CORE_OWNER",
    "DIRECT_META",
    "KNOWN_TOOLS",
    "OWNER_META",
    "UNAVAILABLE_META",
    "OpenClawGateway",
    "Profile",
    "Visibility",
    "is_loopback",
]
