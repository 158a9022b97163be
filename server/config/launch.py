"""What a stdio entry needs to be started: the folder and the whole environment of the child, checked with its command line.

Values that may be secret stay inside `Launch`, which does not print them; troubles name variables and files only.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from server.config.child import inherited, passed, unusable_name, unusable_text
from server.config.entry_input import EntryInput
from server.config.env_file import EnvFile, read_env_file
from server.config.files import take_write_from
from server.config.findings import ConfigError, Findings, Trouble, shown
from server.config.secrets import MIN_REDACTED, redacted_values, secrets_inside
from server.config.variables import from_home


@dataclass(frozen=True, slots=True)
class Site:
    """Where an entry stands: its file's folder (relative paths start there), the environment, its place in findings."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    where: str
    is_users_own: bool  # and not in a file that a project may have brought


@dataclass(frozen=True, slots=True)
class Launch:
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None = field(repr=False)
    fingerprint: str
    secrets: frozenset[str] = field(repr=False)
    troubles: tuple[Trouble, ...]


def prepare(entry: EntryInput, used: Mapping[str, str], site: Site, findings: Findings) -> Launch:
    """`used` are the variables whose values went into the entry."""
    troubles: list[Trouble] = []
    from_file = _env_file(entry, site, findings, troubles)
    written = {**from_file, **entry.env}  # what stands in the entry itself wins, as in other hosts
    given = {**passed(site.environ, entry.pass_env), **written}
    from_us = inherited(site.environ)
    cwd = None if entry.cwd is None else _path(entry.cwd, site)
    troubles += _unusable(entry.command_line, given, cwd)
    _warn_of_doubts(entry, cwd, site, findings)
    return Launch(
        env={**from_us, **given},
        cwd=cwd,
        fingerprint=fingerprint_of([entry.command_line, sorted(written.items()), sorted(entry.pass_env), cwd]),
        secrets=redacted_values(given, entry.command_line[1:], used) | _inside(from_us.values()),
        troubles=tuple(troubles),
    )


def _env_file(entry: EntryInput, site: Site, findings: Findings, troubles: list[Trouble]) -> dict[str, str]:
    if entry.env_file is None:
        return {}
    reason = unusable_text(entry.env_file)
    path = Path(_path(entry.env_file, site))
    try:
        file = read_env_file(path)
    except ConfigError as error:
        message = f"`envFile` {reason}." if reason else f"The `envFile` cannot be used: {error.message}"
        troubles.append(Trouble("env_file", message, error.hint))
        return {}
    _warn_of_env_file(file, path, site, findings)
    return file.values


def _warn_of_env_file(file: EnvFile, path: Path, site: Site, findings: Findings) -> None:
    where = f"{site.where}.envFile"
    if file.is_group_writable:
        findings.warn(
            "group_writable", where, f"{path} can be changed by its group.", f"Run: {take_write_from('g', path)}"
        )
    if file.bad_lines:
        lines = ", ".join(str(line) for line in file.bad_lines[:5])
        message = f"{path} has lines that are not NAME=value: {lines}."
        findings.warn("env_file_line", where, message, "They are left out; correct or remove them.")


def _path(written: str, site: Site) -> str:
    return os.path.normpath(site.folder / from_home(written, site.environ))


def _unusable(command_line: Sequence[str], given: Mapping[str, str], cwd: str | None) -> Iterable[Trouble]:
    if not command_line or not command_line[0].strip():
        yield Trouble("no_command", "The entry has no `command`.", "Add the program to start.")
    reasons = [("`command` or `args`", unusable_text(text)) for text in command_line]
    reasons += [("`cwd`", unusable_text(cwd or ""))]
    reasons += [
        (f"The variable `{shown(name)}`", unusable_name(name) or unusable_text(value)) for name, value in given.items()
    ]
    for what, reason in reasons:
        if reason:
            yield Trouble("unusable_text", f"{what} {reason}.", "No program can be started with it; correct it.")
            return


def _warn_of_doubts(entry: EntryInput, cwd: str | None, site: Site, findings: Findings) -> None:
    command = entry.command_line[0] if entry.command_line else ""
    words = command.split()
    if len(entry.command_line) == 1 and len(words) > 1 and not ({"/", "\\"} & set(words[0])):
        message = "`command` has spaces in it and is taken as the name of one program."
        findings.warn("command_with_spaces", site.where, message, "Put the arguments into `args`, one by one.")
    if cwd is not None and not os.path.isdir(cwd):
        findings.warn(
            "no_such_folder", f"{site.where}.cwd", "`cwd` is not a folder now.", "Create it, or correct the path."
        )
    if any(not pattern.strip("*?") for pattern in entry.pass_env):
        message = "`passEnv` hands the whole environment, secrets included, to this server."
        findings.warn("passes_everything", f"{site.where}.passEnv", message, "Name the variables that it needs.")
    for name in entry.pass_env:
        if not any(character in name for character in "*?[") and not passed(site.environ, (name,)):
            message = f"`{shown(name)}` is to be passed on, and is not set."
            findings.note("not_set", f"{site.where}.passEnv", message, "Set it, or leave it out.")


def fingerprint_of(parts: object) -> str:
    """One text for all that decides what a server lists."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _inside(values: Iterable[str]) -> frozenset[str]:
    """Passwords inside what every child gets, such as a proxy's address."""
    return frozenset(secret for value in values for secret in secrets_inside(value) if len(secret) >= MIN_REDACTED)
