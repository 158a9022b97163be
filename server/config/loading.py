"""Reads the configuration files, in order, and puts the settings together.

Only a file that cannot be used at all stops it. A later file's entry replaces an earlier one of the same key, whole;
its gateway settings replace single keys.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from server.config.child import inherited
from server.config.dialects import ROOTS
from server.config.entry import Surroundings, WrittenEntry, mark_same_owner, read_entry
from server.config.files import read_text, take_write_from
from server.config.findings import ConfigError, Finding, Findings, closest, shown
from server.config.formats import parse_file
from server.config.gateway import GATEWAY_KEYS, GUARDS, NO_HOOK, read_gateway, warn_of_patterns
from server.config.inputs import Answers, Ask, Input, ask_nobody, declared_inputs
from server.config.keys import OPENCLAW, READ_BESIDE, ROOT_KEYS
from server.config.openclaw import read_openclaw
from server.config.places import is_users_own
from server.config.roots import Servers, find_servers
from server.config.sections import JsonObject, unknown_keys, warn_of_unknown_keys
from server.config.settings import Settings
from server.config.started_by import with_own_mark
from server.config.text import BadText
from server.config.variables import Variables

# Hosts keep their whole state in the file that has `mcpServers`; a few MiB of it are real, more is a mistake.
MAX_FILE_BYTES = 4 * 1024 * 1024

# Each upstream is a process. Beyond this the machine ends before the list does.
MAX_SERVERS = 500

# An editor's settings have a few hundred keys. Beyond these no slip is looked for.
MAX_ROOT_KEYS = 1000

# Of two, in here or the whole, the last one would count, and what the other keeps back would be open.
MUST_BE_ALONE = re.compile(r"gateway(?:\.(?:policy|profiles|hooks|pins)\b.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    root: JsonObject = field(repr=False)
    servers: Servers
    inputs: Mapping[str, Input]


def load(
    paths: Sequence[Path], environ: Mapping[str, str], cwd: Path, ask: Ask = ask_nobody, ask_for: str = ""
) -> Settings:
    """The settings that these files amount to, in this environment and working folder.

    `ask` gets what is neither in the environment nor stored of the inputs that the files leave open; if `ask_for` names
    an entry, by its key or its owner, only what that one needs.

    Raises: ConfigError, for a file that is missing, unreadable, not a configuration, or writable by everyone; and for a
    gateway that has, by way of others, started itself.
    """
    findings = Findings()
    files = [_without_hooks(_read(cwd / path, cwd, findings), environ, findings) for path in paths]
    written, gateway_where = _gateway(files, findings)
    gateway = read_gateway(written, gateway_where, findings)
    answers = Answers(environ, ask, findings)
    started_by = with_own_mark(environ, (file.path for file in files))
    around = Surroundings(environ, Variables.of(environ, cwd), answers, started_by, gateway, ask_for)
    entries = [read_entry(written, around, findings) for written in _written_entries(files, findings)]
    if isinstance(written, dict):
        inputs = {key: one for file in files for key, one in file.inputs.items()}
        place = f"{gateway_where}.{OPENCLAW}"
        entries.append(read_openclaw(written.get(OPENCLAW), place, inputs, around, findings))
    servers = mark_same_owner([entry for entry in entries if entry is not None], findings)
    warn_of_patterns(gateway, {server.owner for server in servers}, gateway_where, findings)
    return Settings(
        servers, gateway, findings.found(), tuple(file.path for file in files), answers.looked_in(), inherited(environ)
    )


def _read(path: Path, cwd: Path, findings: Findings) -> _File:
    file = read_text(path, MAX_FILE_BYTES)
    try:
        parsed = parse_file(file.text, path.suffix)
    except BadText as error:
        place = f"{path}:{error.line}:{error.column}" if error.line else str(path)
        raise ConfigError("config_syntax", f"{place}: {error.what}.", error.fix) from None
    if not isinstance(parsed.value, dict):
        raise ConfigError("config_syntax", f"{path}: the file is not an object.", 'Write {"mcpServers": {…}}.')
    if file.is_group_writable:
        fix = f"Run: {take_write_from('g', path)}"
        findings.warn("group_writable", str(path), "The file can be changed by its group.", fix)
    for duplicate in parsed.duplicates:
        message = f"`{duplicate}` is there twice; the last one counts."
        findings.warn("duplicate_key", str(path), message, "Remove or rename one of them.")
    servers = find_servers(path, parsed.value, cwd, findings)
    _check_root(path, parsed.value, servers, findings)
    inputs = declared_inputs(parsed.value.get("inputs"), f"{path}: inputs", findings)
    read = _File(path, parsed.value, servers, inputs)
    _refuse_unread_guards(read, parsed.duplicates)
    return read


def _without_hooks(file: _File, environ: Mapping[str, str], findings: Findings) -> _File:
    """A hook is a program. A file that a project may have brought starts none, and takes none away."""
    ours = file.root.get("gateway")
    if not isinstance(ours, dict) or "hooks" not in ours or is_users_own(file.path, environ):
        return file
    message = "`hooks` runs a program, and is not used from a file that a project may have brought; no tool is called."
    fix = (
        "Move it to a file of your settings folder, such as ~/.config/toolfold/hooks.json, and name both with --config."
    )
    findings.add(Finding("error", "hook_not_trusted", f"{file.path}: gateway.hooks", message, fix))
    return replace(file, root={**file.root, "gateway": {**ours, "hooks": {"beforeCall": list(NO_HOOK)}}})


def _refuse_unread_guards(file: _File, duplicates: Iterable[str]) -> None:
    """What was meant to keep something back, and stands where it is not read, would leave it open."""
    path, root, dialect = file.path, file.root, file.servers.dialect
    if dialect.is_whole:
        return
    if twice := next(filter(MUST_BE_ALONE.fullmatch, duplicates), ""):
        message = f"{path}: `{twice}` is there twice, and what one of them keeps back would be open."
        raise ConfigError("duplicate_key", message, "Put the two into one.")
    if not dialect.root:  # each key is a server
        return
    for key in sorted(GUARDS & root.keys()):
        if _is_guard(key, root[key]):
            raise ConfigError("misplaced_key", f"{path}: `{key}` is not read here.", f"Move it: gateway.{key}")
    for key in unknown_keys(islice(root, MAX_ROOT_KEYS), ROOT_KEYS):
        value = root[key]
        if closest(key, ROOT_KEYS) == "gateway" and isinstance(value, dict) and GUARDS & value.keys():
            message = f"{path}: `{shown(key)}` is not a key that toolfold knows."
            raise ConfigError("unknown_key", message, "Did you mean `gateway`?")


def _is_guard(key: str, value: object) -> bool:
    """Hosts have hooks of their own kind."""
    return isinstance(value, dict) and bool(value) and (key != "hooks" or "beforeCall" in value)


def _check_root(path: Path, root: JsonObject, servers: Servers, findings: Findings) -> None:
    """Tells what stands beside the servers for nothing; in a host's whole file, only what may be a slip of a root."""
    if servers.dialect.is_whole:
        near = {key: None for key in islice(root, MAX_ROOT_KEYS) if key not in ROOT_KEYS and closest(key, ROOT_KEYS)}
        warn_of_unknown_keys(near, ROOT_KEYS, str(path), findings, {place[0] for place in ROOTS})
        return
    misplaced = root.keys() & GATEWAY_KEYS - READ_BESIDE
    for key in sorted(misplaced):
        findings.warn("misplaced_key", str(path), f"`{key}` is not read here.", f"Move it: gateway.{key}")
    read = {
        *READ_BESIDE,
        *(place[0] for place in ROOTS),
        *(written.key for written in servers.entries if not written.place),
    }
    if _tool_search_of_openclaw(root) is not None:
        read.add("tools")
    warn_of_unknown_keys(root, ROOT_KEYS, str(path), findings, {*GATEWAY_KEYS, *read})


