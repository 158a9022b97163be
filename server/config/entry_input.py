"""One entry of `mcpServers` as it is written: the keys it may have, under whichever name, and the types they take.

It decides nothing about what is started. Values pass through it as they are; only key names are put into findings.
"""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from server.config.findings import Findings, closest, shown
from server.config.keys import ALIASES, ELSEWHERE, HTTP_TYPES, OPPOSITE_OF_DISABLED, STDIO_TYPES, URL_KEYS
from server.config.secrets import is_written_out, named_arguments
from server.config.sections import JsonObject, keys_of, warn_of_unknown_keys
from server.config.settings import DAY_MS, Hints, Names, Protocol, Section
from server.config.variables import literal_part


def _as_text(value: object) -> object:
    """`"PORT": 8080` can only mean "8080". A fraction is left to be refused: 1.10 would arrive as "1.1"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _as_command(value: object) -> object:
    return (value,) if isinstance(value, str) else _as_tuple(value)


Text: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
Arguments: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)]
CommandLine: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_as_command)]


class EntryInput(Section):
    type: str = ""
    command: CommandLine = ()
    args: Arguments = ()
    env: dict[str, Text] = Field(default_factory=dict)
    env_file: str | None = None
    pass_env: Names = ()
    cwd: str | None = None
    timeout: float | None = Field(default=None, gt=0, le=DAY_MS, allow_inf_nan=False)
    total_timeout: float | None = Field(default=None, gt=0, le=DAY_MS, allow_inf_nan=False)
    disabled: bool = False
    description: str = ""
    include_tools: Names = ()
    exclude_tools: Names = ()
    always_load: bool = False
    trusted: bool = False
    hints: Hints | None = None
    protocol: Protocol = "legacy"

    def __repr__(self) -> str:
        return f"EntryInput({len(self.command_line)} words)"  # the values may be secret

    @property
    def command_line(self) -> tuple[str, ...]:
        return (*self.command, *self.args) if self.command else ()


def under_our_names(written: JsonObject, where: str, findings: Findings) -> JsonObject:
    """The entry with other hosts' spellings replaced; tells which keys are not used and which are not known."""
    ours = keys_of(EntryInput)
    elsewhere = {*ELSEWHERE, *ALIASES, OPPOSITE_OF_DISABLED}
    warn_of_unknown_keys(written, ours, where, findings, elsewhere)
    for key in written:
        if key in ELSEWHERE:
            findings.note_key_once(key, where, f"`{key}` is known from other hosts, and not used here.", ELSEWHERE[key])
    entry = {key: value for key, value in written.items() if key in ours}
    for alias, key in ALIASES.items():
        if alias in written:
            findings.note_key_once(
                alias, where, f"`{alias}` is read as `{key}`.", f"Nothing to do; here it is called `{key}`."
            )
            entry[key] = _joined(key, entry.get(key), written[alias])
    enabled = written.get(OPPOSITE_OF_DISABLED)
    if enabled is not None and enabled is not True:
        entry["disabled"] = True if enabled is False else enabled
    return entry


def _joined(key: str, ours: object, theirs: object) -> object:
    """Our own spelling wins, except that whatever either of them leaves out is left out."""
    if key == "excludeTools" and isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *theirs]
    return theirs if ours is None else ours


def is_remote(written: JsonObject, entry: EntryInput) -> bool:
    """Whether the entry names a server to connect to, not a program to start."""
    if entry.type in HTTP_TYPES:
        return True
    return not entry.command and entry.type not in STDIO_TYPES and any(key in written for key in URL_KEYS)


def warn_of_unknown_type(entry: EntryInput, where: str, findings: Findings) -> None:
    known = STDIO_TYPES | HTTP_TYPES
    if entry.type and entry.type not in known:
        meant = closest(entry.type, known)
        fix = f"Did you mean `{meant}`?" if meant else 'Write "stdio", or leave `type` out.'
        findings.warn("unknown_type", where, "`type` is not a transport that toolfold knows.", fix)


def warn_of_written_out_secrets(written: JsonObject, where: str, findings: Findings) -> None:
    for place in ("env", "headers"):
        values = written.get(place)
        for name, value in values.items() if isinstance(values, dict) else ():
            if isinstance(value, str) and is_written_out(name, literal_part(value)):
                _warn_of_secret(f"{place}.{shown(name)}", where, findings)
    args = written.get("args")
    texts = [literal_part(arg) for arg in args if isinstance(arg, str)] if isinstance(args, list) else []
    if any(is_written_out(name, value) for name, value in named_arguments(texts)):
        _warn_of_secret("args", where, findings)


def _warn_of_secret(place: str, where: str, findings: Findings) -> None:
    findings.warn(
        "literal_secret",
        f"{where}.{place}",
        "A secret seems to be written out in the file.",
        "Keep it in an environment variable or an `envFile`, and write ${NAME} here.",
    )
