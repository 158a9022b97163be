"""Other gateways than ours, known by the shape of their tools; what is behind one is asked for through its own search.

Strict rather than clever: a server is taken for a gateway only if exactly three of its tools are called what such tools
are called, and take what such tools take. Of an answer only plain shapes are read; whatever has another one is not.

Laws
1. What is asked is bounded: SWEEP searches, and one description for each of at most FOUND_TOOLS tools.
2. A search ranks, it does not list: what is found this way may not be all there is.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio

from upstream_clients.chain import UNNAMED, Road
from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject

Ask: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Calls a tool of the upstream, by its name and with these arguments."""

SWEEP: Final = (
    *("list", "get", "read", "search", "find", "create", "add", "update", "delete", "send", "run", "open"),
    *("file", "message", "issue", "user", "data", "time", "event", "page", "web", "image", "code", "project"),
)
"""What is searched for: the commonest verbs of tools' names, and what they are done to."""

FOUND_TOOLS: Final = 500
HITS_A_SEARCH: Final = 50
DESCRIBED_AT_ONCE: Final = 4
_TOOL: Final = frozenset(("tool", "tools"))
_SEARCH: Final = frozenset(("search", "find", "discover"))
_DESCRIBE: Final = frozenset(("describe", "schema"))
_CALL: Final = frozenset(("call", "execute", "invoke", "run"))
_ARGUMENTS: Final = ("args", "arguments", "params", "parameters", "input")
_HITS: Final = ("tools", "results", "matches", "hits", "result")
_SCHEMA: Final = ("inputSchema", "input_schema", "parameters", "schema")
_ID: Final = ("id", "tool_id", "name", "tool_name")
_OPEN: Final[JsonObject] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The three tools of a gateway, and the names of what they take."""

    search: str
    search_limit: int | None
    describe: str
    road: Road


def shape_of(tools: tuple[JsonObject, ...]) -> Shape | None:
    """The shape of a gateway, if this list is one's: three tools, each the only one of its kind."""
    searches = [tool for tool in tools if _is_called(tool, _SEARCH) and _takes(tool, "query", "string")]
    describes = [tool for tool in tools if _is_called(tool, _DESCRIBE)]
    calls = [tool for tool in tools if _is_called(tool, _CALL)]
    if not (len(searches) == len(describes) == len(calls) == 1):
        return None
    [search], [describe], [call] = searches, describes, calls
    id_key = next((key for key in _ID if _takes(call, key, "string") and _takes(describe, key, "string")), None)
    arguments_key = next((key for key in _ARGUMENTS if _takes(call, key, "object")), None)
    three = {_name(search), _name(describe), _name(call)}
    if id_key is None or arguments_key is None or len(three) < 3:
        return None
    plain = frozenset(_name(tool) for tool in tools) - three
    return Shape(
        _name(search),
        _most_hits(search),
        _name(describe),
        Road(UNNAMED, _name(call), id_key, arguments_key, plain),
    )


async def tools_behind(shape: Shape, ask: Ask, seconds: float) -> tuple[JsonObject, ...] | None:
    """What the gateway's search finds, each under its id as a name. None if no answer of it can be read.

    `seconds` is what describing may take; what is not described by then has an open schema.
    """
    found: dict[str, JsonObject] = {}
    readable = False
    for query in SWEEP:
        limit = {} if shape.search_limit is None else {"limit": shape.search_limit}
        answered = await _asked(ask, shape.search, {"query": query, **limit})
        hits = _hits(answered)
        readable = readable or hits is not None
        for hit in hits or ():
            identity = _identity(hit, shape.road.id_key)
            if identity and identity not in found and len(found) < FOUND_TOOLS:
                found[identity] = _definition(identity, hit)
    if not readable:
        return None
    unknown = iter([identity for identity, definition in found.items() if "inputSchema" not in definition])

    async def describe_some() -> None:
        for identity in unknown:
            described = await _asked(ask, shape.describe, {shape.road.id_key: identity})
            found[identity] |= _described(described)

    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as tasks:
            for _ in range(DESCRIBED_AT_ONCE):
                tasks.start_soon(describe_some)
    return tuple({"inputSchema": _OPEN, **definition} for definition in found.values())


async def _asked(ask: Ask, tool: str, arguments: JsonObject) -> object:
    """The payload of an answer: structured content, or the JSON in its text. None if it has none or is a failure."""
    try:
        result = await ask(tool, arguments)
    except UpstreamError as error:
        if error.code == "upstream_gone":
            raise
        return None
    structured = result.get("structuredContent")
    if result.get("isError") is True:
        return None
    if isinstance(structured, dict):
        return structured
    content = result.get("content")
    texts = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    try:
        return json.loads(texts[0]) if len(texts) == 1 and isinstance(texts[0], str) else None
    except (ValueError, RecursionError):
        return None


def _hits(answer: object) -> list[JsonObject] | None:
    """The list in an answer: it is one itself, or has one under a name of such lists."""
    if isinstance(answer, dict):
        answer = next((answer[key] for key in _HITS if isinstance(answer.get(key), list)), None)
    return [hit for hit in answer if isinstance(hit, dict)] if isinstance(answer, list) else None


def _identity(hit: JsonObject, id_key: str) -> str:
    values = (hit.get(key) for key in (id_key, *_ID))
    return next((value for value in values if isinstance(value, str) and value), "")


def _definition(identity: str, hit: JsonObject) -> JsonObject:
    told = {key: hit[key] for key in ("title", "description") if isinstance(hit.get(key), str)}
    if isinstance(hit.get("label"), str):
        told.setdefault("title", hit["label"])
    return {"name": identity, **told, **_schema_in(hit)}


def _described(answer: object) -> JsonObject:
    """What a description adds: the schema, and the full text."""
    if not isinstance(answer, dict):
        return {}
    tool = answer.get("tool") if isinstance(answer.get("tool"), dict) else answer
    assert isinstance(tool, dict)
    text = tool.get("description")
    annotations = tool.get("annotations")
    return {
        **({"description": text} if isinstance(text, str) else {}),
        **({"annotations": annotations} if isinstance(annotations, dict) else {}),
        **_schema_in(tool),
    }


def _schema_in(value: JsonObject) -> JsonObject:
    schema = next((value[key] for key in _SCHEMA if isinstance(value.get(key), dict)), None)
    return {} if schema is None else {"inputSchema": schema}


def _is_called(tool: JsonObject, verbs: frozenset[str]) -> bool:
    words = frozenset(re.split(r"[_\-.]", _name(tool).lower()))
    return bool(words & verbs) and bool(words & _TOOL)


def _takes(tool: JsonObject, key: str, kind: str) -> bool:
    schema = _properties(tool).get(key)
    if not isinstance(schema, dict):
        return False
    return kind in set(_types(schema))


def _types(schema: JsonObject) -> Iterator[object]:
    """The types that a property may have, an optional one's too."""
    own = schema.get("type")
    yield from own if isinstance(own, list) else [own]
    either = schema.get("anyOf")
    for branch in either if isinstance(either, list) else ():
        if isinstance(branch, dict) and isinstance(branch.get("type"), str):
            yield branch["type"]


def _properties(tool: JsonObject) -> JsonObject:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _most_hits(search: JsonObject) -> int | None:
    """The highest limit that the search says it takes; None if it has no such argument, or does not say."""
    limit = _properties(search).get("limit")
    most = limit.get("maximum") if isinstance(limit, dict) else None
    return min(most, HITS_A_SEARCH) if type(most) is int and most > 0 else None


def _name(tool: JsonObject) -> str:
    name = tool.get("name")
    return name if isinstance(name, str) else ""
