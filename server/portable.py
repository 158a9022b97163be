"""Names and schemas that every host takes. Pure functions; the original schema still decides whether a call is valid.

Strict hosts refuse a root that is not a plain object, root combinators, `$ref`, `$defs` and `$schema` (notes on hosts).

Laws
1. A published schema accepts all that the original accepts: what can't be said portably is left open, never narrowed.
2. So a part that narrows when its own parts are left open (`not`, `if`, the one in `oneOf`) is not published either.
3. The result is bounded, however the references of the original multiply or recur.
4. Property names that strict APIs refuse are not published, required ones neither: one of them costs a host the whole
   request, with all its tools. They are named in the root's description, and `tool_call` takes them at any time.
5. Texts that only a reader has a use for, titles and descriptions, hold nothing that a reader cannot see.
"""

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from server.clean import one_line, visible
from upstream_clients import JsonObject

DEPTH: Final = 12
"""References are written out this deep; what lies deeper is left open, so that a recursive schema ends."""

SIZE: Final = 2_000
"""Nodes of one published schema: references written out can multiply."""

BYTES: Final = 64 * 1024
"""Of one published schema, the most that an upstream's own may have. Beyond it nothing but the open root is published."""

NAMED_PROPERTIES: Final = 10
NAMED_CHARACTERS: Final = 80
"""So many properties that were left out are named, and so much of each name."""

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

_TEXTS: Final = frozenset({"title", "description"})

_DISTINCT: Final = frozenset({"required", "type"})
"""Strict hosts refuse a name that is there twice, which is otherwise harmless."""

_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE: Final = frozenset({"items", "additionalProperties", "contains"})
"""Keywords that hold schemas: by name, in a list, or one. All keywords that stand nowhere here are left out."""

_NOT_IN_ROOT: Final = frozenset({"anyOf", "allOf", "enum", "const"})
_UNPORTABLE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def is_portable_name(name: str, limit: int) -> bool:
    return len(name) <= limit and _UNPORTABLE.search(name) is None


def portable_text(name: str) -> str:
    """The name with everything that some host refuses replaced by an underscore."""
    return _UNPORTABLE.sub("_", name)


def portable_schema(schema: JsonObject, elsewhere: str) -> JsonObject:
    """A flat object schema that accepts at least what `schema` accepts. `elsewhere` is for what it leaves out."""
    writer = _Writer(schema)
    written = writer.write(schema, 0)
    root = {key: value for key, value in written.items() if key not in _NOT_IN_ROOT}
    published = {**root, "type": "object", "properties": root.get("properties", {})}
    if writer.left_out:
        published["description"] = f"{root.get('description', '')} {_told(writer.left_out, elsewhere)}".strip()
    return published if len(json.dumps(published)) <= BYTES else {"type": "object", "properties": {}}


class _Writer:
    """Writes one schema out without references."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = SIZE
        self.left_out: dict[str, bool] = {}
        """The properties that are not published for their names' sake, and whether they are required."""

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
        self._leave_out(written)
        either = written.pop("oneOf", None)  # an opened branch may fit beside another one
        return written if either is None else {"anyOf": either, **written}

    def _leave_out(self, written: JsonObject) -> None:
        """Takes out the properties of names that strict APIs refuse, and what would forbid them when they are unknown."""
        properties, required = written.get("properties"), written.get("required")
        refused = [name for name in properties if not _PROPERTY.fullmatch(name)] if isinstance(properties, dict) else []
        if not isinstance(properties, dict) or not refused:
            return
        needed = required if isinstance(required, list) else []
        self.left_out |= {name: name in needed or self.left_out.get(name, False) for name in refused}
        written["properties"] = {name: schema for name, schema in properties.items() if name not in refused}
        written.pop("additionalProperties", None)
        written.pop("required", None)
        if shown := [name for name in needed if name not in refused]:
            written["required"] = shown

    def _member(self, key: str, value: object, depth: int) -> object:
        if key in _NAMED and isinstance(value, dict):  # names are the tool's own, `$ref` among them
            return {name: self._schema(schema, depth) for name, schema in value.items()}
        if key in _LISTED and isinstance(value, list):
            return [self._schema(schema, depth) for schema in value]
        if key in _TEXTS and isinstance(value, str):
            return visible(value)
        if key in _DISTINCT and isinstance(value, list) and all(isinstance(name, str) for name in value):
            return list(dict.fromkeys(value))
        return self.write(value, depth) if key in _SINGLE and isinstance(value, dict) else value

    def _schema(self, schema: object, depth: int) -> object:
        if isinstance(schema, dict):
            return self.write(schema, depth)
        return False if schema is False else {}


def _told(left_out: Mapping[str, bool], elsewhere: str) -> str:
    """For the model: which properties there are beside the published ones, and where to read about them."""
    named = [
        json.dumps(one_line(name, NAMED_CHARACTERS), ensure_ascii=False) + (" (required)" if is_required else "")
        for name, is_required in sorted(left_out.items(), key=lambda one: (not one[1], one[0]))
    ]
    more = len(named) - NAMED_PROPERTIES
    text = ", ".join(named[:NAMED_PROPERTIES]) + (f" and {more} more" if more > 0 else "")
    return f"Not shown: {text}. {elsewhere}"


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
