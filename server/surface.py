"""What the host sees: our three tools, the direct-only ones, and the instructions.

A function of configuration and catalogue alone, sorted, one page: nothing that a host does changes it. Every tool
published has a portable name and a flat object schema (notes on hosts: name prefixes, 64-character limits, strict APIs).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from index import Exposure, Tool
from server.clean import one_line
from server.config import ServerEntry, ToolSearchSettings
from server.portable import is_portable_name, portable_schema, portable_text
from upstream_clients import JsonObject

SEARCH: Final = "tool_search"
DESCRIBE: Final = "tool_describe"
CALL: Final = "tool_call"
OUR_NAMES: Final = frozenset({SEARCH, DESCRIBE, CALL})

NAME_CHARACTERS: Final = 40
"""Hosts put `mcp__<server>__` in front, and some cut the whole at 64."""

NAME_HASH_CHARACTERS: Final = 6

INSTRUCTIONS_CHARACTERS: Final = 2000
"""The largest host cuts a server's instructions at 2,048 characters."""

META: Final[JsonObject] = {"anthropic/alwaysLoad": True}
"""Without it a host with a tool search of its own would hide ours behind it."""

HOW: Final = (
    "Many tools stand behind this server. Find one with tool_search, read its schema with tool_describe if its input is "
    "not clear, run it with tool_call."
)


@dataclass(frozen=True, slots=True)
class Surface:
    """The published list, and which catalogue tool each direct-only name stands for."""

    tools: tuple[JsonObject, ...]
    direct: Mapping[str, str]


def build_surface(direct: Iterable[Tool], settings: ToolSearchSettings) -> Surface:
    """The list for these direct-only tools."""
    named = direct_names(direct)
    published = [*_our_tools(settings), *(_published(name, tool) for name, tool in named.items())]
    published.sort(key=lambda tool: str(tool["name"]))
    return Surface(tuple(published), {name: tool.id for name, tool in named.items()})


def direct_names(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The published name of each direct-only tool: the bare one where it is unique and portable, else `<key>_<tool>`."""
    direct = sorted((tool for tool in tools if tool.exposure is Exposure.DIRECT), key=lambda tool: tool.id)
    count = Counter(tool.name for tool in direct)
    named: dict[str, Tool] = {}
    for tool in direct:
        unique = count[tool.name] == 1 and tool.name not in OUR_NAMES and is_portable_name(tool.name, NAME_CHARACTERS)
        name = tool.name if unique else _short(portable_text(f"{tool.owner}_{tool.name}"), tool.id)
        named[name if name not in named and name not in OUR_NAMES else _hashed(name, tool.id)] = tool
    return named


def instructions(servers: Iterable[ServerEntry]) -> str:
    """How to use the three tools, then one line per upstream, within INSTRUCTIONS_CHARACTERS in all."""
    lines = [f"- {server.owner}{_what(server)}" for server in servers if not server.disabled and not server.problem]
    text, left = f"{HOW}\nUpstreams:", len(lines)
    for line in lines:
        if len(text) + len(line) + 1 > INSTRUCTIONS_CHARACTERS - 20:
            return f"{text}\n- and {left} more"
        text, left = f"{text}\n{line}", left - 1
    return text if lines else HOW


def _what(server: ServerEntry) -> str:
    return f": {one_line(server.description, 160)}" if server.description else ""


def _published(name: str, tool: Tool) -> JsonObject:
    published: JsonObject = {
        "name": name,
        "description": one_line(tool.description, 1000),
        "inputSchema": portable_schema(tool.input_schema),
        "_meta": {**META, "toolfold/tool": tool.id},
    }
    if tool.label != tool.name:
        published["title"] = one_line(tool.label, 60)
    annotations = tool.definition.get("annotations")
    if isinstance(annotations, dict):
        published["annotations"] = {key: value for key, value in annotations.items() if isinstance(value, bool)}
    return published


def _short(name: str, tool_id: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else _hashed(name, tool_id)


def _hashed(name: str, tool_id: str) -> str:
    digest = sha256(tool_id.encode()).hexdigest()[:NAME_HASH_CHARACTERS]
    return f"{name[: NAME_CHARACTERS - NAME_HASH_CHARACTERS - 1]}_{digest}"


def _our_tools(settings: ToolSearchSettings) -> list[JsonObject]:
    return [
        {
            "name": SEARCH,
            "title": "Find a tool",
            "description": (
                "Step 1 of 3. Finds tools by what they do, in English: a verb and its object, one capability a query "
                "('create github issue', 'read file', 'current time in a zone'). Each hit has the id that tool_call "
                "needs, a short description and its input. Then: tool_describe if the input is not clear, or tool_call."
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do, in a few words."},
                    "queries": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 16,
                        "description": "Several capabilities at once, one a query, instead of query.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": settings.max_search_limit,
                        "description": f"How many hits at the most (default {settings.search_default_limit}).",
                    },
                },
            },
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
            "_meta": META,
        },
        {
            "name": DESCRIBE,
            "title": "Read a tool's schema",
            "description": (
                "Step 2 of 3, when a hit's input is not clear. Gives the exact input schema and the full description "
                "of one tool, by its id from tool_search."
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "A tool's id, such as mcp:github:create_issue."}
                },
                "required": ["id"],
            },
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
            "_meta": META,
        },
        {
            "name": CALL,
            "title": "Run a tool",
            "description": (
                "Step 3 of 3. Runs one tool by its id with its own arguments in args, and gives its result unchanged: "
                '{"id": "mcp:github:create_issue", "args": {"owner": "a", "repo": "b", "title": "c"}}. If the arguments '
                "do not fit, it is not run and the answer says what to send."
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "A tool's id from tool_search."},
                    "args": {"type": "object", "description": "The tool's arguments, as its schema wants them."},
                },
                "required": ["id"],
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
            "_meta": META,
        },
    ]
