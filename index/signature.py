"""A JSON Schema as one bounded line that reads like a TypeScript type: `{ id: string; mode?: "drip" | "flood" }`.

A hint, not a contract: what does not fit is left out and marked with `...`, what cannot be said is `unknown`.

Laws:
1. Any JSON value is accepted and answered within the bounds below; no schema makes it raise or recurse further.
2. References are never followed, so the work is bounded by the schema's own size.
3. An output type is said only when it is complete: a wrong promise about a result is worse than none.
4. The lines are those of OpenClaw 2026.9.6, which `make golden` compares: so a line that has no room left for the mark of
   what is left out is `unknown`, where leaving out one property more would have done.
5. A plain line holds of the schema's own text nothing but single names of up to three words, with a sign of ours between
   any two of them, and in alphabetical order, whatever their capitals: values however they are spread over branches, and
   properties, of which the required ones come first.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from index.tool import JsonObject

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Bounds:
    chars: int
    properties: int
    depth: int
    ranges: bool  # whether a number says its limits
    plain: bool = False  # whether only what is shaped like an identifier is said


_INPUT = _Bounds(chars=300, properties=16, depth=4, ranges=True)  # about 75 tokens for each hit of a search
_OUTPUT = _Bounds(chars=800, properties=22, depth=6, ranges=False)  # omitted unless complete, so it may be longer
_PLAIN_INPUT = _Bounds(chars=300, properties=16, depth=4, ranges=True, plain=True)
_MAX_UNION_MEMBERS = 5
_MAX_ENUM_VALUES = 8
_MAX_ENUM_CHARS = 96
_MAX_KEY_CHARS = 128
_MORE = "..."

# Keywords whose meaning the line does not carry: with one of them it is a part of the truth.
_ELSEWHERE = ("$ref", "$dynamicRef", "$recursiveRef")
_CONDITIONS = ("if", "then", "else", "not", "allOf", "dependencies", "dependentRequired", "dependentSchemas")
_FINE_SHAPE = ("patternProperties", "prefixItems", "unevaluatedItems", "unevaluatedProperties")
_UNSAID = frozenset({*_ELSEWHERE, *_CONDITIONS, *_FINE_SHAPE})
# Beside anyOf or oneOf these narrow every branch, which a plain union would deny.
_SHAPING = frozenset({"type", "properties", "items", "enum", "const", "required", "additionalProperties"})
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
# What may be said of a schema that nobody vouches for: one name of up to three words, too short to be a sentence.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9]*([_.:/-][A-Za-z0-9]+){0,2}")
_MAX_PLAIN_CHARS = 32  # the longest parameter names of real tools have 30
_MAX_PLAIN_HUMPS = 3  # words of a name in camel case
_HUMP = re.compile(r"[A-Z]+[a-z0-9]*|[a-z0-9]+")
_PLAIN_TYPES = {"string": "string", "boolean": "boolean", "null": "null", "number": "number", "integer": "number"}
_LIMITS = (
    ("minimum", ">=", "exclusiveMinimum", ">"),
    ("maximum", "<=", "exclusiveMaximum", "<"),
)


@dataclass(frozen=True, slots=True)
class _Type:
    text: str
    complete: bool
    choices: tuple[str, ...] = ()  # what the text is a union of, if it is one

    @property
    def members(self) -> tuple[str, ...]:
        return self.choices or (self.text,)


_NOT_SAID = _Type(UNKNOWN, complete=False)


def signature(schema: JsonObject | None) -> str:
    """The arguments of a tool in one line of at most 300 characters; `unknown` when they cannot be said."""
    said = _render(schema, 0, _INPUT)
    return said.text if len(said.text) <= _INPUT.chars else UNKNOWN


def plain_signature(schema: JsonObject | None) -> str:
    """The arguments of a tool whose schema nobody vouches for: names, types and values that cannot be a sentence."""
    said = _render(schema, 0, _PLAIN_INPUT)
    return said.text if len(said.text) <= _PLAIN_INPUT.chars else UNKNOWN


def output_signature(schema: JsonObject | None) -> str | None:
    """The result of a tool in one line of at most 800 characters; None unless the whole schema is said by it."""
    said = _render(schema, 0, _OUTPUT)
    return said.text if said.complete and len(said.text) <= _OUTPUT.chars else None


def _render(schema: object, depth: int, bounds: _Bounds) -> _Type:
    if not isinstance(schema, dict) or depth > bounds.depth:
        return _NOT_SAID
    said = _of_shape(schema, depth, bounds)
    if schema.get("nullable") is True and said.text != UNKNOWN:
        said = _Type(f"{said.text} | null", said.complete, (*said.members, "null"))
    return replace(said, complete=said.complete and _UNSAID.isdisjoint(schema))


def _of_shape(schema: JsonObject, depth: int, bounds: _Bounds) -> _Type:
    """The first of these that the schema has decides: literal values, branches, several types, one type."""
    if "const" in schema:
        return _literals([schema["const"]], schema, bounds)
    if isinstance(values := schema.get("enum"), list):
        return _literals(values, schema, bounds)
    if "anyOf" in schema or "oneOf" in schema:
        return _branches(schema, depth, bounds)
    declared = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(declared, list):
        return _union([partial(_of_type, one, schema, depth, bounds) for one in declared], bounds)
    if declared is None:
        return _Type(UNKNOWN, complete=True)
    return _of_type(declared, schema, depth, bounds)


def _of_type(declared: object, schema: JsonObject, depth: int, bounds: _Bounds) -> _Type:
    if declared == "object":
        return _object(schema, depth, bounds)
    if declared == "array":
        item = _render(schema.get("items", {}), depth + 1, bounds)
        return _Type(f"Array<{item.text}>", item.complete)
    plain = _PLAIN_TYPES.get(declared) if isinstance(declared, str) else None
    if plain is None:
        return _NOT_SAID
    limits = ", ".join(_limits(declared, schema)) if plain == "number" and bounds.ranges else ""
    return _Type(f"{plain} /* {limits} */" if limits else plain, complete=True)


def _limits(declared: object, schema: JsonObject) -> Iterator[str]:
    if declared == "integer":
        yield "integer"
    for inclusive, sign, exclusive, strict_sign in _LIMITS:
        is_excluded = schema.get(exclusive) is True  # draft-04: a flag about the other one
        limits = ((inclusive, strict_sign if is_excluded else sign), (exclusive, strict_sign))
        for keyword, relation in limits:
            limit = schema.get(keyword)
            if isinstance(limit, int | float) and not isinstance(limit, bool) and (said := _literal(limit)):
                yield f"{relation} {said}"


def _literals(values: list[object], schema: JsonObject, bounds: _Bounds) -> _Type:
    """The values themselves where they are few and short, else the declared type alone."""
    hidden = bounds.plain and not all(_is_plain(value) for value in values if isinstance(value, str))
    if 0 < len(values) <= _MAX_ENUM_VALUES and not hidden:
        said = [_literal(value) for value in values]
        choices = _in_our_order((text for text in said if text), bounds)
        joined = " | ".join(choices)
        if all(said) and len(joined) <= _MAX_ENUM_CHARS:
            return _Type(joined, complete=True, choices=choices)
    declared = schema.get("type")
    plain = _PLAIN_TYPES.get(declared) if isinstance(declared, str) else None
    return _Type(plain, complete=False) if plain else _NOT_SAID


def _literal(value: object) -> str | None:
    """A scalar as JSON; None for anything longer or other. What does not print is escaped."""
    if isinstance(value, str):
        if len(value) > _MAX_ENUM_CHARS:
            return None
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value) if isinstance(value, int) and value.bit_length() <= 64 else None


def _branches(schema: JsonObject, depth: int, bounds: _Bounds) -> _Type:
    if ("anyOf" in schema and "oneOf" in schema) or not _SHAPING.isdisjoint(schema):
        return _NOT_SAID
    branches = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(branches, list):
        return _NOT_SAID
    if branches and all(isinstance(branch, dict) and "const" in branch for branch in branches):
        return _literals([branch["const"] for branch in branches], schema, bounds)
    return _union([partial(_render, branch, depth + 1, bounds) for branch in branches], bounds)


def _union(members: list[Callable[[], _Type]], bounds: _Bounds) -> _Type:
    if not 0 < len(members) <= _MAX_UNION_MEMBERS:
        return _NOT_SAID
    said = [member() for member in members]
    if any(member.text == UNKNOWN for member in said):
        return _NOT_SAID
    # As they are where the order is the schema's: a branch that is a union itself stays together.
    texts = (text for member in said for text in (member.members if bounds.plain else (member.text,)))
    choices = _in_our_order(dict.fromkeys(texts), bounds)
    return _Type(" | ".join(choices), all(member.complete for member in said), choices)


def _in_our_order(texts: Iterable[str], bounds: _Bounds) -> tuple[str, ...]:
    """For a plain line, values before the names of types: in an order of its own, a union could read like a sentence."""
    return tuple(sorted(texts, key=_alphabetical) if bounds.plain else texts)


def _alphabetical(text: str) -> tuple[bool, str, str]:
    is_own = '"' in text or "{" in text
    return (False, text.casefold(), text) if is_own else (True, "", "")


def _object(schema: JsonObject, depth: int, bounds: _Bounds) -> _Type:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(required, list):
        return _NOT_SAID
    closed = schema.get("additionalProperties") is False
    if not isinstance(properties, dict):
        return _Type("{}", complete=True) if closed and not required else _Type(f"{{ {_MORE} }}", complete=False)
    parts, whole = _properties(properties, {key for key in required if isinstance(key, str)}, depth, bounds)
    texts = [part.text for part in parts]
    if not whole or schema.get("additionalProperties", False) is not False:
        texts.append(_MORE)
    body = "; ".join(texts)
    return _Type(f"{{ {body} }}" if body else "{}", whole and closed and all(part.complete for part in parts))


def _properties(properties: JsonObject, required: set[str], depth: int, bounds: _Bounds) -> tuple[list[_Type], bool]:
    """The properties that fit, required ones first, and whether these are all."""
    shown = (key for key in properties if isinstance(key, str) and (_is_plain(key) or not bounds.plain))
    keys = sorted(shown, key=lambda key: (key not in required, key.casefold() if bounds.plain else "", key))
    parts: list[_Type] = []
    room = bounds.chars - len("{  }") + len("; ")
    for key in keys[: bounds.properties]:
        if len(key) > _MAX_KEY_CHARS:
            break
        value = _render(properties[key], depth + 1, bounds)
        text = f"{_key(key)}{'' if key in required else '?'}: {value.text}"
        room -= len(text) + len("; ")
        if room < 0:
            break
        parts.append(_Type(text, value.complete))
    return parts, len(parts) == len(properties) and required <= properties.keys()


def _is_plain(text: str) -> bool:
    return (
        len(text) <= _MAX_PLAIN_CHARS
        and _PLAIN_NAME.fullmatch(text) is not None
        and len(_HUMP.findall(text)) <= _MAX_PLAIN_HUMPS
    )


def _key(key: str) -> str:
    return key if _IDENTIFIER.fullmatch(key) else json.dumps(key, ensure_ascii=not key.isprintable())
