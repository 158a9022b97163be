"""Stands between the HTTP library and the network: everything that is sent and answered passes here, and is judged here.

Laws
1. Nothing is sent to another origin than the entry's. A redirect within it is followed, a few times, with its method.
2. A failed request of ours is told to `on_fault`, exactly once, and the caller sees an empty answer: what calls us (the
   SDK's transport) would end, or say less. What is sent without a `Sending` fails for its caller.
3. A request is sent again only if its server said that it did not take it: 401 with newer headers, 429 or 503 with a time.
4. Proxies and .netrc of the environment are not used: what a request reaches is what its entry says.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio
import httpx2

from upstream_clients.endpoint import Endpoint
from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.http.credentials import Credentials
from upstream_clients.http.exchange import SENDING, Leash, LeashedStream, Sending
from upstream_clients.http.faults import (
    OF_ANOTHER_PROTOCOL,
    Fault,
    Then,
    broken,
    redirected,
    refused_by,
    says_session_is_gone,
    session_ended,
    unanswered,
    unauthorized,
    wrong_content,
)
from upstream_clients.network import compressed, too_large, wait_asked_for

REDIRECTS: Final = 3
"""A path with and without a slash, and a change of servers: nobody needs more."""

TRIES: Final = 4
"""Of one request: as it is, with newer headers, and after two waits that the server asked for."""

NOTIFY_SECONDS: Final = 5.0
"""A notification may take this long. The SDK sends nothing else meanwhile."""

ERROR_BYTES: Final = 64 * 1024
"""Of the body of a refusal, which is read only for a JSON-RPC error."""

SESSION_HEADER: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
_JSON: Final = "application/json"


class Guard(httpx2.AsyncBaseTransport):
    """The transport of one connection."""

    def __init__(
        self,
        network: httpx2.AsyncBaseTransport,
        endpoint: Endpoint,
        credentials: Credentials,
        on_fault: Callable[[Sending, Fault], None],
    ) -> None:
        self._network = network
        self._endpoint = endpoint
        self._credentials = credentials
        self._on_fault = on_fault
        self.over: Fault | None = None  # why nothing more is sent

    async def aclose(self) -> None:
        await self._network.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        sending = SENDING.get()
        if self.over is not None:
            if sending is not None and sending.request_id is not None:
                self._on_fault(sending, Fault(self.over.error.told_again(ran=False), self.over.then))
            return httpx2.Response(202)
        if sending is None:
            return await self._exchange(request, Sending({}, is_answered_here=False))
        if request.method == "POST" and sending.request_id is not None and sending.is_answered_here:
            return await self._ask(request, sending)
        if request.method == "POST":
            return await self._tell(request, sending)
        return await self._listen(request, sending)

    async def _tell(self, request: httpx2.Request, sending: Sending) -> httpx2.Response:
        """What has no answer, or has it elsewhere: nothing of use is in what comes back."""
        seconds = NOTIFY_SECONDS if sending.request_id is None else None
        with _told(sending, self._on_fault), sending.leash.step(seconds):
            response = await self._exchange(request, sending)
            await response.aclose()
        if sending.cuts is not None:
            sending.cuts.cut()
        return httpx2.Response(202)

    async def _listen(self, request: httpx2.Request, sending: Sending) -> httpx2.Response:
        """The server's own messages, or the rest of an answer. A server need not offer either."""
        leash = Leash() if sending.request_id is None else sending.leash
        with suppress(Fault), leash.step():
            return await self._exchange(request, Sending({}, is_answered_here=True, leash=leash))
        return httpx2.Response(405)

    async def _ask(self, request: httpx2.Request, sending: Sending) -> httpx2.Response:
        """A request whose answer comes on the same exchange."""
        with _told(sending, self._on_fault):
            response = None
            with sending.leash.step():
                response = await self._exchange(request, sending)
                if _kind(response) == _JSON:
                    response = await self._whole(response)
            if response is not None:
                return response
        return httpx2.Response(202)

    async def _whole(self, response: httpx2.Response) -> httpx2.Response:
        """With a bounded body, complete: the SDK's transport does not survive one that is cut."""
        body = await _read(response, self._endpoint.message_bytes, _host(response.request))
        return httpx2.Response(response.status_code, headers=_plain(response.headers), content=body)

    async def _exchange(self, request: httpx2.Request, sending: Sending) -> httpx2.Response:
        """An answer that is worth reading.

        Raises:
            Fault: there is none.
        """
        waited = 0.0
        has_renewed = False
        for left in reversed(range(TRIES)):
            stamp = await self._stamped(request)
            response = await self._followed(request)
            if response.status_code < 400:
                return self._acceptable(response, sending)
            wait = self._wait(response, waited)
            if left == 0:
                break
            if response.status_code == 401 and self._credentials.has_helper and not has_renewed:
                has_renewed = True
                await response.aclose()
                await self._renewed(stamp)
            elif wait is not None:
                waited += wait
                await response.aclose()
                await anyio.sleep(wait)
            else:
                break
        return await self._refused(response, sending)

    def _wait(self, response: httpx2.Response, waited: float) -> float | None:
        """How long to wait before the request is sent again, if its server asks for that and it is not too long."""
        if response.status_code not in (429, 503):
            return None
        wait = wait_asked_for(response.headers.get("retry-after"))
        return wait if wait is not None and waited + wait <= self._endpoint.wait_seconds else None

    async def _stamped(self, request: httpx2.Request) -> int:
        try:
            return await self._credentials.stamp(request)
        except UpstreamError as error:
            raise Fault(error, Then.END) from None

    async def _renewed(self, stamp: int) -> None:
        try:
            await self._credentials.renew(stamp)
        except UpstreamError as error:
            raise Fault(error, Then.END) from None

    async def _followed(self, request: httpx2.Request) -> httpx2.Response:
        for _ in range(REDIRECTS + 1):
            if not self._endpoint.is_same_origin(str(request.url)):
                raise redirected(request.url, again=False)
            try:
                response = await self._network.handle_async_request(request)
            except httpx2.HTTPError as error:
                raise broken(error, _host(request)) from None
            if response.status_code not in (301, 302, 303, 307, 308):
                response.request = request
                return response
            await response.aclose()
            location = _location(request, response.headers.get("location"))
            may_follow = request.method == "GET" or response.status_code in (307, 308)
            if location is None or not may_follow or not self._endpoint.is_same_origin(str(location)):
                raise redirected(location, again=False)
            request = httpx2.Request(
                request.method, location, headers=request.headers, stream=request.stream, extensions=request.extensions
            )
        raise redirected(request.url, again=True)

    def _acceptable(self, response: httpx2.Response, sending: Sending) -> httpx2.Response:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Fault(compressed())
        kind = _kind(response)
        asks = sending.request_id is not None and sending.is_answered_here and response.request.method == "POST"
        if asks and response.status_code == 202:
            raise unanswered()
        if asks and kind not in (_EVENTS, _JSON):
            raise wrong_content(response.headers.get("content-type", ""))
        if kind == _EVENTS:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = LeashedStream(response.stream, sending.leash)
        return response

    async def _refused(self, response: httpx2.Response, sending: Sending) -> httpx2.Response:
        """What a refusal comes to: a JSON-RPC error that is the answer, or a fault."""
        status = response.status_code
        if status == 401:
            await response.aclose()
            raise unauthorized(has_helper=self._credentials.has_helper, has_credentials=self._credentials.has_any)
        error = await self._rpc_error(response)
        has_session = SESSION_HEADER in response.request.headers or not sending.is_answered_here
        if has_session and status in (400, 404) and response.request.method == "POST":
            code, text = (error or {}).get("code"), (error or {}).get("message")
            if says_session_is_gone(str(text)) or (status == 404 and code != -32601):
                raise session_ended()
        if error is not None and sending.is_answered_here and status not in (403, 429, 503):
            content = json.dumps({"jsonrpc": "2.0", "id": sending.request_id, "error": error}).encode()
            headers = {"content-type": _JSON}
            return httpx2.Response(status, headers=headers, content=content, request=response.request)
        other = status in OF_ANOTHER_PROTOCOL and (sending.is_handshake or not sending.message)
        raise Fault(refused_by(status), Then.SWITCH if other else Then.GO_ON)

    async def _rpc_error(self, response: httpx2.Response) -> JsonObject | None:
        """The JSON-RPC error in a refusal, if it has one."""
        if _kind(response) != _JSON:
            await response.aclose()
            return None
        try:
            body = json.loads(await _read(response, ERROR_BYTES, _host(response.request)))
        except (Fault, ValueError, RecursionError):
            return None
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict) or type(error.get("code")) is not int:
            return None
        return error if isinstance(error.get("message"), str) else None


class _told:  # noqa: N801  (used as a statement, like `suppress`)
    """Tells of a fault and goes on."""

    def __init__(self, sending: Sending, on_fault: Callable[[Sending, Fault], None]) -> None:
        self._sending = sending
        self._on_fault = on_fault

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Fault):
            self._on_fault(self._sending, error)
            return True
        return False


async def _read(response: httpx2.Response, limit: int, host: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    try:
        async for chunk in response.stream:
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                raise Fault(too_large(limit))
    except httpx2.HTTPError as error:
        raise broken(error, host) from None
    finally:
        with anyio.CancelScope(shield=True):  # at once: it closes a socket
            await response.aclose()
    return b"".join(parts)


def _kind(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _plain(headers: httpx2.Headers) -> dict[str, str]:
    """Without what told of the body's form on the wire."""
    told = ("content-encoding", "content-length", "transfer-encoding")
    return {name: value for name, value in headers.items() if name not in told}


def _host(request: httpx2.Request) -> str:
    port = f":{request.url.port}" if request.url.port else ""
    return f"{request.url.host}{port}"


def _location(request: httpx2.Request, value: str | None) -> httpx2.URL | None:
    if not value:
        return None
    try:
        return request.url.join(value)
    except httpx2.InvalidURL:
        return None
