"""The WebSocket to a Gateway, once it is open. Requests are answered by id; events are handed on. Knows no tool.

Laws
1. No frame is logged or put into an error.
2. A frame over the limit, or one that is no JSON object, ends the connection; an event does not, however odd or long.
"""

from collections.abc import Callable
from typing import Final, NoReturn

import anyio
import anyio.to_thread
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamProtocolFault, UpstreamTimeout
from upstream_clients.framing import JsonObject, NotAMessage, dump, parse
from upstream_clients.network import (
    too_large,
)
from upstream_clients.openclaw.frames import (
    CHALLENGE,
    Challenge,
    Event,
    Hello,
    Refused,
    Response,
    challenge,
    hello,
    read,
    request,
)
from upstream_clients.openclaw.outcomes import NOT_OPENCLAW_HINT
from upstream_clients.output import INLINE_PARSE_BYTES

GREETING_SECONDS: Final = 15.0
"""For the challenge, and for the answer to our greeting: a busy Gateway takes some seconds."""

CLOSE_SECONDS: Final = 0.5
"""For the closing handshake. A host kills the gateway two seconds after closing its input."""

MESSAGE_TOO_BIG: Final = 1009
FRAME_BYTES: Final = 25 * 1024 * 1024 + 64 * 1024
"""What a Gateway says is its largest frame, and some. Only an event may be longer than our own limit: it is passed over."""

EVENT_BEGINS: Final = b'{"type":"event"'
GREETING_ID: Final = "greeting"


class GatewaySocket:
    """An open, greeted socket. Made by `open_socket`."""

    def __init__(self, socket: ClientConnection, limit: int, on_event: Callable[[Event], None]) -> None:
        self._socket = socket
        self._limit = limit
        self._on_event = on_event
        self._waiting: dict[str, _Waiting] = {}
        self._number = 0
        self.hello = Hello("", frozenset(), frozenset())

    def __repr__(self) -> str:
        return f"<GatewaySocket {len(self._waiting)} open, {self._number} sent>"

    async def ask(self, method: str, params: JsonObject, seconds: float) -> JsonObject:
        """The payload of the answer.

        Raises:
            Refused: the Gateway answered with an error.
            UpstreamError: there was no answer in time, or the connection is over.
        """
        number = self._next_number()
        waiting = self._waiting[number] = _Waiting()
        try:
            with anyio.move_on_after(seconds):
                await self._send(request(number, method, params))
                await waiting.answered.wait()
        finally:
            del self._waiting[number]
        if waiting.response is None:
            raise UpstreamTimeout(f"it did not answer {method} within {seconds:g} s")
        if waiting.response.error is not None:
            raise Refused(waiting.response.error)
        return waiting.response.payload

    async def tell(self, method: str, params: JsonObject) -> None:
        """Asks, and does not wait for the answer. Raises UpstreamError: the connection is over."""
        await self._send(request(self._next_number(), method, params))

    async def run(self) -> NoReturn:
        """Takes what comes, until the connection is over.

        Raises:
            UpstreamError: why it is over.
        """
        while True:
            came = read(await self._receive())
            if isinstance(came, Response):
                waiting = self._waiting.get(came.id)
                if waiting is not None:
                    waiting.response = came
                    waiting.answered.set()
            elif came is not None:
                self._on_event(came)

    async def challenged(self) -> Challenge:
        """What the Gateway says first."""
        with anyio.move_on_after(GREETING_SECONDS):
            while True:
                came = read(await self._receive())
                if isinstance(came, Event) and came.name == CHALLENGE:
                    return challenge(came)
        raise UpstreamTimeout("it takes the connection and says nothing", hint=NOT_OPENCLAW_HINT)

    async def greet(self, params: JsonObject) -> None:
        """Before `run`: nobody else asks anything yet.

        Raises:
            Refused: the Gateway answered with an error.
        """
        with anyio.move_on_after(GREETING_SECONDS):
            await self._send(request(GREETING_ID, "connect", params))
            while True:
                came = read(await self._receive())
                if isinstance(came, Response) and came.error is not None:
                    raise Refused(came.error)
                if isinstance(came, Response):
                    self.hello = hello(came.payload)
                    return
        raise UpstreamTimeout("it does not answer the greeting", hint=NOT_OPENCLAW_HINT)

    async def close(self) -> None:
        await close(self._socket)

    def _next_number(self) -> str:
        self._number += 1
        return str(self._number)

    async def _send(self, frame: JsonObject) -> None:
        try:
            await self._socket.send(dump(frame).decode())
        except ConnectionClosed as closed:
            raise self._lost(closed) from None

    async def _receive(self) -> JsonObject:
        try:
            frame = await self._socket.recv(decode=False)
        except ConnectionClosed as closed:
            raise self._lost(closed) from None
        assert isinstance(frame, bytes)
        if len(frame) > self._limit:
            if frame.startswith(EVENT_BEGINS):
                return {}
            raise too_large(self._limit)
        try:
            if len(frame) > INLINE_PARSE_BYTES:
                return await anyio.to_thread.run_sync(parse, frame, abandon_on_cancel=True)
            return parse(frame)
        except NotAMessage as fault:
            raise UpstreamProtocolFault(f"it sent a frame that is not acceptable: {fault}") from None

    def _lost(self, closed: ConnectionClosed) -> UpstreamError:
        if closed.sent is not None and closed.sent.code == MESSAGE_TOO_BIG:
            return too_large(FRAME_BYTES)
        if closed.rcvd is None:
            return UpstreamGone("OpenClaw's connection was cut")
        return UpstreamGone(f"OpenClaw closed the connection (code {closed.rcvd.code})")


class _Waiting:
    __slots__ = ("answered", "response")

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.response: Response | None = None


async def close(connection: ClientConnection) -> None:
    """Takes leave, in bounded time."""
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):  # bounded: whoever leaves must be able to
        await connection.close()
