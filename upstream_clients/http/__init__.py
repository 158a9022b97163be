"""Connections to an address: streamable HTTP through the SDK's transport, and the older HTTP with SSE.

The only part of this room that imports the SDK and httpx2. It takes over a second of processor time to import: only
`upstream_clients.connection` does so, in a worker thread, when the first address is connected to.
"""

import logging

import mcp  # noqa: F401  (whole and first, as in server.sdk: two threads that begin at different parts would wait in a circle)

from upstream_clients.http.connection import HttpOpener

# The SDK's transport logs the content of messages that it can't read, httpx2 the address of each request.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL + 1)
logging.getLogger("httpx2").setLevel(logging.WARNING)

__all__ = ["HttpOpener"]
