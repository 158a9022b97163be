"""Where to listen: `[HOST:]PORT` read, told apart into this machine and elsewhere, and bound. Knows nothing of HTTP."""

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

LOOPBACK: Final = "127.0.0.1"
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})

BACKLOG: Final = 128
"""Connections that may wait to be taken; more at once than any number of hosts of one machine makes."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host, without brackets, and a port; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it. A name other than localhost may lead anywhere."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def is_everywhere(self) -> bool:
        """Whether it stands for every address of this machine, and is no name that a host could use."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False


def read_address(text: str) -> Address:
    """`8000`, `localhost:8000`, `0.0.0.0:8000` or `[::1]:8000`.

    Raises:
        ValueError: it is none of these.
    """
    host, _, port = text.rpartition(":")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError("an IPv6 address needs brackets: [::1]:8000")
    if not (port.isascii() and port.isdigit() and int(port[:6]) <= 65535):
        raise ValueError("expected [HOST:]PORT, such as 8000 or 127.0.0.1:8000")
    return Address(host.strip("[]").lower() or LOOPBACK, int(port))


def listen(address: Address) -> socket.socket:
    """A socket that listens there. Raises OSError."""
    host = LOOPBACK if address.host == "localhost" else address.host
    family, *_, place = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return socket.create_server(place[:2], family=family, backlog=BACKLOG)


def address_of(listener: socket.socket) -> Address:
    host, port = listener.getsockname()[:2]
    return Address(str(host), int(port))
