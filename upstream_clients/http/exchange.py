"""One message on its way over HTTP, and the leash by which its exchange is cut when nobody waits for it any more."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

import anyio
import httpx2

from upstream_clients.framing import JsonObject


class Leash:
    """Bounds what is done for one message. `cut` ends the step under way and every later one."""

    def __init__(self) -> None:
        self._scope: anyio.CancelScope | None = None
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def step(self, seconds: float | None = None) -> Iterator[None]:
        """One stretch of waiting, in one task. Look at `is_cut` afterwards: it may have ended early."""
        deadline = float("inf") if seconds is None else anyio.current_time() + seconds
        scope = self._scope = anyio.CancelScope(deadline=deadline)
        if self.is_cut:
            scope.cancel()
        try:
            with scope:
                yield
        finally:
            self._scope = None
        self.is_cut = self.is_cut or scope.cancelled_caught


@dataclass(frozen=True, slots=True)
class Sending:
    """A message that is being sent. With `is_answered_here` its answer comes on the same exchange."""

    message: JsonObject = field(repr=False)
    is_answered_here: bool
    leash: Leash = field(default_factory=Leash)
    cuts: Leash | None = None  # of the request that this message cancels

    @property
    def request_id(self) -> int | None:
        """Of a request of ours; None for a notification and for an answer to the server."""
        number = self.message.get("id")
        return number if type(number) is int and "method" in self.message else None

    @property
    def is_handshake(self) -> bool:
        return self.message.get("method") == "initialize"


SENDING: Final[ContextVar[Sending | None]] = ContextVar("SENDING", default=None)
"""What the current task sends. The SDK's transport carries the sender's context to the task that speaks HTTP."""


class LeashedStream(httpx2.AsyncByteStream):
    """The body of a response, for as long as it is awaited."""

    def __init__(self, body: httpx2.AsyncByteStream, leash: Leash) -> None:
        self._body = body
        self._leash = leash

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._body)
        while True:
            chunk = None
            with self._leash.step():
                chunk = await anext(chunks, b"")
            if self._leash.is_cut or chunk is None:
                raise httpx2.ReadError("no longer awaited")
            if not chunk:
                return
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()
