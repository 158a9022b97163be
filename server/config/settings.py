"""The settings that the rest of the project reads: frozen, complete, and free of anything about how they were written.

Sections of `gateway` are pydantic models, whose fields carry the bounds; what is out of them or of the wrong type is
mended by the reader (`server.config.sections`), never here. No `repr` shows a value that may be secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from server.config.findings import Finding

Hints: TypeAlias = Literal["off", "safe"]
Pinning: TypeAlias = Literal["warn", "strict", "off"]
Protocol: TypeAlias = Literal["legacy", "auto", "modern"]
Transport: TypeAlias = Literal["http", "sse", "auto"]
Mode: TypeAlias = Literal["tools", "code", "directory", "auto", "off"]

MOST_SCHEMAS = 12  # published in full in mode directory: the reference's bound
MOST_CLIENT_TOOLS = 200  # far more than any host runs itself

DAY_MS = 24 * 60 * 60 * 1000  # the most that any wait may be set to: beyond it a hung call is never noticed
MIB = 1024 * 1024


def _whole(value: object) -> object:
    """JSON does not tell 8.0 from 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: object) -> object:
    """A single name in place of a list of names is certain enough."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Whole: TypeAlias = Annotated[int, BeforeValidator(_whole)]
Names: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]


class Section(BaseModel):
    """One object of the file. Keys are camelCase there; types are taken strictly; errors never show the input."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
    )


class DirectorySettings(Section):
    """For mode directory. `schemas`: ids of tools that are published in full."""

    schemas: Names = ()
    # By default what the largest host lets through; the reference's directory has 18,000 characters at the most.
    instructions_characters: Whole = Field(default=2_000, ge=500, le=18_000)


class ToolSearchSettings(Section):
    """`mode` is what the file asks for, or what `server.modes` has made of it; where it is `auto`, the catalogue decides."""

    mode: Mode = "tools"
    code_timeout_ms: Whole = Field(default=10_000, ge=1_000, le=60_000)
    search_default_limit: Whole = Field(default=8, ge=1, le=50)
    max_search_limit: Whole = Field(default=20, ge=1, le=50)
    # What a session of five tasks costs folded: three tools up front, and a search and a describe for each task.
    auto_above_tokens: Whole = Field(default=4_000, ge=0, le=1_000_000)
    directory: DirectorySettings = DirectorySettings()


class PolicySettings(Section):
    """Globs over tool ids. A tool is reachable if `allow` matches it and `deny` does not.

    A reachable one that `block` matches is seen and never run; one that `ask` matches is run once a person has agreed.
    `owner_only` is for callers under no profile, and `read_only` are those that profiles of this name may use.
    """

    allow: Names = ("*",)
    deny: Names = ()
    ask: Names = ()
    block: Names = ()
    owner_only: Names = ()
    read_only: Names = ()


class ProfileSettings(Section):
    """What callers of one kind may do of what `PolicySettings` lets pass. `clients`: whose it is by name."""

    allow: Names = ("*",)
    deny: Names = ()
    ask: Names = ()
    block: Names = ()
    read_only: StrictBool = False
    clients: Names = ()