def _written_entries(files: Iterable[_File], findings: Findings) -> list[WrittenEntry]:
    merged: dict[str, WrittenEntry] = {}
    for file in files:
        for written in file.servers.entries:
            place = f"{written.place}.{shown(written.key)}".lstrip(".")
            where = f"{file.path}: {place}"
            merged[written.key] = WrittenEntry(
                written.key, written.value, file.path, where, file.servers.dialect, file.inputs
            )
    if len(merged) > MAX_SERVERS:
        message = f"More than {MAX_SERVERS} servers; {len(merged) - MAX_SERVERS} are left out."
        findings.add(
            Finding("error", "too_many_servers", "mcpServers", message, "Remove some, or run a second gateway.")
        )
    return list(merged.values())[:MAX_SERVERS]


def _gateway(files: Iterable[_File], findings: Findings) -> tuple[object, str]:
    """What is written in all files together, and where."""
    having = [(file, part) for file in files if (part := _gateway_part(file, findings)) is not None]
    merged: object = None
    for _, part in having:
        merged = _merged(merged, part)
    return merged, f"{having[0][0].path}: gateway" if len(having) == 1 else "gateway"


def _gateway_part(file: _File, findings: Findings) -> object:
    """The settings of ours in one file: under `gateway`, and `toolSearch` where OpenClaw has it."""
    ours = file.root.get("gateway")
    if file.servers.dialect.owns_gateway and isinstance(ours, dict) and GATEWAY_KEYS.isdisjoint(ours):
        ours = None
    beside = file.root.get("toolSearch")
    found = beside if beside is not None else _tool_search_of_openclaw(file.root)
    if found is None or not (ours is None or isinstance(ours, dict)):
        return ours
    if ours is not None and ours.get("toolSearch") is not None:
        message = "`toolSearch` is in `gateway`, too; that one counts."
        findings.warn("given_twice", str(file.path), message, "Remove one of them.")
        return ours
    return {**(ours or {}), "toolSearch": found}


def _tool_search_of_openclaw(root: JsonObject) -> object:
    tools = root.get("tools")
    return tools.get("toolSearch") if isinstance(tools, dict) else None


def _merged(earlier: object, later: object) -> object:
    """Objects key by key, all else whole."""
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return later
    return {**earlier, **{key: _merged(earlier.get(key), value) for key, value in later.items()}}
