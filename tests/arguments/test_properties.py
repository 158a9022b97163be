"""What holds for any schema and any call."""

import json
from collections.abc import Callable
from typing import TypeAlias

import jsonschema
import referencing
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from server.arguments import ArgumentCheck, InvalidArguments, Prepared, Problem, UnusableSchema, explain

JsonObject: TypeAlias = dict[str, object]

WRAPPERS = {"args", "arguments", "input", "parameters", "params"}
NAMES = st.sampled_from(["a", "b", "user", "name", "user.name", "args", "input", "params", "args.a", "id", "$ref", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from(["42", "-1.5", "true", "HIGH", "high", "{}", '{"a": 1}', '["a"]', '"{}"', "0.1", "a,b"]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)

TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
DRAFTS = st.sampled_from(
    [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ]
)


def keywords(schema: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """A schema of a few keywords, each with a value of its shape."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "properties": st.dictionaries(NAMES, schema, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "e$", "."]), schema, max_size=2),
            "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr),
            "items": schema,
            "anyOf": st.lists(schema, min_size=1, max_size=3),
            "oneOf": st.lists(schema, min_size=1, max_size=3),
            "allOf": st.lists(schema, min_size=1, max_size=2),
            "not": schema,
            "minimum": st.integers(-3, 3),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "pattern": st.sampled_from(["^a", "[0-9]+$"]),
            "const": SCALARS,
            "contains": schema,
            "propertyNames": schema,
            "if": schema,
            "then": schema,
            "else": schema,
            "prefixItems": st.lists(schema, min_size=1, max_size=2),
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=2),
            "dependentSchemas": st.dictionaries(NAMES, schema, max_size=2),
            "unevaluatedProperties": schema,
            "unevaluatedItems": schema,
            "$ref": st.sampled_from(["#/$defs/d", "#/properties/a", "#d"]),
        },
    )


# `additionalProperties: false` is what most real schemas have; booleans elsewhere are no schemas in draft-04
SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": TYPES}) | st.just({}),
    lambda inner: st.builds(
        lambda rules, closed: {**rules, **closed},
        keywords(inner),
        st.sampled_from([{}, {}, {"additionalProperties": False}]),
    ),
    max_leaves=6,
)


@st.composite
def tool_schemas(draw: st.DrawFn) -> JsonObject:
    schema: JsonObject = {**draw(SCHEMAS), "$schema": draw(DRAFTS)}
    if draw(st.booleans()):
        schema["type"] = "object"
    definition: JsonObject = {**draw(SCHEMAS)}
    schema["$defs"] = {"d": {**definition, "$anchor": "d"}}
    return schema


JUNK = st.dictionaries(
    st.sampled_from(["type", "properties", "$ref", "$id", "enum", "items", "anyOf", "pattern", "required", "$schema"]),
    VALUES | st.dictionaries(NAMES, VALUES, max_size=2),
    max_size=4,
)

many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def compiled(schema: JsonObject) -> ArgumentCheck:
    try:
        return ArgumentCheck(schema)
    except UnusableSchema:
        assume(False)
        raise


def by_the_library(schema: JsonObject, value: object) -> bool:
    """What jsonschema itself says of it."""
    library = jsonschema.validators.validator_for(schema)
    return (
        next(library(schema, registry=referencing.Registry()).iter_errors(json.loads(json.dumps(value))), None) is None
    )


def leaves(value: object) -> list[str]:
    """Every scalar and every empty container in a value, as text that reading one type as another leaves alike."""
    if isinstance(value, dict) and value:
        return sorted(leaf for item in value.values() for leaf in leaves(item))
    if isinstance(value, list) and value:
        return sorted(leaf for item in value for leaf in leaves(item))
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            return [value.casefold()]
        return leaves(inner) if isinstance(inner, dict | list | str) else [value.casefold()]
    return [json.dumps(value).casefold()]


def strange(value: object) -> bool:
    """Whether a key in it may be a wrapper or a path, which an open schema lets pass and the gateway puts in its place."""
    if isinstance(value, dict):
        return any("." in key or key in WRAPPERS or strange(item) for key, item in value.items())
    return isinstance(value, list) and any(map(strange, value))


@many
@given(tool_schemas(), OBJECTS)
def test_the_verdict_is_the_librarys(schema: JsonObject, value: JsonObject) -> None:
    check = compiled(schema)
    expected = by_the_library(schema, value)
    try:
        found = check.from_direct(value).repairs == ()
    except InvalidArguments:
        found = False
    assert found == expected or (expected and strange(value))


@many
@given(tool_schemas(), OBJECTS)
def test_arguments_that_are_valid_and_named_are_never_changed(schema: JsonObject, value: JsonObject) -> None:
    named = schema.get("properties", {})
    assert isinstance(named, dict)
    schema["properties"] = {**{key: {} for key in value}, **named}
    check = compiled(schema)
    assume(by_the_library(schema, value) and not any(map(strange, value.values())))
    before = repr(value)
    for prepared in (check.from_direct(value), check.from_call({"args": value})):
        assert prepared.arguments is value
        assert prepared.repairs == ()
    assert repr(value) == before


def outcome(call: Callable[[JsonObject], Prepared], sent: JsonObject) -> Prepared | tuple[Problem, ...]:
    try:
        return call(sent)
    except InvalidArguments as error:
        return error.problems


@many
@given(tool_schemas(), OBJECTS)
def test_what_comes_out_is_valid_and_nothing_is_lost(schema: JsonObject, envelope: JsonObject) -> None:
    check = compiled(schema)
    before = repr(envelope)
    answer = outcome(check.from_call, envelope)
    if isinstance(answer, Prepared):
        assert check.from_direct(answer.arguments).arguments is answer.arguments
        # an empty object or null in `args` is no argument, so it leaves nothing behind
        if envelope.get("args", 0) not in (None, {}) and "{}" not in before:
            assert leaves(answer.arguments) == leaves(envelope)
    else:
        assert 1 <= len(answer) <= 8
        assert len(explain(answer, "{ a: string }")) <= 2_000
    assert repr(envelope) == before


@many
@given(JUNK | tool_schemas(), OBJECTS | st.dictionaries(NAMES, JUNK, max_size=2))
def test_nothing_but_the_two_refusals_is_ever_raised(schema: JsonObject, envelope: JsonObject) -> None:
    check = compiled(schema)
    for call in (check.from_call, check.from_direct):
        answer = outcome(call, envelope)
        if not isinstance(answer, Prepared):
            explain(answer, "unknown").encode()


NEEDS_EVERYTHING: JsonObject = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False},
    },
    "additionalProperties": False,
}


@many
@given(
    st.fixed_dictionaries(
        {
            "text": st.text(max_size=8),
            "count": st.integers(),
            "ratio": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
            "on": st.booleans(),
            "list": st.lists(st.integers(), max_size=3),
            "inner": st.fixed_dictionaries({"text": st.text(max_size=5)}),
        }
    ),
    st.sampled_from(["args", "arguments", "input", "parameters", "params"]),
)
def test_whatever_is_clumsily_packed_comes_out_exactly(arguments: JsonObject, wrapper: str) -> None:
    check = ArgumentCheck(NEEDS_EVERYTHING)
    as_strings = {name: value if name == "text" else json.dumps(value) for name, value in arguments.items()}
    envelopes: list[JsonObject] = [
        {wrapper: json.dumps(arguments)},
        {wrapper: {"args": arguments}},
        {wrapper: as_strings},
        as_strings,
        {f"{wrapper}.{name}": value for name, value in arguments.items()},
    ]
    for envelope in envelopes:
        out = check.from_call(envelope).arguments
        assert out == arguments
        assert {name: repr(value) for name, value in out.items()} == {
            name: repr(value) for name, value in arguments.items()
        }
