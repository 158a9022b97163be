"""Whether a JSON Schema is built soundly enough to be shown and checked against. Knows no tool.

It judges the structure, not the taste: a sound schema may still accept nothing. What is refused here would make a
validator raise, loop or take exponential time, or would make a host refuse the whole list the tool is in.

Laws:
1. The schema must already be plain JSON of bounded size (`admission.py` sees to that); then the work is linear in it.
2. No reference leaves the schema; nothing is ever fetched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from index.tool import JsonObject

MAX_DEPTH = 32  # the deepest schema of a real server nests 9 schemas
MAX_NODES = 2_000  # the largest has about 400
MAX_BRANCHES = 64  # every branch may be tried for every value
MAX_EXPANSION = 20_000  # schemas tried for one value, references followed; doubling references reach any number

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_CONDITIONS = ("if", "then", "else", "not")
_COMBINATORS = ("allOf", "anyOf", "oneOf")
_REST_OF_OBJECT = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_REST_OF_ARRAY = ("items", "additionalItems", "unevaluatedItems", "contains", "contentSchema")
_SHELVES = ("$defs", "definitions")
_ONE_SCHEMA = frozenset({*_CONDITIONS, *_REST_OF_OBJECT, *_REST_OF_ARRAY})
_NAMED_SCHEMAS = frozenset({*_SHELVES, "properties", "patternProperties", "dependencies", "dependentSchemas"})
_LISTED_SCHEMAS = frozenset({*_COMBINATORS, "prefixItems"})
_IN_PLACE = frozenset({*_CONDITIONS, *_COMBINATORS, "dependencies", "dependentSchemas"})  # applied to the same value
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MAX_WHERE_CHARS = 120


class UnsoundSchema(Exception):
    """The schema must not be used; the message says where and why."""


@dataclass(slots=True)
class _Node:
    """One schema object, and the schemas that are applied to the same value as it."""

    schema: JsonObject
    depth: int
    where: str
    in_place: list[int] = field(default_factory=list)


def check_schema(schema: JsonObject) -> None:
    """Accept a schema, or say what is wrong with it.

    Raises:
        UnsoundSchema: it is malformed, exceeds a limit, or a reference in it leads nowhere, outside or back to itself.
    """
    nodes: dict[int, _Node] = {}
    pending = [_Node(schema, 1, "")]
    references: list[tuple[_Node, str]] = []
    while pending or references:
        if not pending:  # every schema in its place is known by now, so what a reference adds stands somewhere odd
            pending.extend(_follow(references, schema, nodes))
            references = []
            continue
        node = pending.pop()
        if id(node.schema) in nodes:
            continue
        nodes[id(node.schema)] = node
        if len(nodes) > MAX_NODES:
            raise UnsoundSchema(f"more than {MAX_NODES:,} nested schemas")
        _check_node(node)
        pending.extend(_children(node))
        references.extend((node, text) for text in _references(node))
    _check_expansion(nodes, id(schema))


def _check_node(node: _Node) -> None:
    schema = node.schema
    if node.depth > MAX_DEPTH:
        raise UnsoundSchema(f"schemas nested deeper than {MAX_DEPTH}")
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not types or not all(isinstance(one, str) and one in _TYPES for one in types):
            raise UnsoundSchema(f"`type` is not a JSON type{_at(node)}")
    if "enum" in schema and not isinstance(schema["enum"], list):
        raise UnsoundSchema(f"`enum` is not a list{_at(node)}")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise UnsoundSchema(f"`required` is not a list of names{_at(node)}")


def _children(node: _Node) -> Iterator[_Node]:
    for keyword, step, value in _parts(node):
        if isinstance(value, bool):
            continue
        if not isinstance(value, dict):
            raise UnsoundSchema(f"`{keyword}` holds something that is not a schema{_at(node)}")
        if keyword in _IN_PLACE:
            node.in_place.append(id(value))
        yield _Node(value, node.depth + 1, f"{node.where}/{step}"[: _MAX_WHERE_CHARS + 1])


def _parts(node: _Node) -> Iterator[tuple[str, str, object]]:
    """Every schema directly inside a schema: its keyword, the step to it, and itself."""
    for keyword, value in node.schema.items():
        if keyword in _NAMED_SCHEMAS:
            yield from _named_parts(keyword, value, node)
        elif keyword in _LISTED_SCHEMAS or (keyword == "items" and isinstance(value, list)):  # the latter until 2020
            yield from _listed_parts(keyword, value, node)
        elif keyword in _ONE_SCHEMA:
            yield keyword, keyword, value


def _named_parts(keyword: str, named: object, node: _Node) -> Iterator[tuple[str, str, object]]:
    if not isinstance(named, dict):
        raise UnsoundSchema(f"`{keyword}` is not an object of schemas{_at(node)}")
    for name, value in named.items():
        if not (keyword == "dependencies" and isinstance(value, list)):  # a list there names properties
            yield keyword, f"{keyword}/{name}", value


def _listed_parts(keyword: str, listed: object, node: _Node) -> Iterator[tuple[str, str, object]]:
    if not isinstance(listed, list):
        raise UnsoundSchema(f"`{keyword}` is not a list of schemas{_at(node)}")
    if len(listed) > MAX_BRANCHES:
        raise UnsoundSchema(f"more than {MAX_BRANCHES} branches in `{keyword}`{_at(node)}")
    yield from ((keyword, f"{keyword}/{position}", value) for position, value in enumerate(listed))


def _references(node: _Node) -> Iterator[str]:
    for keyword in _REFERENCES:
        if keyword in node.schema:
            text = node.schema[keyword]
            if not isinstance(text, str):
                raise UnsoundSchema(f"`{keyword}` is not a string{_at(node)}")
            if not text.startswith("#"):
                raise UnsoundSchema(f"`{keyword}` leads outside the schema{_at(node)}")
            yield text


def _follow(references: list[tuple[_Node, str]], root: JsonObject, nodes: Mapping[int, _Node]) -> Iterator[_Node]:
    """Tie every reference to its target; targets that stand outside the known keywords are schemas to check too."""
    anchors = {
        name: node.schema
        for node in nodes.values()
        for name in (node.schema.get("$anchor"), node.schema.get("$dynamicAnchor"))
        if isinstance(name, str)
    }
    for node, text in references:
        pointer = unquote(text[1:])
        target = _pointed(root, pointer) if not pointer or pointer.startswith("/") else anchors.get(pointer)
        if isinstance(target, bool):
            continue
        if not isinstance(target, dict):
            raise UnsoundSchema(f"a `$ref` leads to nothing{_at(node)}")
        node.in_place.append(id(target))
        yield _Node(target, 1, text[1 : _MAX_WHERE_CHARS + 1])


def _pointed(root: JsonObject, pointer: str) -> object:
    found: object = root
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and key.isascii() and int(key[:6]) < len(found):
            found = found[int(key[:6])]
        else:
            return None
    return found


def _check_expansion(nodes: Mapping[int, _Node], root: int) -> None:
    """How many schemas one value can meet at one place: a circle never ends, doubling references almost never."""
    cost: dict[int, int] = {}
    for start in (root, *nodes):
        open_path: dict[int, Iterator[int]] = {}
        stack = [start] if start not in cost else []
        while stack:
            here = stack[-1]
            following = next(open_path.setdefault(here, iter(nodes[here].in_place)), None)
            if following is None:
                cost[here] = 1 + sum(cost[part] for part in nodes[here].in_place)
                stack.pop()
                del open_path[here]
                if cost[here] > MAX_EXPANSION:
                    raise UnsoundSchema(f"references multiply to more than {MAX_EXPANSION:,} schemas{_at(nodes[here])}")
            elif following in open_path:
                raise UnsoundSchema(f"a `$ref` leads back to itself{_at(nodes[here])}")
            elif following not in cost:
                stack.append(following)


def _at(node: _Node) -> str:
    """Where in the schema; the names in it are the upstream's words, so they are escaped and cut."""
    return f" at {node.where[:_MAX_WHERE_CHARS]!a}" if node.where else ""
