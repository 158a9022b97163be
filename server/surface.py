"""What the host sees: our three tools (in mode code the one), those that are published by themselves, and the instructions.

A function of configuration, catalogue and the names given before, sorted, one page: nothing that a host does changes it.
Every tool published has a portable name and a flat object schema (notes on hosts: name prefixes, 64-character limits,
strict APIs).

Laws
1. A name once given stands for that one tool as long as this process runs: a host may hold an older list.
2. A name that several tools ask for is given to none of them, so that the order in which upstreams come up decides nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Final, TypeAlias

from index import Tool
from server.clean import one_line
from server.config import Mode, ServerEntry, ToolSearchSettings
from server.portable import is_portable_name, portable_schema, portable_text
from server.results import READ_RESULT_SCHEMA
from server.ways import CALL, CODE, DESCRIBE, READ_RESULT, READ_RESULT_ID, SEARCH, whole_schema
from upstream_clients import JsonObject

OUR_NAMES: Final = frozenset({SEARCH, DESCRIBE, CALL, CODE, READ_RESULT})
"""Nobody else's in any mode: a change of the mode must not change what a name stands for."""

NAME_CHARACTERS: Final = 40
"""Hosts put `mcp__<server>__` in front, and some cut the whole at 64."""

NAME_HASH_CHARACTERS: Final = 6

GIVEN_NAMES: Final = 20_000
"""Names that are remembered. Beyond them a new name is not published, only called by its id: an upstream that renames its
tools without end must not fill the memory."""

INSTRUCTIONS_CHARACTERS: Final = 2000
"""The largest host cuts a server's instructions at 2,048 characters."""

META: Final[JsonObject] = {"anthropic/alwaysLoad": True}
"""Without it a host with a tool search of its own would hide ours behind it."""

HOW: Final = (
    "Many tools stand behind this server. Find one with tool_search, read its schema with tool_describe if its input is "
    "not clear, run it with tool_call."
)

HOW_IN_CODE: Final = (
    "Many tools stand behind this server. Find, read and run them in short JavaScript with tool_search_code, which has "
    "openclaw.tools.search, describe and call."
)

HOW_UNDECIDED: Final = "Many tools stand behind this server; the tools that are listed find and run them."
"""While it is not known yet whether code can be run here."""
HOW_BY_NAME: Final = "The tools of several servers, each under a name of its own."

HOW_EITHER: Final = (
    "The tools of several servers. Where tool_search is listed, find a tool with it, read its schema with tool_describe if "
    "its input is not clear, run it with tool_call; otherwise each is listed under a name of its own."
)


@dataclass(frozen=True, slots=True)
class Bill:
    """Bytes that the model is shown up front: the list and the instructions; and, for comparison, what every tool of the
    catalogue would come to if it were listed as its upstream describes it. `sources`: how many tools, by source.
    """

    tools: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    direct_bytes: int = 0
    published_bytes: int = 0


Write: TypeAlias = Callable[[str, Tool, Mode], JsonObject]
"""Makes the published form of a tool: its name, the tool, and the mode in which it is published."""

_Claim: TypeAlias = tuple[Tool, Iterator[str]]
"""A tool, and the names that it asks for next."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The published list, and which tool each name in it stands for: those published now and those of before.

    `why` is the reason of a mode that was chosen. `directory` is what a search without a query gives, in mode directory.
    """

    tools: tuple[JsonObject, ...]
    direct: Mapping[str, str]
    mode: Mode = "tools"
    why: str = ""
    instructions: str = ""
    directory: str = ""
    bill: Bill = Bill()

    @property
    def mode_as_written(self) -> str:
        """The mode as a configuration has it."""
        return "false" if self.mode == "off" else self.mode


NOTHING_PUBLISHED: Final = Surface((), {})


def build_surface(
    direct: Iterable[Tool],
    settings: ToolSearchSettings,
    former: Mapping[str, str],
    mode: Mode | None = None,
    write: Write | None = None,
) -> Surface:
    """The list with these tools by themselves. `former` is the `direct` of the list before, `write` the published form."""
    mode = mode or settings.mode
    given, write = dict(former), write or published_tool
    published = _our_tools(settings, mode)
    if mode == "off":
        given[READ_RESULT] = READ_RESULT_ID
    for name, tool in sorted(direct_names(direct, former).items()):
        if name in given or len(given) < GIVEN_NAMES:
            given[name] = tool.id
            published.append(write(name, tool, mode))
    published.sort(key=lambda tool: str(tool["name"]))
    return Surface(tuple(published), given, mode)


