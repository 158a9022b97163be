"""Reads the configuration files, in order, and puts the settings together.

Only a file that cannot be used at all stops it. A later file's entry replaces an earlier one of the same key, whole;
its gateway settings replace single keys.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from server.config.entry import Surroundings, WrittenEntry, mark_same_owner, read_entry
from server.config.files import read_text, take_write_from
from server.config.findings import ConfigError, Finding, Findings, shown
from server.config.gateway import read_gateway, warn_of_patterns
from server.config.keys import OTHER_ROOTS, ROOT_KEYS
from server.config.sections import JsonObject, keys_of, warn_of_unknown_keys
from server.config.settings import GatewaySettings, Settings
from server.config.text import BadText, parse
from server.config.variables import Variables

# Hosts keep their whole state in the file that has `mcpServers`; a few MiB of it are real, more is a mistake.
MAX_FILE_BYTES = 4 * 1024 * 1024

# Each upstream is a process. Beyond this the machine ends before the list does.
MAX_SERVERS = 500


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    root: JsonObject = field(repr=False)


def load(paths: Sequence[Path], environ: Mapping[str, str], cwd: Path) -> Settings:
    """The settings that these files amount to, in this environment and working folder.

    Raises: ConfigError, for a file that is missing, unreadable, not a configuration, or writable by everyone.
    """
    findings = Findings()
    files = [_read(cwd / path, findings) for path in paths]
    gateway, gateway_where = _gateway(files, findings)
    around = Surroundings(environ, Variables.of(environ, cwd), gateway)
    entries = [read_entry(written, around, findings) for written in _written_entries(files, findings)]
    servers = mark_same_owner([entry for entry in entries if entry is not None], findings)
    warn_of_patterns(gateway, {server.owner for server in servers}, gateway_where, findings)
    return Settings(servers, gateway, findings.found(), tuple(file.path for file in files))


def _read(path: Path, findings: Findings) -> _File:
    file = read_text(path, MAX_FILE_BYTES)
    try:
        parsed = parse(file.text)
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
    _check_root(path, parsed.value, findings)
    return _File(path, parsed.value)


def _check_root(path: Path, root: JsonObject, findings: Findings) -> None:
    for key in sorted(root.keys() & keys_of(GatewaySettings)):
        findings.warn("misplaced_key", str(path), f"`{key}` is not read here.", f"Move it: gateway.{key}")
    other = next((key for key in OTHER_ROOTS if key in root), None)
    if other is not None and "mcpServers" not in root:
        message = f"The servers under `{other}` are not read."
        findings.warn("other_root", str(path), message, "Put them under `mcpServers`.")
    elsewhere = keys_of(GatewaySettings) | {*OTHER_ROOTS, "inputs"}
    warn_of_unknown_keys(root, ROOT_KEYS, str(path), findings, elsewhere)
    if root.get("inputs") is not None:
        findings.note_key_once(
            "inputs", str(path), "`inputs` is not used by this version.", "Use environment variables."
        )


def _written_entries(files: Iterable[_File], findings: Findings) -> list[WrittenEntry]:
    merged: dict[str, WrittenEntry] = {}
    for file in files:
        servers = file.root.get("mcpServers")
        if servers is None:
            continue
        if not isinstance(servers, dict):
            message = "`mcpServers` should be an object: a key for each server."
            findings.add(Finding("error", "wrong_type", str(file.path), message, 'Write {"name": {"command": "…"}}.'))
            continue
        for key, value in servers.items():
            merged[key] = WrittenEntry(key, value, file.path.parent, f"{file.path}: mcpServers.{shown(key)}")
    if len(merged) > MAX_SERVERS:
        message = f"More than {MAX_SERVERS} servers; {len(merged) - MAX_SERVERS} are left out."
        findings.add(
            Finding("error", "too_many_servers", "mcpServers", message, "Remove some, or run a second gateway.")
        )
    return list(merged.values())[:MAX_SERVERS]


def _gateway(files: Iterable[_File], findings: Findings) -> tuple[GatewaySettings, str]:
    having = [file for file in files if file.root.get("gateway") is not None]
    merged: object = None
    for file in having:
        merged = _merged(merged, file.root["gateway"])
    where = f"{having[0].path}: gateway" if len(having) == 1 else "gateway"
    return read_gateway(merged, where, findings), where


def _merged(earlier: object, later: object) -> object:
    """Objects key by key, all else whole."""
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return later
    return {**earlier, **{key: _merged(earlier.get(key), value) for key, value in later.items()}}
