"""Which tools of a listing may enter the catalogue at all, whoever sent them. Knows no policy and no other tool.

One unsound tool must never cost the others: it is refused alone, with a reason for the operator. A refusal is
about what a host, a model or a validator could not survive, not about what the tool does.

Laws:
1. Any object is answered; nothing raises. Work is bounded before anything recursive looks at it.
2. Nothing is repaired: a tool is admitted as it was sent, or not at all.
"""

import json
import re

from index.ids import MAX_INNER_ID_CHARS
from index.keywords import UnsoundSchema
from index.schema import MAX_DEPTH, check_schema
from index.tool import JsonObject

MAX_SCHEMA_BYTES = 64 * 1024  # the largest schema of a real server has about 20 KiB
MAX_DEFINITION_BYTES = 256 * 1024  # with descriptions, an output schema and icons beside it
_MAX_VALUES = 64 * 1024  # a JSON value takes a byte at least, so no more fit into the largest schema
_MAX_JSON_DEPTH = 3 * MAX_DEPTH  # two levels for each nested schema, and as much again for a default value
_MAX_INTEGER_BITS = 14_000  # 4,214 digits; Python writes none of more than 4,300
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")  # the protocol's own alphabet; a colon would break the id
_INNER_ID = re.compile(rf"[A-Za-z0-9_.:/-]{{1,{MAX_INNER_ID_CHARS}}}")  # of a tool behind another gateway
BAD_NAME = "the name is not 1 to 128 characters of A-Z a-z 0-9 _ . -"
_NOT_CARRIED = "holds a number or text that JSON cannot carry"


def refusal(definition: object, *, gateway: bool = False) -> str:
    """Why the tool is refused, in words for the operator; empty when it is admitted.

    `gateway`: it is behind another gateway, where its name is an id.
    """
    if not isinstance(definition, dict):
        return "the tool is not an object"
    name = definition.get("name")
    if gateway:
        if not isinstance(name, str) or not _INNER_ID.fullmatch(name):
            return f"the inner id is not 1 to {MAX_INNER_ID_CHARS} characters of A-Z a-z 0-9 _ . : / -"
    elif not isinstance(name, str) or not _NAME.fullmatch(name):
        return BAD_NAME
    return _refusal_of_json(definition) or _refusal_of_schema(definition.get("inputSchema"))


def _refusal_of_json(definition: JsonObject) -> str:
    """Everything beside the schema counts here too: it is sent to hosts as it stands."""
    if fault := _json_fault(definition):
        return f"the definition {fault}"
    try:
        size = len(json.dumps(definition, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:  # NaN, half a surrogate pair
        return f"the definition {_NOT_CARRIED}"
    if size > MAX_DEFINITION_BYTES:
        return f"the definition has {size:,} bytes; {MAX_DEFINITION_BYTES:,} are allowed"
    return ""


def _refusal_of_schema(schema: object) -> str:
    if not isinstance(schema, dict):
        return "inputSchema is missing or not an object"
    size = len(json.dumps(schema, ensure_ascii=False).encode())
    if size > MAX_SCHEMA_BYTES:
        return f"inputSchema has {size:,} bytes; {MAX_SCHEMA_BYTES:,} are allowed"
    if schema.get("type", "object") != "object":
        return 'the root of inputSchema is not "type": "object"'
    try:
        check_schema(schema)
    except UnsoundSchema as fault:
        return f"inputSchema: {fault}"
    return ""


def _json_fault(value: JsonObject) -> str:
    """Why the value is not plain JSON of bounded size, without recursion and without looking further than allowed."""
    pending: list[tuple[JsonObject | list[object], int]] = [(value, 1)]
    seen = 0
    while pending:
        container, depth = pending.pop()
        seen += len(container)
        if depth > _MAX_JSON_DEPTH:
            return f"is nested deeper than {_MAX_JSON_DEPTH} levels"
        if seen > _MAX_VALUES:
            return f"holds more than {_MAX_VALUES:,} values"
        if isinstance(container, dict) and not all(isinstance(key, str) for key in container):
            return "is not plain JSON"
        for part in container.values() if isinstance(container, dict) else container:
            if isinstance(part, dict | list):
                pending.append((part, depth + 1))
            elif fault := _scalar_fault(part):
                return fault
    return ""


def _scalar_fault(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        return _NOT_CARRIED
    return "" if value is None or isinstance(value, str | int | float) else "is not plain JSON"
