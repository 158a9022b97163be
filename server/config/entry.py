"""One entry of `mcpServers` becomes a `ServerEntry`. What is wrong with it stays its own: it is marked, the rest works.

The order matters: names, then variables, then types, and only then what would be started.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from index import owner_for_key
from server.config.entry_input import (
    EntryInput,
    is_remote,
    under_our_names,
    warn_of_unknown_type,
    warn_of_written_out_secrets,
)
from server.config.findings import Finding, Findings, Severity, Trouble, shown
from server.config.launch import Launch, Site, prepare
from server.config.secrets import redacted_values
from server.config.sections import Mended, read_section, warn_of_mended
from server.config.self_start import starts_toolfold
from server.config.settings import GatewaySettings, ServerEntry
from server.config.variables import MAX_EXPANDED_CHARS, Expansion, Variables

# A wrong value under these cannot be replaced by a default: something else would be started, or more would be shown.
NO_DEFAULT = frozenset(
    ("command", "args", "env", "envFile", "passEnv", "cwd", "disabled", "includeTools", "excludeTools")
)

# Below this a `timeout` was written for a host that counts seconds: no call is meant to end within a second.
SECONDS_BELOW = 1000

# A problem is shown in one line; the findings have all of them.
MAX_TROUBLES_SHOWN = 5

_REMOTE = Trouble(
    "http_unsupported",
    "HTTP upstreams are not supported yet.",
    "Set `disabled`, or start the server through a stdio command.",
)


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """An entry as one file has it; relative paths in it start at that file's folder."""

    key: str
    value: object = field(repr=False)
    folder: Path
    where: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    environ: Mapping[str, str] = field(repr=False)
    variables: Variables = field(repr=False)
    gateway: GatewaySettings


def read_entry(written: WrittenEntry, around: Surroundings, findings: Findings) -> ServerEntry | None:
    """None if the entry would start toolfold itself."""
    if not isinstance(written.value, dict):
        trouble = Trouble("wrong_type", "The entry should be an object.", 'Write {"command": "…", "args": ["…"]}.')
        return _marked(ServerEntry(written.key, owner_for_key(written.key)), [trouble], written.where, findings)
    named = under_our_names(written.value, written.where, findings)
    expansion = Expansion(around.variables)
    reading = read_section(EntryInput, {key: expansion.value(value) for key, value in named.items()})
    if starts_toolfold(reading.section.command_line):
        message = "This entry starts toolfold itself; it is skipped."
        findings.note("starts_itself", written.where, message, "Nothing to do.")
        return None
    warn_of_written_out_secrets({**written.value, **named}, written.where, findings)
    warn_of_mended(tuple(each for each in reading.mended if not _is_fatal(each)), written.where, findings)
    server = _server(written, reading.section, around, findings)
    known = redacted_values(reading.section.env, server.args, expansion.used)
    server = replace(server, secrets=known)  # also of an entry that is never started: its arguments may be printed
    if is_remote(written.value, reading.section):
        return _marked(server, [_REMOTE], written.where, findings)
    warn_of_unknown_type(reading.section, written.where, findings)
    if expansion.unknown_forms:
        message = "A ${…} in this entry is of a form that toolfold does not know; it is left as written."
        findings.warn(
            "unknown_variable_form", written.where, message, "Write ${NAME}, ${NAME:-default} or ${env:NAME}."
        )
    troubles = [*_wrong_values(reading.mended), *_unresolved(expansion)]
    if not troubles:
        site = Site(written.folder, around.environ, written.where)
        launch = prepare(reading.section, expansion.used, site, findings)
        server = _with_launch(server, launch)
        troubles = [*launch.troubles]
    return _marked(server, troubles, written.where, findings)


def _server(written: WrittenEntry, entry: EntryInput, around: Surroundings, findings: Findings) -> ServerEntry:
    """All of the entry but what the child's environment decides."""
    idle = _seconds("timeout", entry.timeout, written.where, findings)
    total = _seconds("totalTimeout", entry.total_timeout, written.where, findings)
    if total is None and idle is not None and idle * 1000 > around.gateway.limits.call_total_ms:
        total = idle  # a wait that the entry asks for is not cut short by the gateway's default
    command, *args = entry.command_line or ("",)
    return ServerEntry(
        key=written.key,
        owner=owner_for_key(written.key),
        disabled=entry.disabled,
        command=command,
        args=tuple(args),
        description=entry.description,
        timeout_seconds=idle,
        total_timeout_seconds=total,
        include_tools=entry.include_tools,
        exclude_tools=entry.exclude_tools,
        always_load=entry.always_load,
        trusted=entry.trusted,
        hints=entry.hints or around.gateway.hints,
        protocol=entry.protocol,
    )


def _with_launch(server: ServerEntry, launch: Launch) -> ServerEntry:
    return replace(
        server,
        env=MappingProxyType(dict(launch.env)),
        cwd=launch.cwd,
        fingerprint=launch.fingerprint,
        secrets=launch.secrets,
    )


def _marked(server: ServerEntry, troubles: Sequence[Trouble], where: str, findings: Findings) -> ServerEntry:
    """The entry with its problem, if it has one; a disabled entry's problem is no more than a note."""
    for trouble in troubles:
        severity: Severity = "warning" if trouble is _REMOTE else "error"
        findings.add(
            Finding("note" if server.disabled else severity, trouble.code, where, trouble.message, trouble.fix)
        )
    return replace(server, problem=" ".join(str(trouble) for trouble in troubles[:MAX_TROUBLES_SHOWN]))


def mark_same_owner(servers: Sequence[ServerEntry], findings: Findings) -> tuple[ServerEntry, ...]:
    """Entries whose keys become one owner in ids would be taken for each other: none of them is started."""
    times = Counter(server.owner for server in servers)
    return tuple(_clashing(server, findings) if times[server.owner] > 1 else server for server in servers)


def _clashing(server: ServerEntry, findings: Findings) -> ServerEntry:
    message = f"Another key becomes `{server.owner}` in tool ids, as `{shown(server.key)}` does."
    trouble = Trouble("same_owner", message, "Rename one of them.")
    findings.add(Finding("error", trouble.code, f"mcpServers.{shown(server.key)}", trouble.message, trouble.fix))
    return replace(server, problem=f"{server.problem} {trouble}".strip())


def _is_fatal(mended: Mended) -> bool:
    return mended.key in NO_DEFAULT


def _wrong_values(mended: Iterable[Mended]) -> Iterable[Trouble]:
    for each in mended:
        if _is_fatal(each):
            yield Trouble("wrong_type", each.message, "Correct it.")


def _unresolved(expansion: Expansion) -> Iterable[Trouble]:
    for name in dict.fromkeys(expansion.unset):
        fix = f"Set it where toolfold is started, or write ${{{name}:-default}}."
        yield Trouble("variable_not_set", f"The variable `{name}` is not set.", fix)
    for reference in dict.fromkeys(expansion.unanswerable):
        message = f"`{reference}` cannot be answered here."
        yield Trouble("variable_not_supported", message, "Use an environment variable: ${NAME} or ${NAME:-default}.")
    if expansion.is_too_long:
        message = f"With its variables the entry is longer than {MAX_EXPANDED_CHARS} characters."
        yield Trouble("too_long", message, "Use shorter values, or fewer.")


def _seconds(key: str, written: float | None, where: str, findings: Findings) -> float | None:
    if written is None:
        return None
    if written >= SECONDS_BELOW:
        return written / 1000
    message = f"`{key}` is below {SECONDS_BELOW}, and is read as seconds."
    findings.note("timeout_in_seconds", where, message, "Write milliseconds.")
    return written