def direct_names(tools: Iterable[Tool], former: Mapping[str, str]) -> dict[str, Tool]:
    """The name that each of these tools gets: the first it asks for that no other tool asks for or ever had."""
    waiting: list[_Claim] = [(tool, _names(tool)) for tool in tools]
    named: dict[str, _Claim | None] = dict.fromkeys(OUR_NAMES)  # None: nobody gets it
    while waiting:
        claim = tool, names = waiting.pop()
        name = next(names)
        if name not in named and former.get(name, tool.id) == tool.id:
            named[name] = claim
            continue
        other = named.get(name)
        named[name] = None
        waiting += [claim] if other is None else [claim, other]
    return {name: claim[0] for name, claim in named.items() if claim is not None}


def _names(tool: Tool) -> Iterator[str]:
    """What a tool asks to be called, best first: its bare name, `<key>_<tool>`, then that with a hash, without end."""
    if is_portable_name(tool.bare_name, NAME_CHARACTERS):
        yield tool.bare_name
    name = portable_text(f"{tool.upstream}_{tool.bare_name}")
    if len(name) <= NAME_CHARACTERS:
        yield name
    for attempt in count():
        digest = sha256(f"{tool.id}{attempt or ''}".encode()).hexdigest()[:NAME_HASH_CHARACTERS]
        yield f"{name[: NAME_CHARACTERS - NAME_HASH_CHARACTERS - 1]}_{digest}"


def instructions(servers: Iterable[ServerEntry], how: str = HOW, characters: int = INSTRUCTIONS_CHARACTERS) -> str:
    """How to use what is published, then one line per upstream, within so many characters in all."""
    lines = [f"- {server.owner}{_what(server)}" for server in servers if not server.disabled and not server.problem]
    text, left = f"{how}\nUpstreams:", len(lines)
    for line in lines:
        if len(text) + len(line) + 1 > characters - 20:
            return f"{text}\n- and {left} more"
        text, left = f"{text}\n{line}", left - 1
    return text if lines else how


def _what(server: ServerEntry) -> str:
    return f": {one_line(server.description, 160)}" if server.description else ""


def published_tool(name: str, tool: Tool, mode: Mode) -> JsonObject:
    """One tool as it is published under this name, in this mode."""
    published: JsonObject = {
        "name": name,
        "description": one_line(tool.description, 1000),
        "inputSchema": portable_schema(tool.input_schema, whole_schema(mode, tool.id)),
        "_meta": {**META, "toolfold/tool": tool.id},
    }
    if tool.label != tool.bare_name:
        published["title"] = one_line(tool.label, 60)
    annotations = tool.definition.get("annotations")
    if isinstance(annotations, dict):
        published["annotations"] = {key: value for key, value in annotations.items() if isinstance(value, bool)}
    return published


def _our_tools(settings: ToolSearchSettings, mode: Mode) -> list[JsonObject]:
    if mode == "off":
        return [_READ_RESULT_TOOL]
    if mode == "code":
        return [_CODE_TOOL]
    search = _search_tool(settings)
    if mode == "directory":
        search["description"] = f"{search['description']} Without a query: the directory of what there is."
    return [search, _DESCRIBE_TOOL, _CALL_TOOL]


def _search_tool(settings: ToolSearchSettings) -> JsonObject:
    return {
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
    }


_DESCRIBE_TOOL: Final[JsonObject] = {
    "name": DESCRIBE,
    "title": "Read a tool's schema",
    "description": (
        "Step 2 of 3, when a hit's input is not clear. Gives the exact input schema and the full description "
        "of one tool, by its id from tool_search."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "A tool's id, such as mcp:github:create_issue."}},
        "required": ["id"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "_meta": META,
}

_CALL_TOOL: Final[JsonObject] = {
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
}

_CODE_TOOL: Final[JsonObject] = {
    "name": CODE,
    "title": "Find and run tools in code",
    "description": (
        "Runs the body of an async JavaScript function, alone and without network or files, and gives what it returns "
        "and logs. It has: await openclaw.tools.search(query, {limit}) -> [{id, description, input}], in English, one "
        "capability a query; await openclaw.tools.describe(id) -> the exact input schema at .tool.inputSchema; await "
        "openclaw.tools.call(id, args) -> {tool, result}, result.content[0].text or result.structuredContent; "
        "console.log. Do it all in one run where you can, filter there, and return only what is needed: "
        "const [hit] = await openclaw.tools.search('create issue'); "
        "return (await openclaw.tools.call(hit.id, {title: 'x'})).result;"
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The body: await and return may be used in it."}},
        "required": ["code"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    "_meta": META,
}

_READ_RESULT_TOOL: Final[JsonObject] = {
    "name": READ_RESULT,
    "title": "Read on",
    "description": "Reads on where a long result was cut: takes the ref and the offset that stand at the cut.",
    "inputSchema": READ_RESULT_SCHEMA,
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "_meta": META,
}
