"""What can go wrong with an upstream, in one family. Each error has a stable code and a hint for whoever must act."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class UpstreamError(Exception):
    """An upstream failed or misbehaved.

    `ran` says whether the request may have had effects; `last_words` is what it printed on standard error before it ended.
    """

    code: ClassVar[str] = "upstream_error"

    def __init__(self, message: str, *, hint: str = "", ran: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.ran = ran
        self.last_words = ""

    def told_again(self, *, ran: bool) -> "UpstreamError":
        """The same failure for one more request: an exception that several tasks raise would mix up their tracebacks."""
        return type(self)(self.message, hint=self.hint, ran=ran)


class UpstreamDown(UpstreamError):
    """It is not connected: it failed to start, or it is waiting for its next try."""

    code = "upstream_down"


class UpstreamOverloaded(UpstreamError):
    """It has as many calls as it may have. The call was not sent."""

    code = "overloaded"


class UpstreamStalled(UpstreamError):
    """It has not answered for so long that it gets no calls for a while. The call was not sent."""

    code = "upstream_stalled"


class UpstreamGone(UpstreamError):
    """The connection ended while a request was under way."""

    code = "upstream_gone"


class SessionEnded(UpstreamGone):
    """The server does not know our session any more. Unless `ran` says otherwise, it has refused the request unseen."""


class UpstreamDeclined(UpstreamError):
    """This one request was not taken, for what it is or who sends it. It says nothing about others."""


class UpstreamUnauthorized(UpstreamError):
    """It wants other credentials than it was given."""

    code = "upstream_unauthorized"


class UpstreamTimeout(UpstreamError):
    """No answer, and no sign of progress, within the time allowed."""

    code = "upstream_timeout"


class Dismissed(UpstreamError):
    """We have ended the connection, because nobody used it."""

    code = "upstream_asleep"


class UpstreamProtocolFault(UpstreamError):
    """It sent something that is not acceptable JSON-RPC: an endless line, invalid UTF-8, NaN, too deep a document."""

    code = "upstream_protocol"


class UpstreamRefused(UpstreamError):
    """It answered the request with a JSON-RPC error, which is carried here as it came."""

    code = "upstream_refused"

    def __init__(self, rpc_code: int, message: str, data: object = None) -> None:
        super().__init__(message, ran=True)
        self.rpc_code = rpc_code
        self.data = data

    def told_again(self, *, ran: bool) -> "UpstreamRefused":
        return type(self)(self.rpc_code, self.message, self.data)


def first_error(group: BaseExceptionGroup[UpstreamError]) -> UpstreamError:
    """The failure that ended a task group, out of the group that carries it."""
    first = group.exceptions[0]
    return first_error(first) if isinstance(first, BaseExceptionGroup) else first


@contextmanager
def first_error_alone() -> Iterator[None]:
    """Lets the failure that ends a task group out as itself and not as a group.

    It is raised after the `except*`: CPython before 3.11.4 wraps whatever is raised inside one.
    """
    failure: UpstreamError | None = None
    try:
        yield
    except* UpstreamError as group:
        failure = first_error(group)
    if failure is not None:
        raise failure
