"""A connection to an address: one session over whichever of its transports the server speaks.

Owns the HTTP client, what waits to be sent, and the end. The transports (`streamable`, `sse`) take what is to be sent from
here and hand on what comes.

Laws
1. `receiver.end` is called at most once; after it, and after the context is left, nothing is handed on.
2. A message goes over one transport. It goes over the next one only if the server refused it as no message at all.
3. Leaving takes at most CLOSE_SECONDS, however dead the server is; a session that it knows is ended by a DELETE.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
import httpx2

from upstream_clients.connection import Receiver
from upstream_clients.endpoint import Endpoint
from upstream_clients.errors import UpstreamDeclined, UpstreamError, UpstreamGone
from upstream_clients.framing import JsonObject
from upstream_clients.http.certificates import Certificates
from upstream_clients.http.credentials import Credentials
from upstream_clients.http.exchange import Sending
from upstream_clients.http.faults import ADDRESS_HINT, Fault, Then
from upstream_clients.http.guard import Guard
from upstream_clients.http.link import Link
from upstream_clients.http.sse import speak_sse
from upstream_clients.http.streamable import speak_streamable
from upstream_clients.network import CONNECT_SECONDS, network

WRITE_SECONDS: Final = 30.0
POOL_SECONDS: Final = 10.0
"""For one of the connections to come free, of which there are as many as `network` says."""

WAITING_MESSAGES: Final = 1_000
"""What may wait to be sent: more than hosts have calls under way."""

FAREWELL_SECONDS: Final = 0.5
"""For the DELETE that ends the session. A host kills the gateway two seconds after closing its input."""

CLOSE_SECONDS: Final = 0.9

RENEWAL_SECONDS: Final = 1.0
"""For other requests of a session that its server has forgotten to be refused as well, each by its own answer."""

SPEAKERS: Final = {"http": speak_streamable, "sse": speak_sse}
NAMES: Final = {"http": "streamable HTTP", "sse": "HTTP with SSE"}


class HttpConnection:
    """An open connection. Made and ended by `HttpOpener`."""

    pid = None

    def __init__(self, endpoint: Endpoint, receiver: Receiver, certificates: Certificates) -> None:
        self._endpoint = endpoint
        self._certificates = certificates
        self._receiver = receiver
        self._credentials = Credentials(endpoint)
        self._link = Link(endpoint, receiver, self._credentials.hidden, self._take_fault)
        self._guard: Guard | None = None
        self._scope = anyio.CancelScope(shield=True)
        self._over = anyio.Event()
        self._error: UpstreamError | None = None
        self._is_closing = False

    def __repr__(self) -> str:
        return f"<HttpConnection {self._link!r}>"

    def send(self, message: JsonObject) -> None:
        if self._error is not None:
            raise self._error.told_again(ran=False)
        if self._link.waiting >= WAITING_MESSAGES:
            raise UpstreamGone("it takes messages more slowly than they come")
        _check_text(message)
        self._link.put(message)

    async def run(self) -> None:
        """Speaks to the server until the connection is over. Its scope is shielded: `close` ends it, in bounded time."""
        try:
            with self._scope:
                transport = network(await self._certificates.current())
                guard = Guard(transport, self._endpoint, self._credentials, self._take_fault)
                async with _client(guard) as client:
                    self._guard = guard
                    await self._speak_in_turn(client)
        finally:
            self._end(UpstreamGone("its connection was closed"))
            self._over.set()

    async def close(self) -> None:
        """Ends the session and the connection."""
        self._is_closing = True
        self._link.leave()
        with anyio.move_on_after(FAREWELL_SECONDS):
            await self._over.wait()
        self._scope.cancel()

    async def _speak_in_turn(self, client: httpx2.AsyncClient) -> None:
        """Each transport, until one is spoken by the server too."""
        refusals: dict[str, UpstreamError] = {}
        for attempt in self._endpoint.attempts:
            await SPEAKERS[attempt](client, self._link)
            fault = self._link.fault
            if fault is None:
                return
            if fault.then is not Then.SWITCH:
                self._end(fault.error)
                return
            refusals[NAMES[attempt]] = fault.error
            self._link.reopen()
        self._end(_none_spoken(refusals))

    def _take_fault(self, sending: Sending, fault: Fault) -> None:
        """A message was not answered as it should be."""
        if fault.then is Then.SWITCH:
            self._link.put_back(sending.message)
            self._link.leave(fault)
            return
        if sending.request_id is not None:
            self._link.fail(sending.request_id, fault.error)
        if fault.then is not Then.GO_ON:
            self._link.fail_waiting(fault.error)
        if fault.then is Then.END:
            self._end(fault.error)
            self._link.leave(fault)
        elif fault.then is Then.RENEW:
            self._error = self._error or fault.error
            self._silence(fault)
            self._link.leave(fault, quiet_seconds=RENEWAL_SECONDS)

    def _end(self, error: UpstreamError) -> None:
        if self._link.is_deaf:
            return
        self._error = self._error or error
        self._link.is_deaf = True
        self._silence(Fault(error, Then.END))
        if not self._is_closing:
            self._receiver.end(error)

    def _silence(self, fault: Fault) -> None:
        """Nothing more is sent, not even a farewell: nobody would hear it."""
        if self._guard is not None and self._guard.over is None:
            self._guard.over = fault


class HttpOpener:
    """Opens the connections of one fleet, which check certificates alike."""

    def __init__(self) -> None:
        self._certificates = Certificates()

    @asynccontextmanager
    async def open(self, endpoint: Endpoint, receiver: Receiver) -> AsyncIterator[HttpConnection]:
        """A connection for as long as the context lasts. Nothing is sent before the first message."""
        connection = HttpConnection(endpoint, receiver, self._certificates)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            try:
                yield connection
            finally:
                with anyio.CancelScope(shield=True):  # bounded by FAREWELL_SECONDS
                    await connection.close()


def _client(guard: Guard) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(connect=CONNECT_SECONDS, read=None, write=WRITE_SECONDS, pool=POOL_SECONDS)
    headers = {"user-agent": "toolfold", "accept-encoding": "identity"}
    return httpx2.AsyncClient(transport=guard, timeout=timeout, headers=headers, trust_env=False)


def _none_spoken(refusals: Mapping[str, UpstreamError]) -> UpstreamError:
    if len(refusals) == 1:
        return next(iter(refusals.values()))
    said = "; ".join(f"{name}: {error.message}" for name, error in refusals.items())
    return UpstreamError(f"it speaks no MCP at this address ({said})", hint=ADDRESS_HINT)


def _check_text(message: JsonObject) -> None:
    """Raises an UpstreamDeclined for what HTTP cannot carry, though a pipe can."""
    try:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        hint = "Send text that is valid Unicode, and finite numbers."
        raise UpstreamDeclined("the arguments hold half a character or no number", hint=hint) from None
