"""One entry of `mcpServers` under our own names: the keys it may have, and the types they take.

It decides nothing about what is started. Values pass through it as they are; only key names are put into findings.
"""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from server.config.findings import Findings, closest, shown
from server.config.keys import TRANSPORTS, folded
from server.config.secrets import is_written_out, named_arguments
from server.config.sections import JsonObject
from server.config.settings import DAY_MS, Hints, Names, Protocol, Section, Whole
from server.config.variables import literal_part


def _as_text(value: object) -> object:
    """`"PORT": 8080` can only mean "8080". A fraction is left to be refused: 1.10 would arrive as "1.1"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


def _without_nulls(value: object) -> object:
    """VS Code writes `null` for a variable that is not to be set; as everywhere, it counts as not written."""
    return {name: text for name, text in value.items() if text is not None} if isinstance(value, dict) else value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _as_command(value: object) -> object:
    return (value,) if isinstance(value, str) else _as_tuple(value)


Text: TypeAlias = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int | bool)]
Arguments: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)]
Variables: TypeAlias = Annotated[
    dict[str, Text], BeforeValidator(_without_nulls, json_schema_input_type=dict[str, str | int | bool | None])
]
CommandLine: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(_as_command, json_schema_input_type=str | tuple[str, ...])
]
Wait: TypeAlias = Annotated[float | None, Field(gt=0, le=DAY_MS, allow_inf_nan=False)]

IdleStop: TypeAlias = Annotated[Whole, Field(ge=0, le=DAY_MS // 1000)] | None


class EntryInput(Section):
    type: str = ""
    command: CommandLine = ()
    args: Arguments = ()
    env: Variables = Field(default_factory=dict)
    env_file: str | None = None
    pass_env: Names = ()
    cwd: str | None = None
    url: str = ""
    headers: dict[str, Text] = Field(default_factory=dict)
    headers_helper: CommandLine = ()
    timeout: Wait = None
    total_timeout: Wait = None
    startup_timeout: Wait = None
    disabled: bool = False
    description: str = ""
    include_tools: Names = ()
    exclude_tools: Names = ()
    always_load: bool = False
    trusted: bool = False
    hints: Hints | None = None
    protocol: Protocol = "legacy"
    gateway: bool | None = None
    idle_stop_seconds: IdleStop = None

    def __repr__(self) -> str:
        return f"EntryInput({len(self.command_line)} words)"  # the values may be secret

    @property
    def kind(self) -> str:
        """What `type` comes to; "" if it is left out or unknown."""
        return TRANSPORTS.get(folded(self.type), "")

    @property
    def is_remote(self) -> bool:
        """Whether the entry names a server to connect to, not a program to start."""
        return bool(self.url) and not self.command if self.kind == "" else self.kind != "stdio"

    @property
    def command_line(self) -> tuple[str, ...]:
        return (*self.command, *self.args) if self.command else ()


def warn_of_unknown_type(entry: EntryInput, where: str, findings: Findings) -> None:
    if entry.type and not entry.kind:
        meant = closest(entry.type, TRANSPORTS)
        fix = f"Did you mean `{meant}`?" if meant else 'Write "stdio", "http" or "sse", or leave `type` out.'
        findings.warn("unknown_type", where, "`type` is not a transport that toolfold knows.", fix)


def warn_of_written_out_secrets(written: JsonObject, where: str, findings: Findings) -> None:
    for place in ("env", "headers"):
        values = written.get(place)
        for name, value in values.items() if isinstance(values, dict) else ():
            if isinstance(value, str) and is_written_out(name, literal_part(value)):
                warn_of_secret(f"{place}.{shown(name)}", where, findings)
    args = written.get("args")
    texts = [literal_part(arg) for arg in args if isinstance(arg, str)] if isinstance(args, list) else []
    if any(is_written_out(name, value) for name, value in named_arguments(texts)):
        warn_of_secret("args", where, findings)


def warn_of_secret(place: str, where: str, findings: Findings) -> None:
    findings.warn(
        "literal_secret",
        f"{where}.{place}",
        "A secret seems to be written out in the file.",
        "Keep it in an environment variable or an `envFile`, and write ${NAME} here.",
    )
