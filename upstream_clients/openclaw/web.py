"""One HTTP client for one Gateway: a POST of JSON, and the whole answer within a bound. Knows no tool.

Laws
1. Redirects, proxies and .netrc of the environment are not used: what a request reaches is what the caller names.
2. Headers go out with the request that they were given for, and no body or header is ever logged or put into an error.
3. Leaving the call closes its connection.
"""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread
import httpx2

from upstream_clients.errors import UpstreamGone
from upstream_clients.framing import JsonObject, NotAMessage, dump, parse
from upstream_clients.network import (
    CONNECT_SECONDS,
    certificates,
    compressed,
    network,
    too_large,
    wait_asked_for,
    why_broken,
)
from upstream_clients.openclaw.outcomes import BadArguments
from upstream_clients.openclaw.target import place_of
from upstream_clients.output import INLINE_PARSE_BYTES

WRITE_SECONDS: Final = 30.0
POOL_SECONDS: Final = 10.0

logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs the address of each request


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is empty where it is no JSON object; `is_json` tells the two apart."""

    status: int
    body: JsonObject = field(repr=False)
    is_json: bool
    retry_after: float | None = None


class Web:
    """Made by `open_web`."""

    def __init__(self, client: httpx2.AsyncClient, body_bytes: int) -> None:
        self._client = client
        self._body_bytes = body_bytes

    async def post(self, url: str, headers: Mapping[str, str], message: JsonObject) -> Answer:
        """Sends one request and reads its answer, whatever its status.

        Raises:
            NetworkFailure: there is no answer.
            UpstreamError: it is too large.
        """
        try:
            content = dump(message)
        except ValueError:
            raise BadArguments("the arguments hold no number", hint="Send finite numbers.") from None
        sent = {"content-type": "application/json", "accept": "application/json", **headers}
        try:
            async with self._client.stream("POST", url, headers=sent, content=content) as response:
                body = await self._whole(response)
        except httpx2.HTTPError as error:
            failure, is_over = why_broken(error, place_of(url))
            raise NetworkFailure(failure.message, hint=failure.hint, ran=failure.ran, is_over=is_over) from None
        found = await _parsed(body)
        wait = wait_asked_for(response.headers.get("retry-after"))
        return Answer(response.status_code, found or {}, found is not None, wait)

    async def _whole(self, response: httpx2.Response) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise compressed()
        parts: list[bytes] = []
        size = 0
        async for chunk in response.aiter_raw():
            parts.append(chunk)
            size += len(chunk)
            if size > self._body_bytes:
                raise too_large(self._body_bytes)
        return b"".join(parts)


class NetworkFailure(UpstreamGone):
    """No answer. `is_over`: no other request would fare better."""

    def __init__(self, message: str, *, hint: str = "", ran: bool = False, is_over: bool = False) -> None:
        super().__init__(message, hint=hint, ran=ran)
        self.is_over = is_over


@asynccontextmanager
async def open_web(body_bytes: int) -> AsyncIterator[Web]:
    """A client for as long as the context lasts."""
    transport = network(await anyio.to_thread.run_sync(certificates))
    timeout = httpx2.Timeout(connect=CONNECT_SECONDS, read=None, write=WRITE_SECONDS, pool=POOL_SECONDS)
    headers = {"user-agent": "toolfold", "accept-encoding": "identity"}
    async with httpx2.AsyncClient(transport=transport, timeout=timeout, headers=headers, trust_env=False) as client:
        yield Web(client, body_bytes)


async def _parsed(body: bytes) -> JsonObject | None:
    if len(body) > INLINE_PARSE_BYTES:
        return await anyio.to_thread.run_sync(_parse, body)
    return _parse(body)


def _parse(body: bytes) -> JsonObject | None:
    try:
        return parse(body)
    except NotAMessage:
        return None
