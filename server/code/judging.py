"""Whether a child is isolated, by what its attempts came to. Pure.

The child has really tried each of these, before there was any code of a model in it. What counts is the error that
stopped it: "connection refused" means that a connection could be tried, and so does everything else that is not named.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_DENIED: Final = frozenset({"ERR_ACCESS_DENIED", "EPERM", "EACCES"})

ATTEMPTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "read": _DENIED,
        "write": _DENIED,
        "spawn": _DENIED,
        "worker": _DENIED,
        "tcp": _DENIED,
        "unix": _DENIED,
        "udp": _DENIED,
        "sqlite": frozenset({"absent"}),
        "environment": frozenset({"empty"}),
    }
)
"""Each attempt, and what it must come to."""

_IN_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "read": "files can be read",
        "write": "files can be written",
        "spawn": "programs can be started",
        "worker": "workers can be started",
        "tcp": "TCP is open",
        "unix": "unix sockets are open",
        "udp": "UDP is open",
        "sqlite": "the built-in database opens files",
        "environment": "the environment is not empty",
    }
)


def open_doors(ready: Mapping[str, object], *, was_written: bool) -> list[str]:
    """What is open that must be closed, in words; empty for an isolated child."""
    came = ready.get("attempts")
    if ready.get("type") != "ready" or not isinstance(came, dict):
        return ["it did not try"]
    doors = [_IN_WORDS[name] for name, good in ATTEMPTS.items() if not _is_one_of(came.get(name), good)]
    if was_written and _IN_WORDS["write"] not in doors:
        doors.append(_IN_WORDS["write"])
    return doors


def _is_one_of(came: object, good: frozenset[str]) -> bool:
    return isinstance(came, str) and came in good
