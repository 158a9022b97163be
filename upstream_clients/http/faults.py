"""What went wrong over HTTP, in our own words: from statuses and the library's exceptions to errors and what follows.

Pure. No text of a response's body, no header and no query ever comes into a message; what a redirect or a content
type says is cut short.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import httpx2

from upstream_clients.errors import (
    SessionEnded,
    UpstreamDeclined,
    UpstreamError,
    UpstreamProtocolFault,
    UpstreamUnauthorized,
)
from upstream_clients.network import BUSY, why_broken

ADDRESS_HINT: Final = 'Correct "url": the path is often /mcp, or /sse for older servers.'

_SESSION_IS_GONE: Final = re.compile(
    r"session\b.{0,80}\b(?:terminated|expired|not found|unknown|invalid|does not exist|closed)|"
    r"(?:unknown|invalid|expired|no valid|no such|missing)\b.{0,20}\bsession",
    re.IGNORECASE,
)


class Then(Enum):
    """What a failure means for the connection."""

    GO_ON = auto()
    END = auto()  # it can't be used any more
    RENEW = auto()  # the server has forgotten our session, and has not looked at the request
    SWITCH = auto()  # this may be a server of the other transport


class Fault(Exception):
    """A request that failed, and what that means for the connection."""

    def __init__(self, error: UpstreamError, then: Then = Then.GO_ON) -> None:
        super().__init__(error.message)
        self.error = error
        self.then = then


def says_session_is_gone(text: str) -> bool:
    return _SESSION_IS_GONE.search(text[:400]) is not None


def session_ended() -> Fault:
    return Fault(SessionEnded("its server does not know our session any more"), Then.RENEW)


@dataclass(frozen=True, slots=True)
class _Meaning:
    text: str
    hint: str = ""
    ran: bool = False


OF_ANOTHER_PROTOCOL: Final = frozenset((400, 404, 405, 406, 415, 501))
"""What a server answers to a greeting that it does not understand: of the other transport, or of the other era."""

_STATUSES: Final[Mapping[int, _Meaning]] = {
    403: _Meaning("it refuses this with what it was given", "Look whether its token may do this."),
    404: _Meaning("there is nothing at its address", ADDRESS_HINT),
    405: _Meaning("its address does not take MCP messages", ADDRESS_HINT),
    406: _Meaning("its address does not take MCP messages", ADDRESS_HINT),
    408: _Meaning("it waited too long for the request", BUSY, ran=True),
    413: _Meaning("the arguments are larger than it takes", "Send less at once."),
    429: _Meaning("it has had too many requests", BUSY),
    500: _Meaning("it failed inside", "Its own log says why.", ran=True),
    502: _Meaning("what stands before it had no good answer from it", BUSY, ran=True),
    503: _Meaning("it is not available now", BUSY),
    504: _Meaning("what stands before it had no answer from it in time", BUSY, ran=True),
}


def refused_by(status: int) -> UpstreamError:
    """A status that no more is known of."""
    meaning = _STATUSES.get(status) or _Meaning("its answer is no MCP message", ADDRESS_HINT, ran=status < 400)
    return _kind(status)(f"{meaning.text} (HTTP {status})", hint=meaning.hint, ran=meaning.ran)


def _kind(status: int) -> type[UpstreamError]:
    if status in OF_ANOTHER_PROTOCOL:
        return UpstreamProtocolFault
    return UpstreamDeclined if 400 <= status < 500 and status not in (408, 429) else UpstreamError


def unauthorized(*, has_helper: bool, has_credentials: bool) -> Fault:
    if has_helper:
        hint = "Run its headersHelper by hand: what it prints was refused."
    elif has_credentials:
        hint = 'Renew the token in its "headers", or the variable that it comes from.'
    else:
        hint = 'Give its entry "headers" with a token, or a "headersHelper" that prints them.'
    error = UpstreamUnauthorized("it wants to know who asks, and took nothing it was given (HTTP 401)", hint=hint)
    return Fault(error, Then.END)


def wrong_content(content_type: str) -> Fault:
    kind = re.sub(r"[^\w/+.-]", "", content_type.partition(";")[0])[:60] or "no content type"
    error = UpstreamProtocolFault(f"its answer is {kind}, which is no MCP message", hint=ADDRESS_HINT, ran=True)
    return Fault(error)


def unanswered() -> Fault:
    return Fault(UpstreamProtocolFault("it took the request and gave no answer (HTTP 202)", ran=True))


def redirected(location: httpx2.URL | None, *, again: bool) -> Fault:
    if location is None:
        return Fault(UpstreamProtocolFault("it redirects to nowhere", hint=ADDRESS_HINT))
    if again:
        return Fault(UpstreamError("it redirects from one address to the next without end", hint=ADDRESS_HINT))
    place = str(location.copy_with(userinfo=b"", query=None, fragment=None))[:200]
    hint = 'Nothing was sent there. If that is the server that you mean, write its address as "url".'
    return Fault(UpstreamError(f"it redirects to {place}", hint=hint))


def broken(error: httpx2.HTTPError, host: str) -> Fault:
    """A request that the network failed. It ends the connection where no other request would fare better."""
    failure, is_over = why_broken(error, host)
    return Fault(failure, Then.END if is_over else Then.GO_ON)
