"""The shape that each keyword of JSON Schema must have, draft by draft. Knows one schema at a time, and no reference.

Laws:
1. What is taken here can be handed to a validator: no keyword that it looks at is of a kind that it can't use.
2. Faults that can't change a verdict are no faults: annotations of any kind, a name or a type that is there twice.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from index.tool import JsonObject

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
CONDITIONS = ("if", "then", "else", "not")
COMBINATORS = ("allOf", "anyOf", "oneOf")
_REST_OF_OBJECT = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_REST_OF_ARRAY = ("items", "additionalItems", "unevaluatedItems", "contains", "contentSchema")
_ONE_SCHEMA = frozenset({*CONDITIONS, *_REST_OF_OBJECT, *_REST_OF_ARRAY})
_NAMED_SCHEMAS = frozenset(
    {"$defs", "definitions", "properties", "patternProperties", "dependencies", "dependentSchemas"}
)
_LISTED_SCHEMAS = frozenset({*COMBINATORS, "prefixItems"})
_FLAGS_OF_DRAFT_4 = frozenset({"additionalProperties", "additionalItems"})  # no other schema is a boolean there
_URI = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*")  # without brackets, which only an IPv6 address has
_MAX_WHERE_CHARS = 120


class UnsoundSchema(Exception):
    """The schema must not be used; the message says where and why."""


class Draft(IntEnum):
    """The drafts that are still written, oldest first."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019 = 2019
    DRAFT_2020 = 2020


_ADDRESSES: Mapping[str, Draft] = {
    "json-schema.org/draft-04/schema": Draft.DRAFT_4,
    "json-schema.org/draft-06/schema": Draft.DRAFT_6,
    "json-schema.org/draft-07/schema": Draft.DRAFT_7,
    "json-schema.org/draft/2019-09/schema": Draft.DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": Draft.DRAFT_2020,
}
# What a schema is read as that names no draft: as the protocol has it, then as older generators write (a list of
# `items`; a bound that `exclusiveMinimum: true` excludes, which OpenAPI kept).
_UNNAMED = (Draft.DRAFT_2020, Draft.DRAFT_7, Draft.DRAFT_4)


def drafts_to_try(schema: JsonObject) -> tuple[Draft, ...]:
    """The drafts that the schema may be written in, the likeliest first; the first in which it is sound is meant."""
    named = schema.get("$schema")
    address = named.rstrip("#").partition("//")[2] if isinstance(named, str) else ""
    return (_ADDRESSES[address],) if address in _ADDRESSES else _UNNAMED


def check_structure(schema: JsonObject, draft: Draft) -> None:
    """Accept a schema with all the schemas in it, wherever its references lead.

    Raises: UnsoundSchema.
    """
    pending = [(schema, "")]
    met: set[int] = set()
    while pending:
        node, where = pending.pop()
        if id(node) not in met:
            met.add(id(node))
            check_keywords(node, draft, where)
            inner = subschemas(node, draft, where)
            pending.extend((value, step_to(where, step)) for _, step, value in inner if isinstance(value, dict))


def check_keywords(schema: JsonObject, draft: Draft, where: str = "") -> None:
    """Accept the keywords of one schema that hold no other.

    Raises: UnsoundSchema.
    """
    shapes = _SHAPES_OF_DRAFT_4 if draft is Draft.DRAFT_4 else _SHAPES
    for keyword, value in schema.items():
        shape = shapes.get(keyword)
        if shape is not None and not shape.fits(value):
            raise UnsoundSchema(f"`{keyword}` is not {shape.words}{said(where)}")


def subschemas(schema: JsonObject, draft: Draft, where: str = "") -> Iterator[tuple[str, str, JsonObject | bool]]:
    """Every schema directly inside a schema, by the keywords of any draft: its keyword, the step to it, and itself.

    Raises: UnsoundSchema, where something else stands.
    """
    for keyword, step, value in _parts(schema, draft, where):
        if isinstance(value, bool):
            is_schema = draft is not Draft.DRAFT_4 or keyword in _FLAGS_OF_DRAFT_4
        else:
            is_schema = isinstance(value, dict)
        if not is_schema:
            raise UnsoundSchema(f"`{keyword}` holds something that is not a schema{said(where)}")
        assert isinstance(value, dict | bool)
        yield keyword, step, value


