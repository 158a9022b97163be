"""What one connection's transport and its owner share: the messages that wait, those under way, and when to leave."""

from collections import deque
from collections.abc import Callable
from typing import Final

import anyio

from upstream_clients.connection import Receiver
from upstream_clients.endpoint import Endpoint
from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.http.exchange import Sending
from upstream_clients.http.faults import Fault, says_session_is_gone, session_ended

INVALID_REQUEST: Final = -32600
"""What servers and the SDK's transport say of a request of a session that is gone."""


class Link:
    """Both ends of the transport that is spoken now. Messages are sent in the order in which they were put."""

    def __init__(
        self,
        endpoint: Endpoint,
        receiver: Receiver,
        hidden: Callable[[str], str],
        on_fault: Callable[[Sending, Fault], None],
    ) -> None:
        self.endpoint = endpoint
        self._hidden = hidden
        self._on_fault = on_fault
        self.fault: Fault | None = None
        self.is_deaf = False
        self._receiver = receiver
        self._waiting: deque[JsonObject] = deque()
        self._under_way: dict[int, Sending] = {}
        self._news = anyio.Event()
        self._leaving = anyio.Event()
        self._quiet_seconds = 0.0

    def __repr__(self) -> str:
        return f"<Link {len(self._waiting)} waiting, {len(self._under_way)} under way>"

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def put(self, message: JsonObject) -> None:
        self._waiting.append(message)
        self._news.set()

    def put_back(self, message: JsonObject) -> None:
        """It was not taken: it is the first that the next transport sends."""
        self._settle(message.get("id"))
        self._waiting.appendleft(message)
        self._news.set()

    async def next(self, *, is_answered_here: bool) -> Sending:
        """The next message to send."""
        while not self._waiting or self._leaving.is_set():
            self._news = anyio.Event()
            await self._news.wait()
        message = self._waiting.popleft()
        cuts = None
        if message.get("method") == "notifications/cancelled":
            params = message.get("params")
            cancelled = self._settle(params.get("requestId") if isinstance(params, dict) else None)
            cuts = cancelled.leash if cancelled else None
        sending = Sending(message, is_answered_here, cuts=cuts)
        if sending.request_id is not None:
            self._under_way[sending.request_id] = sending
        return sending

    def receive(self, message: JsonObject) -> None:
        """A message of the server's. An answer to nothing is dropped: the SDK's transport makes one for each failure."""
        if "method" not in message:
            sending = self._settle(message.get("id"))
            if sending is None:
                return
            error = message.get("error")
            if isinstance(error, dict):
                text = str(error.get("message"))
                if error.get("code") == INVALID_REQUEST and says_session_is_gone(text):
                    self._on_fault(sending, session_ended())
                    return
                message = {**message, "error": {**error, "message": self._hidden(text)}}
        if not self.is_deaf:
            self._receiver.receive(message)

    def fail(self, request_id: int, error: UpstreamError) -> None:
        self._settle(request_id)
        if not self.is_deaf:
            self._receiver.fail(request_id, error)

    def fail_waiting(self, error: UpstreamError) -> None:
        """What has not been sent did not run."""
        while self._waiting:
            request_id = self._waiting.popleft().get("id")
            if isinstance(request_id, int):
                self.fail(request_id, error.told_again(ran=False))

    def leave(self, fault: Fault | None = None, *, quiet_seconds: float = 0.0) -> None:
        """The transport is to end; at the latest so long after now as others of its requests have no answer."""
        if not self._leaving.is_set():
            self.fault, self._quiet_seconds = fault, quiet_seconds
        self._leaving.set()

    async def left(self) -> None:
        """Returns when the transport is to end."""
        await self._leaving.wait()
        with anyio.move_on_after(self._quiet_seconds):
            while self._under_way:
                self._news = anyio.Event()
                await self._news.wait()

    def reopen(self) -> None:
        """Another transport begins."""
        self.fault = None
        self._leaving = anyio.Event()

    def _settle(self, request_id: object) -> Sending | None:
        sending = self._under_way.pop(request_id, None) if type(request_id) is int else None
        self._news.set()
        return sending
