"""What is particular to the files of each host, as data: where the servers stand, and what differs in how they are written.

A spelling with one meaning everywhere is in `server.config.keys`; here is only what means one thing in one host's file
and another, or nothing, elsewhere. The order of the table is the order in which roots are looked for.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import inf
from pathlib import PurePath

from server.config.settings import Transport

# Below this a `timeout` was written for a host that counts seconds: no call is meant to end within a second.
SECONDS_BELOW = 1000

# Cline and Roo take no `timeout` over an hour. In an entry of theirs found under another file's name, a number up to
# that is seconds: nobody waits 3.6 seconds for a tool on purpose.
SECONDS_UP_TO_AN_HOUR = 3601


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to write the file. Without `files`, `signs` and `entry_signs` it is the plain reading of its root."""

    name: str
    root: tuple[str, ...]
    files: tuple[str, ...] = ()  # how the paths of its files end
    signs: frozenset[str] = frozenset()  # keys beside the root that no other host has there
    entry_signs: frozenset[str] = frozenset()  # keys of an entry that no other host has under this root, or `type=…`
    seconds_below: float = SECONDS_BELOW
    variable: re.Pattern[str] | None = None  # a reference in a form of its own; it becomes `${group 1:group 2}`
    variable_in: tuple[str, ...] = ()  # the keys of an entry in which that form counts; () for all
    transport: Transport = "auto"  # of a URL without a type
    is_whole: bool = False  # the file holds everything else that the host keeps, too
    owns_gateway: bool = False  # `gateway` is a section of the host's
    splits_command: bool = False  # `command` may be a whole command line
    keeps_projects: bool = False  # `projects` has more servers, for each working folder its own

    def is_named_by(self, path: PurePath) -> bool:
        return path.as_posix().endswith(self.files)

    def is_told_by(self, beside: Collection[str], inside: Collection[str]) -> bool:
        return not (self.signs.isdisjoint(beside) and self.entry_signs.isdisjoint(inside))


MCP_SERVERS = ("mcpServers",)
_NESTED = ("mcp", "servers")

# `{env:NAME}` and `{file:path}`; a `$` before it makes it the form that everybody knows.
_BRACES = re.compile(r"(?<!\$)\{(env|file):([^{}]+)\}")

DIALECTS: tuple[Dialect, ...] = (
    Dialect("Cline", MCP_SERVERS, ("cline_mcp_settings.json",), seconds_below=inf),
    Dialect("Roo", MCP_SERVERS, ("/mcp_settings.json", ".roo/mcp.json", ".kilocode/mcp.json"), seconds_below=inf),
    Dialect(
        "Cline or Roo",
        MCP_SERVERS,
        entry_signs=frozenset(("autoApprove", "alwaysAllow")),
        seconds_below=SECONDS_UP_TO_AN_HOUR,
    ),
    Dialect(
        "Gemini CLI",
        MCP_SERVERS,
        (".gemini/settings.json",),
        entry_signs=frozenset(("httpUrl", "authProviderType", "trust")),
        variable=re.compile(r"(?<!\$)\$()([A-Za-z_][A-Za-z0-9_]*)"),
        variable_in=("env",),
        is_whole=True,
    ),
    Dialect(
        "mcporter",
        MCP_SERVERS,
        ("mcporter.json", "mcporter.jsonc"),
        signs=frozenset(("imports", "daemonIdleTimeoutMs", "daemon_idle_timeout_ms")),
        entry_signs=frozenset(("baseUrl", "base_url", "tokenCacheDir", "bearerTokenEnv", "lifecycle", "httpFetch")),
        variable=re.compile(r"\A\$(env):([A-Za-z_][A-Za-z0-9_]*)\Z"),
        splits_command=True,
        is_whole=True,
    ),
    Dialect(
        "Continue",
        MCP_SERVERS,
        (".continue/config.yaml", ".continue/config.yml", ".continue/config.json"),
        signs=frozenset(("schema", "models")),
        entry_signs=frozenset(("requestOptions",)),
        variable=re.compile(r"\$\{\{\s*(?:secrets|inputs)\.()([A-Za-z_][A-Za-z0-9_]*)\s*\}\}"),
        is_whole=True,
    ),
    Dialect("Claude Code", MCP_SERVERS, ("/.claude.json",), is_whole=True, keeps_projects=True),
    Dialect("mcp.json", MCP_SERVERS),
    Dialect("VS Code", ("servers",)),
    Dialect("VS Code", _NESTED, ("/settings.json",), is_whole=True),
    Dialect(
        "OpenCode",
        _NESTED,
        ("opencode.json", "opencode.jsonc"),
        entry_signs=frozenset(("environment", "type=local", "type=remote")),
        variable=_BRACES,
        is_whole=True,
    ),
    Dialect(
        "OpenClaw",
        _NESTED,
        ("openclaw.json", "openclaw.json5"),
        signs=frozenset(("agents", "channels", "wizard", "bindings")),
        transport="sse",
        is_whole=True,
        owns_gateway=True,
    ),
    Dialect("OpenClaw", _NESTED, transport="sse"),
    Dialect("OpenCode", ("mcp",), variable=_BRACES, is_whole=True),
    Dialect("Zed", ("context_servers",), is_whole=True),
    Dialect("Codex", ("mcp_servers",), is_whole=True),
    Dialect("Goose", ("extensions",), seconds_below=inf, is_whole=True),
)

# A file with no root at all: each of its keys names a server.
BARE = Dialect("a plain map of servers", ())

ROOTS: tuple[tuple[str, ...], ...] = tuple(dict.fromkeys(dialect.root for dialect in DIALECTS))


def recognise(path: PurePath, root: tuple[str, ...], beside: Collection[str], entries: Iterable[object]) -> Dialect:
    """The dialect of a file whose servers stand under `root`: by the file's name, by signs, else the plain reading."""
    candidates = [dialect for dialect in DIALECTS if dialect.root == root]
    if not candidates:
        return BARE
    written = [entry for entry in entries if isinstance(entry, dict)]
    inside = {key for entry in written for key in entry} | {
        f"type={entry['type']}" for entry in written if "type" in entry
    }
    named = (dialect for dialect in candidates if dialect.is_named_by(path))
    told = (dialect for dialect in candidates if dialect.is_told_by(beside, inside))
    return next(named, None) or next(told, candidates[-1])
