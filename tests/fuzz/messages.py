"""The good messages that bad ones are made of: what hosts say to a gateway, and what upstreams answer it."""

import random
from typing import Final

from tests.fuzz.mutations import Json
from tests.support.hosts import ENVELOPE

INFO: Final[Json] = {"name": "fuzz", "version": "1"}
ECHO: Final = "mcp:near:echo"

CALLS: Final[tuple[Json, ...]] = (
    {"name": "tool_search", "arguments": {"query": "echo", "limit": 5}},
    {"name": "tool_search", "arguments": {"queries": ["read a file", "list records"], "limit": 3}},
    {"name": "tool_describe", "arguments": {"id": ECHO}},
    {"name": "tool_call", "arguments": {"id": ECHO, "args": {"text": "hello"}}},
    {"name": "tool_call", "arguments": {"id": "mcp:near:read_record_1", "args": {"key": "k", "text": "t"}}},
    {"name": "tool_call", "arguments": {"id": "toolfold:core:read_result", "args": {"ref": "r", "offset": 0}}},
    {"name": "read_record_1", "arguments": {"key": "k"}},
)

GREETING: Final[Json] = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": INFO}
LISTEN: Final = "subscriptions/listen"

REQUESTS: Final[tuple[tuple[str, Json], ...]] = (
    *(("tools/call", call) for call in CALLS * 2),
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    ("tools/list", {"_meta": {"toolfold/path": ["somebody"]}}),
    ("initialize", GREETING),
    ("ping", {}),
    ("server/discover", {}),
    (LISTEN, {"notifications": {"toolsListChanged": True}}),
    ("resources/list", {}),
    ("prompts/get", {"name": "x", "arguments": {}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}}),
    ("logging/setLevel", {"level": "debug"}),
)

OTHERS: Final[tuple[Json, ...]] = (
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "no"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}},
)


def of_host(rng: random.Random, *, modern: bool) -> Json:
    """What a host may say. Its ids are too large for any other to come by one of them."""
    if rng.random() < 0.15:
        return rng.choice(OTHERS)
    method, params = rng.choice(REQUESTS)
    meta = {**params.get("_meta", {}), **(ENVELOPE if modern else {})}
    if rng.random() < 0.3:
        meta["progressToken"] = rng.randrange(100)
    whole = {**params, "_meta": meta} if meta else params
    return {"jsonrpc": "2.0", "id": rng.getrandbits(50), "method": method, "params": whole}


RESULTS: Final[tuple[Json, ...]] = (
    {"content": [{"type": "text", "text": "hello"}]},
    {"content": [{"type": "text", "text": "no"}], "isError": True},
    {"content": [], "structuredContent": {"a": [1, 2, {"b": "c"}], "d": None}},
    {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}], "_meta": {"a/b": 1}},
    {"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": "y", "mimeType": "text/plain"}}]},
    {
        "content": [
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
            {"type": "audio", "data": "", "mimeType": "a/b"},
        ]
    },
    {
        "content": [{"type": "text", "text": "hello", "annotations": {"audience": ["user"], "priority": 0.5}}],
        "extra": 1,
    },
)

ID: Final = "{id}"
"""Stands in an upstream's answer for the id of the request: see `write` in `scripted_server`."""


def _answers(result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": "ID", "result": result}


FROM_UPSTREAM: Final[tuple[Json, ...]] = (
    *(_answers(result) for result in RESULTS * 2),
    {"jsonrpc": "2.0", "id": "ID", "error": {"code": -32602, "message": "no", "data": {"a": 1}}},
    {"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
    {"jsonrpc": "2.0", "id": "p", "method": "ping"},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 3, "progress": 1, "total": 2}},
    {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}},
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "ID"}},
)

SCHEMA: Final[Json] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where.", "pattern": "^/[a-z]+$", "maxLength": 100},
        "mode": {"enum": ["r", "w", None, 1], "default": "r"},
        "deep": {"$ref": "#/$defs/node"},
        "any": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "array", "items": {"type": "string"}}]},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
}

TOOL: Final[Json] = {
    "name": "read",
    "title": "Read",
    "description": "Reads what is there.",
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": {"title": "Read", "readOnlyHint": True},
    "_meta": {"anthropic/searchHint": "file"},
}

OPENINGS: Final[tuple[tuple[str, Json], ...]] = (
    ("tools/list", _answers({"tools": [TOOL, {"name": "echo", "inputSchema": {"type": "object"}}]})),
    ("tools/list", _answers({"tools": [TOOL]})),
    (
        "initialize",
        _answers(
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}, "experimental": {"toolfold/gateway": {"node": "x"}}},
                "serverInfo": {"name": "s", "version": "1", "title": "S"},
                "instructions": "Read first.",
            }
        ),
    ),
)
"""What an upstream says before it can be called: the method, and the answer."""
