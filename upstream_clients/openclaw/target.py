"""Which Gateway, on whose behalf, and what of its tools is let through. Values only; nothing here connects."""

import ipaddress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

Visibility: TypeAlias = Literal["self", "tree", "agent", "all"]
Profile: TypeAlias = Literal["minimal", "coding", "messaging", "full"]

CORE_OWNER: Final = "core"

OWNER_META: Final = "toolfold/owner"
"""In the `_meta` of a listed tool: "core", or the plugin that it belongs to."""

UNAVAILABLE_META: Final = "toolfold/unavailable"
"""There too: why the tool cannot be called from outside. A tool that can be has none."""

DIRECT_META: Final = "toolfold/direct"
"""There too: that the Gateway itself never hides the tool behind a search."""


@dataclass(frozen=True, slots=True)
class OpenClawGateway:
    """Where to connect to, and as whom. The address and the secret are never in a text.

    `allow` are tools that the operator has opened in the Gateway's own `gateway.tools.allow`.
    `device_seed` is the private half of our identity, for a Gateway on another machine. With `asks_for_schemas` the Gateway
    is asked for its tools' parameters, where it tells them. Someone who asks us to come again is given `wait_seconds`.
    """

    url: str = field(repr=False)
    message_bytes: int
    wait_seconds: float
    secret: str = field(default="", repr=False)
    is_password: bool = False
    session_key: str = "main"
    agent_id: str = ""
    allow: frozenset[str] = frozenset()
    profile: Profile = "full"
    also_allow: frozenset[str] = frozenset()
    visibility: Visibility = "tree"
    sanitizes: bool = True
    asks_for_schemas: bool = True
    device_seed: bytes = field(default=b"", repr=False)

    @property
    def is_here(self) -> bool:
        """Whether it is on this very machine."""
        return is_loopback(self.url)

    @property
    def place(self) -> str:
        """Host and port, for messages."""
        return place_of(self.url)

    @property
    def own_key(self) -> str:
        """The whole key of the session on whose behalf calls are made."""
        return whole_key(self.session_key, self.own_agent)

    @property
    def own_agent(self) -> str:
        """The agent of that session."""
        if self.session_key.startswith("agent:"):
            return self.session_key.split(":")[1]
        return self.agent_id or "main"


def whole_key(key: str, agent_id: str) -> str:
    """`main` is short for `agent:<agent>:main`, and so is any key without its agent."""
    return key if key.startswith("agent:") else f"agent:{agent_id}:{key}"


def is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def place_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "its address"
