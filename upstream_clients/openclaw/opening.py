"""How the socket to a Gateway is opened: to one address, as one client, with the patience that the Gateway asks for.

Laws
1. The secret goes into the greeting and nowhere else, and to the address that was written only.
2. What a Gateway that is still starting asks for is waited for; whoever opens the socket bounds that.
"""

import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.to_thread
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

from upstream_clients.errors import UpstreamProtocolFault
from upstream_clients.network import CONNECT_SECONDS, certificates, not_connected, unreachable, wait_asked_for
from upstream_clients.openclaw.frames import (
    ADMIN_SCOPE,
    FIRST_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    READ_SCOPE,
    Challenge,
    Device,
    Event,
    Refused,
    greeting,
    greeting_refused,
    why_not_told,
)
from upstream_clients.openclaw.outcomes import NOT_OPENCLAW_HINT
from upstream_clients.openclaw.socket import CLOSE_SECONDS, FRAME_BYTES, GatewaySocket, close
from upstream_clients.openclaw.target import OpenClawGateway

PING_SECONDS: Final = 30.0
"""Between pings, and for the answer to one: a machine that vanished is noticed within a minute."""

VERSION: Final = "1"
"""What we call ourselves beside `gateway-client`; the Gateway shows it to its operator."""

# At debug level it logs the content of frames, the greeting among them.
logging.getLogger("websockets").setLevel(logging.CRITICAL + 1)


class NotTold(Exception):
    """The Gateway is there, and does not let us ask it for its tools. Its text says why."""


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
            await close(connection)
            if refused.is_starting:
                await anyio.sleep(min(wait if refused.waits is None else refused.waits, LONGEST_WAIT_SECONDS))
                wait = min(wait * 2, LONGEST_WAIT_SECONDS)
            elif refused.is_about_scopes and len(scopes) > 1:
                scopes = [READ_SCOPE]
            else:
                raise greeting_refused(refused) or NotTold(why_not_told(refused)) from None
        except BaseException:
            await close(connection)
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
        raise UpstreamProtocolFault("its address speaks no WebSocket", hint=NOT_OPENCLAW_HINT) from None
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