def step_to(where: str, step: str) -> str:
    """The place of a schema inside another, no longer than can be said."""
    return f"{where}/{step}"[: _MAX_WHERE_CHARS + 1]


def said(where: str) -> str:
    """Where in the schema; the names in it are the upstream's words, so they are escaped and cut."""
    return f" at {where[:_MAX_WHERE_CHARS]!a}" if where else ""


def _parts(schema: JsonObject, draft: Draft, where: str) -> Iterator[tuple[str, str, object]]:
    for keyword, value in schema.items():
        if keyword in _NAMED_SCHEMAS:
            yield from _named_parts(keyword, value, where)
        elif keyword in _LISTED_SCHEMAS or (keyword == "items" and isinstance(value, list)):
            if keyword == "items" and draft is Draft.DRAFT_2020:
                raise UnsoundSchema(f"`items` is a list, which 2020-12 calls `prefixItems`{said(where)}")
            yield from _listed_parts(keyword, value, where)
        elif keyword in _ONE_SCHEMA:
            yield keyword, keyword, value


def _named_parts(keyword: str, named: object, where: str) -> Iterator[tuple[str, str, object]]:
    if not isinstance(named, dict):
        raise UnsoundSchema(f"`{keyword}` is not an object of schemas{said(where)}")
    for name, value in named.items():
        if not (keyword == "dependencies" and _is_names(value)):
            yield keyword, f"{keyword}/{name}", value


def _listed_parts(keyword: str, listed: object, where: str) -> Iterator[tuple[str, str, object]]:
    if not isinstance(listed, list):
        raise UnsoundSchema(f"`{keyword}` is not a list of schemas{said(where)}")
    if not listed and keyword in COMBINATORS:
        raise UnsoundSchema(f"`{keyword}` is an empty list{said(where)}")
    yield from ((keyword, f"{keyword}/{position}", value) for position, value in enumerate(listed))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a keyword's value must be, and how that is called."""

    words: str
    fits: Callable[[object], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_divisor(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_count(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer() and value >= 0
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: object) -> bool:
    types = value if isinstance(value, list) else [value]
    return bool(types) and all(isinstance(one, str) and one in _TYPES for one in types)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_names_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(_is_names(names) for names in value.values())


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_uri(value: object) -> bool:
    return isinstance(value, str) and _URI.fullmatch(value) is not None


_TEXT = _Shape("a string", _is_text)
_FLAG = _Shape("true or false", _is_flag)
_NUMBER = _Shape("a number", _is_number)
_COUNT = _Shape("a whole number of 0 or more", _is_count)
_URI_SHAPE = _Shape("a URI", _is_uri)
_TEXTS = ("pattern", "$ref", "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = tuple(f"{end}{what}" for end in ("min", "max") for what in ("Length", "Items", "Properties", "Contains"))

_SHAPES: Mapping[str, _Shape] = {
    **dict.fromkeys(_TEXTS, _TEXT),
    **dict.fromkeys(_BOUNDS, _NUMBER),
    **dict.fromkeys(_COUNTS, _COUNT),
    "multipleOf": _Shape("a number above 0", _is_divisor),
    "uniqueItems": _FLAG,
    "type": _Shape("a JSON type", _is_type),
    "enum": _Shape("a list", _is_list),
    "required": _Shape("a list of names", _is_names),
    "dependentRequired": _Shape("an object of lists of names", _is_names_by_name),
    "$id": _URI_SHAPE,
}
_SHAPES_OF_DRAFT_4: Mapping[str, _Shape] = {
    **_SHAPES,
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _FLAG),
    "id": _URI_SHAPE,
}
