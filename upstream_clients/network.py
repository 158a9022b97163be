"""What every HTTP client of this room has in common: the way onto the network, and what its failures mean.

Imports httpx2, so it is itself imported only where something at an address is connected to.
"""

import re
import socket
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

from upstream_clients.errors import UpstreamDeclined, UpstreamError, UpstreamGone, UpstreamProtocolFault

CONNECT_SECONDS: Final = 10.0
"""The longest way around the world takes a tenth of it; whoever has not answered by then is not there."""

CONNECTIONS: Final = 100
KEPT_CONNECTIONS: Final = 4
KEPT_SECONDS: Final = 3.0
"""Calls that follow each other use one; the rest is closed when idle, and before servers on Node do so, after 5 s."""

BUSY: Final = "Try again later."


def network(authorities: ssl.SSLContext) -> httpx2.AsyncBaseTransport:
    limits = httpx2.Limits(
        max_connections=CONNECTIONS, max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEPT_SECONDS
    )
    return httpx2.AsyncHTTPTransport(verify=authorities, trust_env=False, limits=limits)


def certificates() -> ssl.SSLContext:
    """Those of the system, or of SSL_CERT_FILE. Reading them blocks for tens of milliseconds."""
    return httpx2.create_ssl_context(trust_env=True)


def why_broken(error: httpx2.HTTPError, host: str) -> tuple[UpstreamError, bool]:
    """What the network failed at, and whether any other request would fail as well."""
    if isinstance(error, httpx2.ConnectTimeout):
        return unreachable(host), True
    if isinstance(error, httpx2.ConnectError):
        return not_connected(_cause(error), host), True
    if isinstance(error, httpx2.PoolTimeout):
        return UpstreamError("too many requests to it are under way", hint=BUSY), False
    if isinstance(error, httpx2.LocalProtocolError):
        return UpstreamDeclined("the request cannot be written as HTTP", hint='Look at its "headers".'), False
    return UpstreamGone("its connection was cut before it had answered", ran=True), False


def unreachable(host: str) -> UpstreamError:
    hint = "Look whether the server runs and the network lets you through."
    return UpstreamGone(f"no connection to {host} within {CONNECT_SECONDS:g} s", hint=hint)


def not_connected(cause: BaseException, host: str) -> UpstreamError:
    """Why there is no connection, by the system's own error."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        hint = "Mend the certificate, or name the authority that signed it in SSL_CERT_FILE."
        return UpstreamGone(f"the certificate of {host} is not accepted: {cause.verify_message}", hint=hint)
    if isinstance(cause, ssl.SSLError):
        return UpstreamGone(f"no TLS with {host}", hint="If it has none, write http:// in its address.")
    if isinstance(cause, socket.gaierror):
        return UpstreamGone(f"the name {host} is not known", hint='Correct the host in "url", or look at the network.')
    hint = "Start the server, or correct the host and the port in its address."
    return UpstreamGone(f"{host} does not take connections", hint=hint)


def compressed() -> UpstreamError:
    """We ask for none: a small body that unpacks to a huge one would pass every limit."""
    return UpstreamProtocolFault("its answer is compressed, which was not asked for", ran=True)


def too_large(limit: int) -> UpstreamError:
    return UpstreamProtocolFault(
        f"it sent a message over the limit of {limit} bytes", hint="Raise gateway.limits.lineBytes.", ran=True
    )


def wait_asked_for(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for; None if it does not say."""
    if value is None:
        return None
    if re.fullmatch(r"\d{1,6}", value.strip()):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the latter for a time zone beyond all bounds
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _cause(error: BaseException) -> BaseException:
    """The system's own error under the library's wrappings."""
    for _ in range(8):
        below = error.__cause__ or error.__context__
        if below is None or isinstance(error, OSError):
            return error
        if isinstance(below, BaseExceptionGroup):
            below = below.exceptions[0]
        error = below
    return error
