"""The authorities that addresses are checked against: the system's, or those of SSL_CERT_FILE.

Read once for all connections, because each copy takes 0.8 MB and up to a tenth of a second; read again for those that
begin an hour later, because authorities change while a gateway runs.
"""

import ssl
import time
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.network import certificates

GOOD_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class _Read:
    context: ssl.SSLContext
    at: float


class Certificates:
    """What all connections of a fleet share."""

    def __init__(self) -> None:
        self._read: _Read | None = None
        self._reading = anyio.Lock()

    async def current(self) -> ssl.SSLContext:
        """The authorities as they were read, at most GOOD_SECONDS ago."""
        async with self._reading:
            if self._read is None or time.monotonic() - self._read.at > GOOD_SECONDS:
                self._read = _Read(await anyio.to_thread.run_sync(certificates), time.monotonic())
            return self._read.context
