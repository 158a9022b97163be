"""Whether a JSON Schema is built soundly enough to be shown and checked against. Knows no tool.

It judges the structure, not the taste: a sound schema may still accept nothing. What is refused here would make a
validator raise, loop or take exponential time, or would make a host refuse the whole list the tool is in.

Laws:
1. The schema must already be plain JSON of bounded size (`admission.py` sees to that); then the work is linear in it.
2. No reference leaves the schema; nothing is ever fetched.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from index.keywords import (
    COMBINATORS,
    CONDITIONS,
    Draft,
    UnsoundSchema,
    check_keywords,
    drafts_to_try,
    said,
    step_to,
    subschemas,
)
from index.tool import JsonObject

MAX_DEPTH = 32  # the deepest schema of a real server nests 9 schemas
MAX_NODES = 2_000  # the largest has about 400
MAX_BRANCHES = 64  # every branch may be tried for every value
MAX_EXPANSION = 20_000  # schemas tried for one value, references followed; doubling references reach any number

_IN_PLACE = frozenset({*CONDITIONS, *COMBINATORS, "dependencies", "dependentSchemas"})  # applied to the same value
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MAX_INDEX_DIGITS = 6  # of an item that a reference names


@dataclass(slots=True)
class _Node:
    """One schema object, and the schemas that are applied to the same value as it."""

    schema: JsonObject
    depth: int
    where: str
    in_place: list[int] = field(default_factory=list)


def check_schema(schema: JsonObject) -> None:
    """Accept a schema that is sound in the draft that it names, or in one that it may be written in.

    Raises:
        UnsoundSchema: it is malformed, exceeds a limit, or a reference in it leads nowhere, outside or back to itself.
    """
    faults: list[UnsoundSchema] = []
    for draft in drafts_to_try(schema):
        try:
            _check_as(draft, schema)
        except UnsoundSchema as fault:
            faults.append(fault)
        else:
            return
    raise faults[0]


def _check_as(draft: Draft, schema: JsonObject) -> None:
    nodes: dict[int, _Node] = {}
    pending = [_Node(schema, 1, "")]
    references: list[tuple[_Node, str]] = []
    anchors: dict[str, JsonObject | None] | None = None
    while pending or references:
        if not pending:  # every schema in its place is known by now, so what a reference adds stands somewhere odd
            anchors = _anchors(nodes.values(), draft) if anchors is None else anchors
            pending.extend(_follow(references, schema, anchors))
            references = []
            continue
        node = pending.pop()
        if id(node.schema) in nodes:
            continue
        nodes[id(node.schema)] = node
        if len(nodes) > MAX_NODES:
            raise UnsoundSchema(f"more than {MAX_NODES:,} nested schemas")
        _check_node(node, draft)
        pending.extend(_children(node, draft))
        references.extend((node, text) for text in _references(node))
    if anchors is not None:  # there are references
        _require_one_resource(nodes.values(), schema, draft)
    _check_expansion(nodes, id(schema))


def _check_node(node: _Node, draft: Draft) -> None:
    if node.depth > MAX_DEPTH:
        raise UnsoundSchema(f"schemas nested deeper than {MAX_DEPTH}")
    check_keywords(node.schema, draft, node.where)
    for keyword in (*COMBINATORS, "prefixItems", "items"):
        branches = node.schema.get(keyword)
        if isinstance(branches, list) and len(branches) > MAX_BRANCHES:
            raise UnsoundSchema(f"more than {MAX_BRANCHES} branches in `{keyword}`{said(node.where)}")


def _children(node: _Node, draft: Draft) -> Iterator[_Node]:
    for keyword, step, value in subschemas(node.schema, draft, node.where):
        if isinstance(value, dict):
            if keyword in _IN_PLACE:
                node.in_place.append(id(value))
            yield _Node(value, node.depth + 1, step_to(node.where, step))


def _references(node: _Node) -> Iterator[str]:
    for keyword in _REFERENCES:
        if keyword in node.schema:
            text = node.schema[keyword]
            assert isinstance(text, str)
            if not text.startswith("#") or (keyword == "$recursiveRef" and text != "#"):
                raise UnsoundSchema(f"`{keyword}` leads outside the schema{said(node.where)}")
            yield text


def _anchors(nodes: Iterable[_Node], draft: Draft) -> dict[str, JsonObject | None]:
    """The schemas that have a name of their own; None for a name that two have."""
    found: dict[str, JsonObject | None] = {}
    for node in nodes:
        for name in _anchor_names(node.schema, draft):
            found[name] = node.schema if found.get(name, node.schema) is node.schema else None
    return found


def _anchor_names(schema: JsonObject, draft: Draft) -> Iterator[str]:
    if draft <= Draft.DRAFT_7:
        name = schema.get(_id_keyword(draft))
        if isinstance(name, str) and name.startswith("#"):
            yield name[1:]
        return
    for keyword in ("$anchor", "$dynamicAnchor") if draft is Draft.DRAFT_2020 else ("$anchor",):
        name = schema.get(keyword)
        if isinstance(name, str):
            yield name


def _require_one_resource(nodes: Iterable[_Node], root: JsonObject, draft: Draft) -> None:
    """References in a schema with an `$id` of its own start there; which one is meant, libraries don't agree on."""
    for node in nodes:
        name = node.schema.get(_id_keyword(draft))
        if node.schema is not root and name is not None:
            is_anchor = draft <= Draft.DRAFT_7 and isinstance(name, str) and name.startswith("#")
            if not is_anchor:
                raise UnsoundSchema(f"an `$id` changes where references start{said(node.where)}")


def _id_keyword(draft: Draft) -> str:
    return "id" if draft is Draft.DRAFT_4 else "$id"


def _follow(
    references: list[tuple[_Node, str]], root: JsonObject, anchors: Mapping[str, JsonObject | None]
) -> Iterator[_Node]:
    """Tie every reference to its target; targets that stand outside the known keywords are schemas to check too."""
    for node, text in references:
        name = text[1:]
        target = _pointed(root, unquote(name)) if not name or name.startswith("/") else anchors.get(name)
        if isinstance(target, bool):
            continue
        if not isinstance(target, dict):
            raise UnsoundSchema(f"a `$ref` leads to nothing{said(node.where)}")
        node.in_place.append(id(target))
        yield _Node(target, 1, step_to("", name.lstrip("/")))


def _pointed(root: JsonObject, pointer: str) -> object:
    found: object = root
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and _is_index(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= _MAX_INDEX_DIGITS


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
                    raise UnsoundSchema(
                        f"references multiply to more than {MAX_EXPANSION:,} schemas{said(nodes[here].where)}"
                    )
            elif following in open_path:
                raise UnsoundSchema(f"a `$ref` leads back to itself{said(nodes[here].where)}")
            elif following not in cost:
                stack.append(following)
