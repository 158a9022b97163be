"""Finds the servers of one file: under whichever root, in whichever dialect, as an object or as a list with names.

It reads no entry; it only tells one from something else, where a root's name alone does not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from server.config.dialects import BARE, MCP_SERVERS, ROOTS, Dialect, recognise
from server.config.findings import Finding, Findings, shown
from server.config.keys import TRANSPORTS, URL_KEYS, folded
from server.config.sections import JsonObject

_NO_SERVER = frozenset(("gateway", "toolSearch", "tools"))
_COMMAND_KEYS = ("command", "cmd", "executable")


@dataclass(frozen=True, slots=True)
class Written:
    """One server as it is written. `place` is the dotted path of what it stands in."""

    key: str
    value: object = field(repr=False)
    place: str


@dataclass(frozen=True, slots=True)
class Servers:
    dialect: Dialect
    entries: tuple[Written, ...]


def find_servers(path: Path, root: JsonObject, cwd: Path, findings: Findings) -> Servers:
    """The servers of a file that is read in the working folder `cwd`."""
    present = [(place, value) for place in ROOTS if (value := _at(root, place)) is not None]
    if not present and "projects" in root and recognise(path, MCP_SERVERS, (), ()).keeps_projects:
        present = [(MCP_SERVERS, {})]
    if not present:
        return Servers(BARE, tuple(Written(key, value, "") for key, value in _bare(root)))
    place, value = present[0]
    name = ".".join(place)
    for other, unread in present[1:]:
        if other != place[:1] and any(map(is_entry, _values(unread))):
            message = f"The servers under `{'.'.join(other)}` are not read: there are some under `{name}`."
            findings.warn("other_root", str(path), message, "Put them in one place, or in two files.")
    entries = {key: Written(key, entry, name) for key, entry in _entries(path, name, value, findings)}
    beside = root.keys() - {place[0]}
    dialect = recognise(path, place, beside, (written.value for written in entries.values()))
    if dialect.keeps_projects:
        entries.update(_of_folder(path, root.get("projects"), cwd, findings))
    return Servers(dialect, tuple(entries.values()))


def _bare(root: JsonObject) -> Iterable[tuple[str, object]]:
    """A file that is nothing but servers, and what is ours. One that has other objects, too, is something else."""
    objects = {key: value for key, value in root.items() if isinstance(value, dict) and key not in _NO_SERVER}
    return objects.items() if all(map(is_entry, objects.values())) else ()


def _of_folder(path: Path, projects: object, cwd: Path, findings: Findings) -> Mapping[str, Written]:
    """What Claude Code adds in a folder unless told otherwise; it counts before the servers that are for everywhere."""
    folders = projects if isinstance(projects, dict) else {}
    having = {name: servers for name, project in folders.items() if (servers := _in_project(project))}
    here = str(cwd)
    elsewhere = len(having.keys() - {here})
    if elsewhere:
        message = f"The servers of {elsewhere} other folders under `projects` are not read."
        findings.note("other_folders", str(path), message, "Start toolfold in that folder, or copy them.")
    return {
        key: Written(key, entry, f"projects.{shown(here)}.mcpServers") for key, entry in having.get(here, {}).items()
    }


def _in_project(project: object) -> JsonObject:
    servers = project.get("mcpServers") if isinstance(project, dict) else None
    return servers if isinstance(servers, dict) else {}


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
