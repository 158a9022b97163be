"""One entry of `mcpServers` becomes a `ServerEntry`. What is wrong with it stays its own: it is marked, the rest works.

The order matters: names, then variables, then types, and only then what would be started.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from index import owner_for_key
from server.config import started_by
from server.config.dialects import Dialect
from server.config.entry_input import EntryInput, warn_of_unknown_type, warn_of_written_out_secrets
from server.config.findings import Finding, Findings, Severity, Trouble, shown
from server.config.inputs import Answers, Input, no_answer
from server.config.keys import INSIDE_THE_HOST, folded
from server.config.launch import Site, prepare
from server.config.places import is_users_own
from server.config.remote import connection_of
from server.config.secrets import MIN_REDACTED, redacted_values
from server.config.sections import JsonObject, Mended, read_section, warn_of_mended
from server.config.self_start import starts_toolfold
from server.config.settings import GatewaySettings, ServerEntry
from server.config.spellings import under_our_names
from server.config.variables import MAX_EXPANDED_CHARS, Answer, Expansion, Variables

# A wrong value under these cannot be replaced by a default: something else would be started, or more would be shown.
NO_DEFAULT = frozenset(
    (
        "command", "args", "env", "envFile", "passEnv", "cwd", "disabled", "includeTools", "excludeTools", "url", "headers",
        "headersHelper",
    )
)  # fmt: skip

# A problem is shown in one line; the findings have all of them.
MAX_TROUBLES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """An entry as one file has it, and what that file says for all of its entries."""

    key: str
    value: object = field(repr=False)
    file: Path
    where: str
    dialect: Dialect
    inputs: Mapping[str, Input]


@dataclass(frozen=True, slots=True)
class Surroundings:
    environ: Mapping[str, str] = field(repr=False)
    variables: Variables = field(repr=False)
    answers: Answers
    started_by: tuple[str, ...]
    gateway: GatewaySettings
    ask_for: str

    def asks_for(self, key: str) -> bool:
        """Whether a person is to be asked for what the entry of this key leaves open."""
        return self.ask_for in ("", key, owner_for_key(key))


def read_entry(written: WrittenEntry, around: Surroundings, findings: Findings) -> ServerEntry | None:
    """None if the entry is none of a server: it would start toolfold itself, or is a part of the host that wrote it."""
    if not isinstance(written.value, dict):
        trouble = Trouble("wrong_type", "The entry should be an object.", 'Write {"command": "…", "args": ["…"]}.')
        nothing = ServerEntry(written.key, owner_for_key(written.key), where=written.where)
        return marked(nothing, [trouble], written.where, findings)
    if _is_inside_the_host(written.value):
        message = f"This is a part of {written.dialect.name} itself; it is skipped."
        findings.note("inside_the_host", written.where, message, "Nothing to do.")
        return None
    named = under_our_names(written.value, written.dialect, written.where, findings)
    expansion = Expansion(_variables(written, named, around))
    reading = read_section(EntryInput, {key: expansion.value(value) for key, value in named.items()})
    starts_itself = starts_toolfold(reading.section.command_line)
    if starts_itself and reading.section.gateway is not True:
        message = "This entry starts toolfold itself; it is skipped."
        fix = 'Nothing to do. For another gateway behind this one, add "gateway": true.'
        findings.note("starts_itself", written.where, message, fix)
        return None
    warn_of_written_out_secrets({**written.value, **named}, written.where, findings)
    warn_of_mended(tuple(each for each in reading.mended if not _is_fatal(each)), written.where, findings)
    warn_of_unknown_type(reading.section, written.where, findings)
    server = _server(written, reading.section, around)
    known = redacted_values({**reading.section.env, **reading.section.headers}, server.args, expansion.used)
    # Also of an entry that is left alone: its arguments may be printed.
    server = replace(server, secrets=known | {secret for secret in expansion.secrets if len(secret) >= MIN_REDACTED})
    if expansion.unknown_forms:
        message = "A ${…} in this entry is of a form that toolfold does not know; it is left as written."
        fix = "Write ${NAME}, ${NAME:-default} or ${env:NAME}."
        findings.warn("unknown_variable_form", written.where, message, fix)
    troubles = [
        *wrong_values(each for each in reading.mended if _is_fatal(each)),
        *unresolved(expansion, written.inputs),
    ]
    if not troubles:
        site = Site(written.file.parent, around.environ, written.where, is_users_own(written.file, around.environ))
        server, troubles = _prepared(server, reading.section, expansion.used, site, findings)
    if starts_itself:
        marks = {started_by.VARIABLE: ",".join(around.started_by)}
        server = replace(server, env=MappingProxyType({**server.env, **marks}))
    return marked(server, troubles, written.where, findings)


def _is_inside_the_host(entry: JsonObject) -> bool:
    kind = entry.get("type")
    if isinstance(kind, str) and folded(kind) in INSIDE_THE_HOST:
        return True
    return entry.get("source") == "extension" and "command" not in entry


def _variables(written: WrittenEntry, named: JsonObject, around: Surroundings) -> Variables:
    may_ask = named.get("disabled") is not True and around.asks_for(written.key)

    def answer(key: str) -> Answer | None:
        wanted = written.inputs.get(key, Input(key))
        value = around.answers.find(wanted, may_ask=may_ask)
        return None if value is None else Answer(value, wanted.is_secret)

    return replace(around.variables, answer=answer)


def _prepared(
    server: ServerEntry, entry: EntryInput, used: Mapping[str, str], site: Site, findings: Findings
) -> tuple[ServerEntry, list[Trouble]]:
    """With what starting it or connecting to it takes."""
    if entry.is_remote:
        connection = connection_of(entry, used, site, findings)
        secrets = server.secrets | connection.secrets
        server = replace(
            server,
            remote=connection.remote,
            env=MappingProxyType(dict(connection.env)),
            fingerprint=connection.fingerprint,
            secrets=secrets,
            command="",
            args=(),
        )
        return server, [*connection.troubles]
    launch = prepare(entry, used, site, findings)
    secrets = server.secrets | launch.secrets
    env = MappingProxyType(dict(launch.env))
    server = replace(server, env=env, cwd=launch.cwd, fingerprint=launch.fingerprint, secrets=secrets)
    return server, [*launch.troubles]


def _server(written: WrittenEntry, entry: EntryInput, around: Surroundings) -> ServerEntry:
    """All of the entry but what its site decides."""
    idle = _seconds(entry.timeout)
    total = _seconds(entry.total_timeout)
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
        start_timeout_seconds=_seconds(entry.startup_timeout),
        include_tools=entry.include_tools,
        exclude_tools=entry.exclude_tools,
        always_load=entry.always_load,
        trusted=entry.trusted,
        hints=entry.hints or around.gateway.hints,
        protocol=entry.protocol,
        gateway=entry.gateway,
        idle_stop_seconds=entry.idle_stop_seconds,
        where=written.where,
    )


def marked(server: ServerEntry, troubles: Sequence[Trouble], where: str, findings: Findings) -> ServerEntry:
    """The entry with its problem, if it has one; a disabled entry's problem is no more than a note."""
    for trouble in troubles:
        severity: Severity = "note" if server.disabled else "error"
        findings.add(Finding(severity, trouble.code, where, trouble.message, trouble.fix))
    return replace(server, problem=" ".join(str(trouble) for trouble in troubles[:MAX_TROUBLES_SHOWN]))


