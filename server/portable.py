"""Names and schemas that every host takes. Pure functions; the original schema still decides whether a call is valid.

Strict hosts refuse a root that is not a plain object, root combinators, `$ref`, `$defs` and `$schema` (notes on hosts).

Laws
1. A published schema accepts all that the original accepts: what can't be said portably is left open, never narrowed.
2. So a part that narrows when its own parts are left open (`not`, `if`, the one in `oneOf`) is not published either.
3. The result is bounded, however the references of the original multiply or recur.
"""

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from upstream_clients import JsonObject

DEPTH: Final = 12
"""References are written out this deep; what lies deeper is left open, so that a recursive schema ends."""

SIZE: Final = 2_000
"""Nodes of one published schema: references written out can multiply."""

BYTES: Final = 64 * 1024
"""Of one published schema, the most that an upstream's own may have. Beyond it nothing but the open root is published."""

_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})

_VALUES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("title", "description", "format", "pattern", "contentEncoding", "contentMediaType"), (str,)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), (int, float)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains"), (int, float)),
    **dict.fromkeys(("minProperties", "maxProperties"), (int, float)),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), (bool,)),
    **dict.fromkeys(("enum", "examples", "required"), (list,)),
    **dict.fromkeys(("default", "const"), (object,)),
    "type": (str, list),
    "dependentRequired": (dict,),
}
"""Keywords that hold no schema, and what they hold where they are sound."""

_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE: Final = frozenset({"items", "additionalProperties", "contains"})
"""Keywords that hold schemas: by name, in a list, or one. All keywords that stand nowhere here are left out."""

_NOT_IN_ROOT: Final = frozenset({"anyOf", "allOf", "enum", "const"})
_UNPORTABLE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def is_portable_name(name: str, limit: int) -> bool:
    return len(name) <= limit and _UNPORTABLE.search(name) is None


def portable_text(name: str) -> str:
    """The name with everything that some host refuses replaced by an underscore."""
    return _UNPORTABLE.sub("_", name)


def portable_schema(schema: JsonObject) -> JsonObject:
    """A flat object schema that accepts at least what `schema` accepts."""
    written = _Writer(schema).write(schema, 0)
    root = {key: value for key, value in written.items() if key not in _NOT_IN_ROOT}
    published = {**root, "type": "object", "properties": root.get("properties", {})}
    return published if len(json.dumps(published)) <= BYTES else {"type": "object", "properties": {}}


class _Writer:
    """Writes one schema out without references."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = SIZE

    def write(self, node: JsonObject, depth: int) -> JsonObject:
        self._left -= 1
        if depth > DEPTH or self._left <= 0 or (depth and "$id" in node):  # references below an $id start from there
            return {}
        target = node.get("$ref")
        if isinstance(target, str):
            found = _at(self._root, target)
            beside = {key: value for key, value in node.items() if key in _ANNOTATIONS}
            return self.write({**(found if isinstance(found, dict) else {}), **beside}, depth + 1)
        written = {key: self._member(key, value, depth + 1) for key, value in node.items() if _is_published(key, value)}
        either = written.pop("oneOf", None)  # an opened branch may fit beside another one
        return written if either is None else {"anyOf": either, **written}

    def _member(self, key: str, value: object, depth: int) -> object:
        if key in _NAMED and isinstance(value, dict):  # names are the tool's own, `$ref` among them
            return {name: self._schema(schema, depth) for name, schema in value.items()}
        if key in _LISTED and isinstance(value, list):
            return [self._schema(schema, depth) for schema in value]
        return self.write(value, depth) if key in _SINGLE and isinstance(value, dict) else value

    def _schema(self, schema: object, depth: int) -> object:
        if isinstance(schema, dict):
            return self.write(schema, depth)
        return False if schema is False else {}


def _is_published(key: str, value: object) -> bool:
    if key in _NAMED:
        return isinstance(value, dict)
    if key in _LISTED:
        return isinstance(value, list) and bool(value)
    if key in _SINGLE:  # a list of `items` is a tuple in an older draft
        return isinstance(value, (dict, bool))
    kinds = _VALUES.get(key, ())
    return isinstance(value, kinds) and not (isinstance(value, bool) and int in kinds)


def _at(root: object, pointer: str) -> object:
    """What a local JSON pointer names; None where it names nothing."""
    if pointer != "#" and not pointer.startswith("#/"):
        return None
    node = root
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list):
            node = node[int(key)] if key.isdecimal() and len(key) < 6 and int(key) < len(node) else None
        else:
            node = node.get(key) if isinstance(node, dict) else None
    return node
