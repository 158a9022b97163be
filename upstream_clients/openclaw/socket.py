"""The WebSocket to a Gateway: opened, greeted, kept for life. Requests are answered by id; events are handed on.

The only user of `websockets`. Knows no tool.

Laws
1. The secret goes into the greeting and nowhere else; no frame is logged or put into an error.
2. A frame over the limit, or one that is no JSON object, ends the connection; an event does not, however odd or long.
3. What a Gateway that is still starting asks for is waited for; whoever opens the socket bounds that.
"""

import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, NoReturn

import anyio
import anyio.to_thread
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamProtocolFault, UpstreamTimeout
from upstream_clients.framing import JsonObject, NotAMessage, dump, parse
from upstream_clients.network import (
    CONNECT_SECONDS,
    certificates,
    not_connected,
    too_large,
    unreachable,
    wait_asked_for,
)
from upstream_clients.openclaw.frames import (
    ADMIN_SCOPE,
    CHALLENGE,
    FIRST_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    READ_SCOPE,
    Challenge,
    Device,
    Event,
    Hello,
    Refused,
    Response,
    challenge,
    greeting,
    greeting_refused,
    hello,
    read,
    request,
    why_not_told,
)
from upstream_clients.openclaw.target import OpenClawGateway
from upstream_clients.output import INLINE_PARSE_BYTES

GREETING_SECONDS: Final = 15.0
"""For the challenge, and for the answer to our greeting: a busy Gateway takes some seconds."""

CLOSE_SECONDS: Final = 0.5
"""For the closing handshake. A host kills the gateway two seconds after closing its input."""

PING_SECONDS: Final = 30.0
"""Between pings, and for the answer to one: a machine that vanished is noticed within a minute."""

MESSAGE_TOO_BIG: Final = 1009
FRAME_BYTES: Final = 25 * 1024 * 1024 + 64 * 1024
"""What a Gateway says is its largest frame, and some. Only an event may be longer than our own limit: it is passed over."""

EVENT_BEGINS: Final = b'{"type":"event"'
GREETING_ID: Final = "greeting"

VERSION: Final = "1"
"""What we call ourselves beside `gateway-client`; the Gateway shows it to its operator."""

# At debug level it logs the content of frames, the greeting among them.
logging.getLogger("websockets").setLevel(logging.CRITICAL + 1)


class NotTold(Exception):
    """The Gateway is there, and does not let us ask it for its tools. Its text says why."""


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
        raise UpstreamTimeout("it takes the connection and says nothing", hint=_NOT_OPENCLAW)

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
        raise UpstreamTimeout("it does not answer the greeting", hint=_NOT_OPENCLAW)

    async def close(self) -> None:
        await _close(self._socket)

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


class _Prompt(ClientConnection):
    """Ends soon once an end is due: by itself, the library waits for the other side, or for its next ping."""

    _is_ending = False

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.protocol.close_expected() and not self._is_ending:
            self._is_ending = True
            self.loop.call_later(CLOSE_SECONDS, self.transport.abort)


class _Straight(connect):
    """Goes nowhere else: the secret is for the address that was written."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class _Waiting:
    __slots__ = ("answered", "response")

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.response: Response | None = None


_NOT_OPENCLAW: Final = 'Look whether "url" in gateway.openclaw is the address of an OpenClaw Gateway.'


@asynccontextmanager
async def open_socket(gateway: OpenClawGateway, on_event: Callable[[Event], None]) -> AsyncIterator[GatewaySocket]:
    """A socket for as long as the context lasts; `run` has to be called meanwhile, for answers to come.

    Raises:
        NotTold: the Gateway does not want to talk about its tools.
        UpstreamError: there is no Gateway, or it does not accept the token.
    """
    context = await anyio.to_thread.run_sync(certificates) if gateway.url.startswith("https:") else None
    socket = await _greeted(gateway, context, on_event)
    try:
        yield socket
    finally:
        await socket.close()


async def _greeted(
    gateway: OpenClawGateway, context: ssl.SSLContext | None, on_event: Callable[[Event], None]
) -> GatewaySocket:
    """Greets until the Gateway is up, with fewer scopes if it does not give all."""
    scopes = [READ_SCOPE, ADMIN_SCOPE] if gateway.asks_for_schemas and gateway.is_here else [READ_SCOPE]
    wait = FIRST_WAIT_SECONDS
    while True:
        connection = await _connected(gateway, context)
        if isinstance(connection, float):
            await anyio.sleep(min(connection, LONGEST_WAIT_SECONDS))
            continue
        socket = GatewaySocket(connection, gateway.message_bytes, on_event)
        try:
            await _greet(socket, gateway, scopes)
        except Refused as refused:
            await _close(connection)
            if refused.is_starting:
                await anyio.sleep(min(wait if refused.waits is None else refused.waits, LONGEST_WAIT_SECONDS))
                wait = min(wait * 2, LONGEST_WAIT_SECONDS)
            elif refused.is_about_scopes and len(scopes) > 1:
                scopes = [READ_SCOPE]
            else:
                raise greeting_refused(refused) or NotTold(why_not_told(refused)) from None
        except BaseException:
            await _close(connection)
            raise
        else:
            return socket


async def _connected(gateway: OpenClawGateway, context: ssl.SSLContext | None) -> ClientConnection | float:
    """An open connection, or how long to wait before the next try."""
    try:
        return await _Straight(
            f"ws{gateway.url.removeprefix('http')}/",
            create_connection=_Prompt,
            ssl=context,
            proxy=None,
            compression=None,
            open_timeout=CONNECT_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            max_size=max(FRAME_BYTES, gateway.message_bytes),
            user_agent_header="toolfold",
        )
    except InvalidStatus as refused:
        if refused.response.status_code == 503:
            return wait_asked_for(refused.response.headers.get("retry-after")) or FIRST_WAIT_SECONDS
        raise NotTold(f"there is no WebSocket at its address (HTTP {refused.response.status_code})") from None
    except (InvalidHandshake, InvalidURI, EOFError):
        raise UpstreamProtocolFault("its address speaks no WebSocket", hint=_NOT_OPENCLAW) from None
    except TimeoutError:
        raise unreachable(gateway.place) from None
    except OSError as error:
        raise not_connected(error, gateway.place) from None


async def _greet(socket: GatewaySocket, gateway: OpenClawGateway, scopes: list[str]) -> None:
    at = await socket.challenged()
    device = await anyio.to_thread.run_sync(_device, gateway, scopes, at) if gateway.device_seed else None
    await socket.greet(greeting(gateway, VERSION, scopes, device, at))


def _device(gateway: OpenClawGateway, scopes: list[str], at: Challenge) -> Device:
    """`cryptography` is imported here: a Gateway on this machine needs none of it."""
    from upstream_clients.openclaw.device import signed

    return signed(gateway.device_seed, "" if gateway.is_password else gateway.secret, scopes, at)


async def _close(connection: ClientConnection) -> None:
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):  # bounded: whoever leaves must be able to
        await connection.close()