def mark_same_owner(servers: Sequence[ServerEntry], findings: Findings) -> tuple[ServerEntry, ...]:
    """Entries whose keys become one owner in ids would be taken for each other: none of them is started."""
    times = Counter(server.owner for server in servers)
    return tuple(_clashing(server, findings) if times[server.owner] > 1 else server for server in servers)


def _clashing(server: ServerEntry, findings: Findings) -> ServerEntry:
    message = f"Another key becomes `{server.owner}` in tool ids, as `{shown(server.key)}` does."
    trouble = Trouble("same_owner", message, "Rename one of them.")
    findings.add(Finding("error", trouble.code, server.where, trouble.message, trouble.fix))
    return replace(server, problem=f"{server.problem} {trouble}".strip())


def _is_fatal(mended: Mended) -> bool:
    return mended.key in NO_DEFAULT


def wrong_values(fatal: Iterable[Mended]) -> Iterable[Trouble]:
    """Values that no default can stand in for."""
    for each in fatal:
        yield Trouble("wrong_type", each.message, "Correct it.")


def unresolved(expansion: Expansion, inputs: Mapping[str, Input]) -> Iterable[Trouble]:
    for name in dict.fromkeys(expansion.unset):
        fix = f"Set it where toolfold is started, or write ${{{name}:-default}}."
        yield Trouble("variable_not_set", f"The variable `{name}` is not set.", fix)
    for key in dict.fromkeys(expansion.unanswered):
        yield Trouble("input_not_answered", *no_answer(inputs.get(key, Input(key))))
    for reference in dict.fromkeys(expansion.unanswerable):
        message = f"`{reference}` cannot be answered here, nor can a variable inside a default."
        yield Trouble("variable_not_supported", message, "Use an environment variable: ${NAME} or ${NAME:-default}.")
    if expansion.is_too_long:
        message = f"With its variables the entry is longer than {MAX_EXPANDED_CHARS} characters."
        yield Trouble("too_long", message, "Use shorter values, or fewer.")


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