class StartupSettings(Section):
    """`idle_stop_seconds`: a server that nobody has called for so long is stopped until the next call; 0 for never."""

    mode: Literal["eager", "lazy"] = "eager"
    idle_stop_seconds: Whole = Field(default=0, ge=0, le=DAY_MS // 1000)
    concurrency: Annotated[int, Field(ge=1, le=256), BeforeValidator(_whole)] | None = None  # None: by the cores
    timeout_ms: Whole = Field(default=60_000, ge=100, le=DAY_MS)


class LimitSettings(Section):
    line_bytes: Whole = Field(default=4 * MIB, ge=4 * 1024, le=256 * MIB)
    result_bytes: Whole = Field(default=64 * 1024, ge=1024, le=64 * MIB)
    call_idle_ms: Whole = Field(default=120_000, ge=100, le=DAY_MS)
    call_total_ms: Whole = Field(default=600_000, ge=100, le=DAY_MS)


def _stays_inside(folder: str | Literal[False]) -> str | Literal[False]:
    """What begins with `~` is a whole path, too."""
    if folder and not folder.startswith("~") and not Path(folder).is_absolute() and ".." in Path(folder).parts:
        raise PydanticCustomError("session_dir", "should stay within the state folder, or be a whole path")
    return folder


class LogSettings(Section):
    """`session_dir`: where session logs are kept (false: nowhere). A whole path is any folder that the operator likes; any
    other stays within the state folder.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    session_dir: Annotated[str | Literal[False], AfterValidator(_stays_inside)] = "sessions"
    arguments: Literal["redacted"] = "redacted"  # no other is planned: a log that holds arguments holds secrets


class TokenSettings(Section):
    """A bearer token by its SHA-256, and the profile of whoever has it."""

    hash: str = Field(default="", repr=False)
    profile: str = ""


def _hashed(value: object) -> object:
    """The hash by itself stands for a token without a profile."""
    return {"hash": value} if isinstance(value, str) else value


Token: TypeAlias = Annotated[TokenSettings, BeforeValidator(_hashed, json_schema_input_type=str | TokenSettings)]


class HttpSettings(Section):
    """For `serve --http`. `tokens`: a name for each bearer token, and the SHA-256 of the token itself, in hexadecimal.

    A token is asked for as soon as one is named here, a hash that nothing can match included.
    """

    tokens: Mapping[str, Token] = Field(default_factory=dict, repr=False)
    allow_hosts: Names = ()


class ClientTool(Section):
    """A tool that the host runs itself: it is found and described here, and called there."""

    name: str
    description: str = ""
    input_schema: Mapping[str, object] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class HookSettings(Section):
    """`before_call`: a command line, or one `module:function`, that is asked before each call. One that fails blocks."""

    before_call: Names = Field(default=(), repr=False)
    timeout_ms: Whole = Field(default=5_000, ge=100, le=60_000)


class GatewaySettings(Section):
    hooks: HookSettings = HookSettings()
    profiles: Mapping[str, ProfileSettings] = Field(default_factory=dict)
    tool_search: ToolSearchSettings = ToolSearchSettings()
    client_tools: tuple[ClientTool, ...] = ()
    direct_tools: Names = ()
    policy: PolicySettings = PolicySettings()
    startup: StartupSettings = StartupSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()
    http: HttpSettings = HttpSettings()
    hints: Hints = "off"
    pins: Pinning = "warn"
    semantic: StrictBool = False


@dataclass(frozen=True, slots=True)
class Remote:
    """A server to connect to. Its address and headers may hold secrets: they are shown nowhere."""

    url: str = field(repr=False)
    transport: Transport = "auto"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    headers_helper: tuple[str, ...] = field(default=(), repr=False)  # a command line that prints more of them as JSON

    @property
    def attempts(self) -> tuple[Literal["http", "sse"], ...]:
        """The transports to try, in order: streamable HTTP first, unless the address looks like the older one's."""
        if self.transport != "auto":
            return (self.transport,)
        return ("sse", "http") if urlsplit(self.url).path.rstrip("/").endswith("/sse") else ("http", "sse")


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """An OpenClaw Gateway to connect to, and what of its tools is let through. Its secret is shown nowhere."""

    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    is_password: bool = False
    session_key: str = "main"
    agent_id: str = ""
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    profile: Literal["minimal", "coding", "messaging", "full"] = "full"
    also_allow: tuple[str, ...] = ()
    visibility: Literal["self", "tree", "agent", "all"] = "tree"
    sanitizes: bool = True
    schemas: Literal["live", "bundled"] = "live"


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """One upstream: to be started, or, with a `remote` or an `openclaw`, to be connected to.

    With a `problem` it is left alone.
    """

    key: str
    owner: str
    problem: str = ""
    disabled: bool = False
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), repr=False
    )  # of the child, or the helper
    cwd: str | None = field(default=None, repr=False)
    remote: Remote | None = None
    openclaw: OpenClaw | None = None
    description: str = field(default="", repr=False)
    timeout_seconds: float | None = None
    total_timeout_seconds: float | None = None
    start_timeout_seconds: float | None = None
    include_tools: tuple[str, ...] = field(default=(), repr=False)
    exclude_tools: tuple[str, ...] = field(default=(), repr=False)
    always_load: bool = False
    trusted: bool = False
    hints: Hints = "off"
    protocol: Protocol = "legacy"
    gateway: bool | None = None  # None: it is found out whether it is one
    idle_stop_seconds: float | None = None
    fingerprint: str = ""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    where: str = field(default="", compare=False)  # the file and the place in it, as findings have them


@dataclass(frozen=True, slots=True)
class Settings:
    servers: tuple[ServerEntry, ...]
    gateway: GatewaySettings
    findings: tuple[Finding, ...]
    sources: tuple[Path, ...]
    answers: tuple[Path, ...] = ()
    """Where stored answers to inputs were looked for: nowhere, if no entry needs one."""
    hook_env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
