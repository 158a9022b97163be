"""The headers that an entry gives: as they are written, and as its helper prints them, run anew when they are refused."""

from collections.abc import Mapping
from typing import Final

import anyio
import httpx2

from upstream_clients.endpoint import Endpoint
from upstream_clients.headers_helper import printed_headers

MASK: Final = "[redacted]"
SHORTEST_HIDDEN: Final = 8
"""Shorter values are no secrets worth the name, and would turn up in words that hide nothing."""

REPLACEABLE: Final = frozenset(("authorization", "user-agent"))
"""What the transport also writes, and an entry may write better. Any other header of the transport's is its own."""


class Credentials:
    """The headers of one connection. They are given to requests to the entry's own origin only (`Guard`)."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._written = dict(endpoint.headers)
        self._helper = endpoint.helper
        self._printed: Mapping[str, str] | None = None
        self._asking = anyio.Lock()
        self._times = 0

    def __repr__(self) -> str:
        return f"<Credentials, helper run {self._times} times>"

    @property
    def has_helper(self) -> bool:
        return self._helper is not None

    @property
    def has_any(self) -> bool:
        return bool(self._written) or self.has_helper

    async def stamp(self, request: httpx2.Request) -> int:
        """Puts the headers on a request. Returns what `renew` wants to know if they are refused."""
        if self._helper is not None and self._printed is None:
            await self.renew(0)
        for name, value in {**self._written, **(self._printed or {})}.items():
            if name.lower() in REPLACEABLE or name not in request.headers:
                request.headers[name] = value
        return self._times

    async def renew(self, times: int) -> None:
        """Runs the helper again, unless another request has done so since.

        Raises:
            UpstreamUnauthorized: it gave no headers.
        """
        async with self._asking:
            if self._helper is not None and self._times == times:
                self._printed = await printed_headers(self._helper)
                self._times += 1

    def hidden(self, text: str) -> str:
        """A server's text without what it was given. The configuration's own secrets are hidden elsewhere too."""
        given = {**self._written, **(self._printed or {})}.values()
        for value in sorted(given, key=len, reverse=True):
            for part in {value, value.rpartition(" ")[2]}:
                if len(part) >= SHORTEST_HIDDEN:
                    text = text.replace(part, MASK)
        return text
