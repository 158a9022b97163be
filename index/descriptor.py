"""What text of a tool is indexed, and how much each part counts. Trust plays no part: every tool is read alike.

Never walks a schema without a bound: an upstream's schema is any JSON.
"""

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from types import MappingProxyType

from index.tool import JsonObject, Tool

WEIGHTS = MappingProxyType(
    {
        "name": 2.5,
        "server": 1.0,
        "title": 1.0,
        "search hint": 1.0,
        "first sentence": 1.0,
        "description": 0.5,
        "parameter": 1.0,
        "parameter description": 0.5,
        "value": 0.4,
    }
)
"""What one occurrence of a word counts in each field. Flat on public sets: a half more or less of one changes nothing."""

UNITS_OF_WEIGHT = 10
UNITS = MappingProxyType({field: round(weight * UNITS_OF_WEIGHT) for field, weight in WEIGHTS.items()})
"""The same weights as whole numbers: their sums are exact, in whatever order they come about."""

MAX_DESCRIPTION_CHARS = 4096  # the longest descriptions of real tools have about 3,000
MAX_HINT_CHARS = 512  # a hint is a few words; more would only be a way to be found for everything
MAX_SCHEMA_CHARS = 2048  # schema text is where an upstream can hide most words
_MAX_NODES = 512  # schemas looked at; 2 KiB of text come from far fewer
_MAX_DEPTH = 6
_MAX_ENUM_VALUES = 32
_MAX_FIRST_SENTENCE_CHARS = 300
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n")


def indexed_text(tool: Tool) -> Iterator[tuple[str, str]]:
    """The indexed parts of a tool, each with the field that it belongs to."""
    yield "name", tool.bare_name
    yield "server", tool.server
    if tool.label != tool.bare_name:
        yield "title", tool.label[:MAX_HINT_CHARS]
    if tool.search_hint:
        yield "search hint", tool.search_hint[:MAX_HINT_CHARS]
    first, rest = split_first_sentence(tool.description[:MAX_DESCRIPTION_CHARS].strip())
    yield "first sentence", first
    yield "description", rest
    yield from _schema_text(tool.input_schema)


def split_first_sentence(text: str) -> tuple[str, str]:
    """The first sentence, at most 300 characters of it, and the rest."""
    end = _SENTENCE_END.search(text, 0, _MAX_FIRST_SENTENCE_CHARS)
    cut = end.end() if end else _MAX_FIRST_SENTENCE_CHARS
    return text[:cut], text[cut:]


def _schema_text(schema: JsonObject) -> Iterator[tuple[str, str]]:
    """Names first, then descriptions, then values: when the budget ends, the most telling text is in."""
    properties = tuple(_properties(schema))
    budget = MAX_SCHEMA_CHARS
    for field, part in (
        *(("parameter", name) for name, _ in properties),
        *(("parameter description", _description(body)) for _, body in properties),
        *(("value", value) for _, body in properties for value in _enum_values(body)),
    ):
        if not part:
            continue
        if budget <= 0:
            return
        yield field, part[:budget]
        budget -= len(part)


def _properties(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Properties of the schema and of what is nested in it, outer ones first."""
    queue: deque[tuple[object, int]] = deque([(schema, 0)])
    for _ in range(_MAX_NODES):
        if not queue:
            return
        node, depth = queue.popleft()
        if not isinstance(node, dict) or depth > _MAX_DEPTH:
            continue
        properties = node.get("properties")
        if isinstance(properties, dict):
            named = [(name, body) for name, body in islice(properties.items(), _MAX_NODES) if isinstance(body, dict)]
            yield from named
            queue.extend((body, depth + 1) for _, body in named)
        queue.extend((child, depth + 1) for child in _unnamed(node))


def _unnamed(node: JsonObject) -> Iterator[object]:
    """Schemas inside a schema that no property name leads to."""
    yield node.get("items")
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = node.get(keyword)
        if isinstance(branches, list):
            yield from branches[:_MAX_NODES]


def _description(body: JsonObject) -> str:
    text = body.get("description")
    return text if isinstance(text, str) else ""


def _enum_values(body: JsonObject) -> Iterator[str]:
    values = body.get("enum")
    if isinstance(values, list):
        yield from (value for value in values[:_MAX_ENUM_VALUES] if isinstance(value, str))
