"""The catalogue's verdict on a schema and the call's: what is admitted can be called, and what can't be is not listed."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import TypeAlias

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index import Catalog, Judgement, Listing
from server.arguments import ArgumentCheck, InvalidArguments

JsonObject: TypeAlias = dict[str, object]

DRAFTS = {
    "http://json-schema.org/draft-04/schema#": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}


def refusal(schema: object) -> str:
    """Why the catalogue quarantines a tool of this schema; empty when it is found."""
    listing = Listing("mcp", "u", ({"name": "t", "inputSchema": schema},))
    [tool] = Catalog.empty().with_listing(listing, lambda _id, _definition: Judgement()).tools()
    return tool.reason


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string"}}, "required": ["a", "a"]},
        {"properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}},
        {"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
        {"properties": {"a": {"type": ["string", "string"]}}},
        {"properties": {"a": {"type": "string", "title": 5, "description": None, "format": 5, "examples": "x"}}},
        {"$schema": 5, "type": "object"},
        {"properties": {"a": {"enum": []}}},
        {"$id": "foo", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}},
        {"properties": {"a": {"$id": "#b"}, "c": {"$ref": "#b"}}, "$schema": "http://json-schema.org/draft-07/schema"},
        {"default": {"v": [[[]] * 20] * 400}},
    ],
)
def test_a_schema_with_a_fault_that_can_be_forgiven_is_admitted_and_compiles(schema: JsonObject) -> None:
    assert refusal(schema) == ""
    ArgumentCheck(schema)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"properties": {"a": {"minimum": "5"}}}, "inputSchema: `minimum` is not a number at '/properties/a'"),
        (
            {"properties": {"a": {"maxLength": -1}}},
            "inputSchema: `maxLength` is not a whole number of 0 or more at '/properties/a'",
        ),
        (
            {"properties": {"a": {"minLength": 1.5}}},
            "inputSchema: `minLength` is not a whole number of 0 or more at '/properties/a'",
        ),
        ({"anyOf": []}, "inputSchema: `anyOf` is an empty list"),
        ({"properties": {"a": {"pattern": 5}}}, "inputSchema: `pattern` is not a string at '/properties/a'"),
        ({"multipleOf": 0}, "inputSchema: `multipleOf` is not a number above 0"),
        ({"uniqueItems": "yes"}, "inputSchema: `uniqueItems` is not true or false"),
        ({"dependentRequired": {"a": "b"}}, "inputSchema: `dependentRequired` is not an object of lists of names"),
        ({"$id": "http://["}, "inputSchema: `$id` is not a URI"),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"a": {"$id": "x", "$ref": "#/$defs/b"}},
                "$defs": {"b": {}},
            },
            "inputSchema: an `$id` changes where references start at '/properties/a'",
        ),
        (
            {"properties": {"a": {"$ref": "#b"}}, "$defs": {"b": {"$anchor": "b"}, "c": {"$anchor": "b"}}},
            "inputSchema: a `$ref` leads to nothing at '/properties/a'",
        ),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"a": {"exclusiveMinimum": True}},
            },
            "inputSchema: `exclusiveMinimum` is not a number at '/properties/a'",
        ),
        ({"default": 2**14_001}, "the definition holds a number or text that JSON cannot carry"),
    ],
)
def test_a_schema_that_no_draft_can_use_is_quarantined_with_the_reason(schema: JsonObject, reason: str) -> None:
    assert refusal(schema) == reason


JUNK: list[object] = [
    None,
    True,
    False,
    -1,
    0,
    1.5,
    2.0,
    "x",
    "#",
    "#a",
    [],
    ["a"],
    ["a", "a"],
    [1],
    [{}],
    [True],
    {},
    {"a": {}},
]
JUNK += [{"a": ["a"]}, {"a": 1}, {"a": []}, "http://[", "object", ["null"], 10**30]
KEYWORDS = sorted(
    {
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$comment",
        "$defs",
        "$vocabulary",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "then",
        "else",
        "minContains",
        "maxContains",
        "contentSchema",
        "dependentRequired",
        "deprecated",
        "readOnly",
        *itertools.chain.from_iterable(library.VALIDATORS for library in DRAFTS.values()),
    }
)


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_the_drafts_own_schema_takes_is_taken(draft: str) -> None:
    metaschema = DRAFTS[draft](DRAFTS[draft].META_SCHEMA)
    for keyword, value in itertools.product(DRAFTS[draft].VALIDATORS, JUNK):
        schema: JsonObject = {"$schema": draft, "properties": {"p": {keyword: value}}}
        if keyword.endswith("ef"):
            continue  # whether a reference leads anywhere is no question for a metaschema
        if metaschema.is_valid(schema):
            assert refusal(schema) == "", (keyword, value)
            ArgumentCheck(schema)


@pytest.mark.parametrize("draft", [None, *DRAFTS])
def test_whatever_stands_at_a_keyword_an_admitted_schema_can_be_called(draft: str | None) -> None:
    sent: list[object] = [None, 1, "a", [1, "a"], {"a": 1, "b": []}]
    for keyword, value in itertools.product(KEYWORDS, JUNK):
        for beside in ({}, {"items": [{}], "contains": {}, "minimum": 0}, {"items": True}):
            schema: JsonObject = {"properties": {"p": {**beside, keyword: value}}}
            schema |= {} if draft is None else {"$schema": draft}
            if refusal(schema) == "":
                check = ArgumentCheck(schema)
                for argument in sent:
                    with contextlib.suppress(InvalidArguments):
                        check.from_direct({"p": argument})


PLACES = st.sampled_from(["a", "b", "$schema", "id"])
SCALARS: st.SearchStrategy[object] = st.sampled_from(
    [None, True, False, 0, 1.5, -1, "", "a", "#a", "#", "http://x/y", "object", [], ["a", "a"], {}]
)


REFERENCES = st.sampled_from(
    ["#", "#a", "#/$defs/a", "#/$defs/b", "#/definitions/b", "#/x/a", "#/x/a/anyOf/0", "#/$defs/a/items/00", "#%61"]
)


def with_keywords(inner: st.SearchStrategy[object]) -> st.SearchStrategy[JsonObject]:
    """Schemas of sound keywords, so that what is in doubt is what they refer to and what they are called."""
    named, listed = st.dictionaries(PLACES, inner, max_size=2), st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(["properties", "definitions", "dependencies", "patternProperties", "x"], named),
            **dict.fromkeys(["anyOf", "allOf", "prefixItems"], listed),
            **dict.fromkeys(["not", "if", "then", "contains", "additionalProperties", "unevaluatedItems"], inner),
            "items": inner | listed,
            "$ref": REFERENCES,
            "required": st.just(["a", "a"]),
            "minimum": st.just(0),
            "exclusiveMinimum": st.sampled_from([1, True]),
        },
    )


@st.composite
def named_schemas(draw: st.DrawFn) -> JsonObject:
    """A schema with one `$id`, anchor or draft somewhere in it."""
    schema: JsonObject = {**draw(with_keywords(SCHEMAS)), "$defs": {name: draw(SCHEMAS) for name in "ab"}}
    marks: JsonObject = {
        "$id": draw(st.sampled_from(["a", "#a", "http://x/y", "x/y#a", "", "#", "urn:x:y"])),
        "id": draw(st.sampled_from(["a", "#a", "http://x/y"])),
        "$schema": draw(st.sampled_from([*DRAFTS, "x", 5])),
        "$anchor": draw(st.sampled_from(["a", "b"])),
        "$dynamicAnchor": draw(st.sampled_from(["a", "b"])),
        "$dynamicRef": draw(REFERENCES),
        "$recursiveRef": "#",
    }
    for _ in range(draw(st.integers(0, 3))):
        keyword = draw(st.sampled_from(sorted(marks)))
        [part] = draw(st.lists(st.sampled_from(list(parts_of(schema))), min_size=1, max_size=1))
        part[keyword] = marks[keyword]
    return schema


def parts_of(value: object) -> Iterator[JsonObject]:
    """Every object in a value, outermost first."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(item)


SCHEMAS = st.recursive(
    st.builds(dict) | st.builds(lambda: {"type": "string"}) | st.booleans(), with_keywords, max_leaves=6
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(named_schemas(), st.dictionaries(PLACES, SCALARS, max_size=3))
def test_what_is_admitted_can_be_called(schema: JsonObject, arguments: JsonObject) -> None:
    if refusal(schema) == "":
        with contextlib.suppress(InvalidArguments):
            ArgumentCheck(schema).from_call({"args": arguments})
