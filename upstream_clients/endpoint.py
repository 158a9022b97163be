"""The address of a server, and what is sent there with every request. Values only; nothing here speaks HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

Attempt: TypeAlias = Literal["http", "sse"]

_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HeadersHelper:
    """A program that prints a JSON object of headers. `env` is its whole environment."""

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect to. The address and the headers may hold secrets: neither is ever in a text.

    `attempts` are the transports to try, in order. `message_bytes` bounds one message. A server that asks us to come
    again later is given at most `wait_seconds` for it.
    """

    url: str = field(repr=False)
    attempts: tuple[Attempt, ...]
    message_bytes: int
    wait_seconds: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    helper: HeadersHelper | None = None

    def is_same_origin(self, url: str) -> bool:
        """Whether the headers may go there: same scheme, host and port only."""
        return _origin(url) == _origin(self.url) is not None


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)) if parts.hostname else None
