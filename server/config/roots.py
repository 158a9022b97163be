"""Finds the servers of one file: under whichever root, in whichever dialect, as an object or as a list with names.

It reads no entry; it only tells one from something else, where a root's name alone does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from server.config.dialects import BARE, ROOTS, Dialect, recognise
from server.config.findings import Finding, Findings, shown
from server.config.keys import TRANSPORTS, URL_KEYS, folded
from server.config.sections import JsonObject

_COMMAND_KEYS = ("command", "cmd", "executable")


@dataclass(frozen=True, slots=True)
class Servers:
    """The entries of a file, as they are written. `place` is the dotted path that they stand under."""

    dialect: Dialect
    place: str
    entries: tuple[tuple[str, object], ...] = field(repr=False)


def find_servers(path: Path, root: JsonObject, findings: Findings) -> Servers:
    present = [(place, value) for place in ROOTS if (value := _at(root, place)) is not None]
    if not present:
        bare = {key: value for key, value in root.items() if key != "gateway" and is_entry(value)}
        return Servers(BARE, "", tuple(bare.items()))
    place, value = present[0]
    name = ".".join(place)
    for other, unread in present[1:]:
        if other != place[:1] and any(map(is_entry, _values(unread))):
            message = f"The servers under `{'.'.join(other)}` are not read: there are some under `{name}`."
            findings.warn("other_root", str(path), message, "Put them in one place, or in two files.")
    entries = tuple(_entries(path, name, value, findings))
    beside = root.keys() - {place[0]}
    return Servers(recognise(path, place, beside, (entry for _, entry in entries)), name, entries)


def is_entry(value: object) -> bool:
    """Whether this looks like a server that is written down, and not like an object of something else."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return any(key in value for key in (*_COMMAND_KEYS, *URL_KEYS)) or (
        isinstance(kind, str) and folded(kind) in TRANSPORTS
    )


def _at(root: JsonObject, place: tuple[str, ...]) -> object:
    """What stands there, None also for what only happens to have the name of a root."""
    value: object = root
    for step in place:
        value = value.get(step) if isinstance(value, dict) else None
    if place == ("mcp", "servers") and is_entry(value):
        return None  # a server of that name, in a host that has its servers under `mcp`
    if place == ("mcp",):
        return value if any(map(is_entry, _values(value))) else None
    return value


def _values(servers: object) -> Iterable[object]:
    if isinstance(servers, dict):
        return servers.values()
    return servers if isinstance(servers, list) else ()


def _entries(path: Path, name: str, servers: object, findings: Findings) -> Iterable[tuple[str, object]]:
    if isinstance(servers, dict):
        yield from servers.items()
    elif isinstance(servers, list):
        yield from _named(path, name, servers, findings)
    else:
        message = f"`{name}` should be an object: a key for each server."
        findings.add(Finding("error", "wrong_type", str(path), message, 'Write {"name": {"command": "…"}}.'))


def _named(path: Path, name: str, servers: list[object], findings: Findings) -> Iterable[tuple[str, object]]:
    known: set[str] = set()
    for position, entry in enumerate(servers):
        key = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(key, str) or not key:
            where = f"{path}: {name}[{position}]"
            findings.add(Finding("error", "no_name", where, "The entry has no name.", 'Add "name" to it.'))
            continue
        if key in known:
            message = f"`{shown(key)}` is there twice; the last one counts."
            findings.warn("duplicate_key", f"{path}: {name}", message, "Remove or rename one of them.")
        known.add(key)
        yield key, entry
