"""Names and schemas that every host takes. A published schema may say less than the original, never more."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from server import portable
from server.portable import is_portable_name, portable_text
from upstream_clients import JsonObject

REFUSED = {"$ref", "$dynamicRef", "$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor", "x-mcp-header"}
ROOT_REFUSED = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"}
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MAPS = {"properties", "patternProperties", "dependentSchemas"}
DATA = {"enum", "const", "default", "examples", "dependentRequired"}


def portable_schema(schema: JsonObject) -> JsonObject:
    return portable.portable_schema(schema, "tool_describe has the whole schema under the id mcp:a:t.")


def schemas_in(schema: object) -> Iterator[JsonObject]:
    """Every schema within a schema; what is data or a map of names is not one."""
    if isinstance(schema, list):
        for item in schema:
            yield from schemas_in(item)
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in MAPS:
                yield from schemas_in(list(value.values()))
            elif key not in DATA:
                yield from schemas_in(value)


def assert_portable(schema: JsonObject) -> None:
    for found in schemas_in(schema):
        assert not REFUSED & set(found)
        properties = found.get("properties", {})
        assert isinstance(properties, dict)
        assert all(map(PROPERTY.fullmatch, properties))
    assert not ROOT_REFUSED & set(schema)
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    Draft202012Validator.check_schema(schema)


def accepts(schema: JsonObject, arguments: object) -> bool:
    return bool(Draft202012Validator(schema).is_valid(arguments))


def test_a_flat_schema_stays_as_it_is() -> None:
    schema: JsonObject = {
        "type": "object",
        "description": "What it takes.",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Where.", "examples": [{"$ref": "x"}]},
            "mode": {"enum": ["a", "b"], "default": "a"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert portable_schema(schema) == schema


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": "odd"}, {"$schema": "x", "title": 5}])
def test_a_root_is_always_a_plain_object_schema(schema: JsonObject) -> None:
    portable = portable_schema(schema)
    assert (portable["type"], portable["properties"]) == ("object", {})


def test_a_name_that_is_there_twice_is_published_once() -> None:
    schema: JsonObject = {"properties": {"a": {"type": ["string", "null", "string"]}}, "required": ["a", "a"]}
    assert portable_schema(schema) == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"],
    }


def test_references_are_written_out() -> None:
    address = {"type": "object", "properties": {"street": {"type": "string"}}}
    schema: JsonObject = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"address": address, "list": {"type": "array", "items": {"$ref": "#/$defs/address"}}},
        "type": "object",
        "properties": {"home": {"$ref": "#/$defs/address", "description": "Home."}, "all": {"$ref": "#/$defs/list"}},
    }
    assert portable_schema(schema) == {
        "type": "object",
        "properties": {"home": {**address, "description": "Home."}, "all": {"type": "array", "items": address}},
    }


def test_a_root_that_is_a_reference_is_written_out_without_root_combinators() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/arguments",
        "$defs": {"arguments": {"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {}]}},
    }
    assert portable_schema(schema) == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_recursive_schema_ends_in_an_open_one() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
    portable = portable_schema(
        {"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    )
    assert_portable(portable)
    deep: JsonObject = {}
    for _ in range(100):
        deep = {"child": deep}
    assert accepts(portable, {"tree": deep})
    assert not accepts(portable, {"tree": {"other": 1}})


def test_references_that_multiply_are_bounded() -> None:
    levels = {
        f"l{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/l{n + 1}"} for k in "abcdefgh"}}
        for n in range(12)
    }
    portable = portable_schema({"properties": {"root": {"$ref": "#/$defs/l0"}}, "$defs": {**levels, "l12": {}}})
    assert sum(1 for _ in schemas_in(portable)) < 4_000


def test_a_reference_may_point_anywhere_into_the_schema() -> None:
    schema: JsonObject = {
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/properties/a/anyOf/0"}}]},
            "d": {"$ref": "#/$defs/b~1c%7E0"},
        },
        "$defs": {"b/c~": {"$ref": "#/properties/a/anyOf/1/items"}},
    }
    text = {"type": "string"}
    assert portable_schema(schema) == {
        "type": "object",
        "properties": {"a": {"anyOf": [text, {"type": "array", "items": text}]}, "d": text},
    }


def test_what_only_some_hosts_or_validators_know_is_left_out() -> None:
    odd = {"type": "string", "x-mcp-header": "X", "$comment": "x", "minimum": "5", "exclusiveMinimum": True, "title": 5}
    assert portable_schema({"properties": {"a": odd}, "not": {}, "unevaluatedProperties": False}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }


def test_one_of_several_becomes_any_of_them() -> None:
    one: JsonObject = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
    assert portable_schema({"properties": {"a": one}})["properties"] == {"a": {"anyOf": one["oneOf"]}}


def test_a_text_that_references_would_repeat_without_end_is_bounded() -> None:
    long: JsonObject = {"type": "string", "description": "x" * 30_000}
    properties: JsonObject = {f"p{number}": {"$ref": "#/$defs/long"} for number in range(500)}
    assert portable_schema({"properties": properties, "$defs": {"long": long}}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "reference", ["#named", "other.json", "https://example.org/schema", "#/$defs/none", "", "#/$defs/a~2"]
)
def test_what_a_reference_that_can_not_be_followed_says_is_left_open(reference: str) -> None:
    schema: JsonObject = {"properties": {"a": {"$ref": reference}}, "$defs": {"x": {"$anchor": "named"}}}
    assert portable_schema(schema) == {"type": "object", "properties": {"a": {}}}


def test_what_stands_beside_a_reference_never_narrows_it() -> None:
    closed = {"properties": {"a": {}}, "additionalProperties": False}
    schema: JsonObject = {"properties": {"x": {"$ref": "#/$defs/c", "properties": {"b": {}}}}, "$defs": {"c": closed}}
    assert accepts(portable_schema(schema), {"x": {"a": 1}})


def test_properties_may_have_the_names_of_keywords() -> None:
    names = ["definitions", "anyOf", "properties", "required", "items"]
    properties: JsonObject = {name: {"type": "string"} for name in names}
    schema: JsonObject = {"type": "object", "properties": properties, "patternProperties": {"definitions": {}}}
    assert portable_schema(schema) == schema


TEXT: JsonObject = {"type": "string"}


def test_properties_that_strict_apis_refuse_are_named_in_place_of_published() -> None:
    names = ["$filter", "weird name", "x" * 65, "größe", "n.a-m_e"]
    schema: JsonObject = {
        "description": "What it takes.",
        "properties": dict.fromkeys(names, TEXT),
        "required": ["n.a-m_e", "größe"],
        "additionalProperties": False,
    }
    assert portable_schema(schema) == {
        "type": "object",
        "description": f'What it takes. Not shown: "größe" (required), "$filter", "weird name", "{"x" * 65}". '
        "tool_describe has the whole schema under the id mcp:a:t.",
        "properties": {"n.a-m_e": TEXT},
        "required": ["n.a-m_e"],
    }


def test_properties_that_strict_apis_refuse_are_left_out_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"@id": TEXT, "id": TEXT}, "required": ["@id"]}
    portable = portable_schema(
        {"properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/i"}}}, "$defs": {"i": inner}}
    )
    assert portable == {
        "type": "object",
        "description": 'Not shown: "@id" (required). tool_describe has the whole schema under the id mcp:a:t.',
        "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}},
    }


def test_what_is_said_of_properties_that_are_left_out_is_bounded() -> None:
    names = [f"{number:03} \u202e" + "x" * 500 for number in range(50)]
    text = str(portable_schema({"properties": dict.fromkeys(names, TEXT)})["description"])
    assert len(text) < 1_000
    assert text.isprintable()
    assert " and 40 more. " in text


def test_texts_for_readers_hold_nothing_that_nobody_sees_and_values_stay_as_they_are() -> None:
    sly = "Of\u200b it.\x1b[8m\U000e0041\u202e\nAll"
    inner: JsonObject = {"type": "string", "title": sly, "description": sly, "default": sly, "enum": [sly]}
    schema: JsonObject = {"description": sly, "properties": {"title": inner}}
    assert portable_schema(schema) == {
        "type": "object",
        "description": "Of it.\nAll",
        "properties": {"title": {**inner, "title": "Of it.\nAll", "description": "Of it.\nAll"}},
    }


def test_a_tuple_of_an_older_draft_is_left_open() -> None:
    pair = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    schema: JsonObject = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"pair": pair}}
    assert portable_schema(schema) == {"type": "object", "properties": {"pair": {"type": "array"}}}


def test_the_original_is_not_changed() -> None:
    schema: JsonObject = {"$schema": "x", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": [1]}}}
    before = repr(schema)
    portable_schema(schema)
    assert repr(schema) == before


# Any schema of the usual keywords, and values that often fit it.

VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 7, 2.5, "", "a", "ab"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c", "$ref"]), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c", "$ref"]), VALUES, max_size=4)
PLAIN = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"type": ["integer", "null"]},
        {"type": "object"},
        {"type": "array"},
        {"enum": ["a", 1, None]},
        {"const": {"a": 1}},
        {"minimum": 1},
        {"pattern": "^a", "default": {"$ref": "#"}},
        {"required": ["a"]},
        {"minItems": 1, "uniqueItems": True},
    ]
)


AGAIN: JsonObject = {"$ref": "#"}
"""Only where it leads into the value: a schema that is itself beside itself can't be followed."""


def compound(inner: st.SearchStrategy[object], *, older: bool) -> st.SearchStrategy[JsonObject]:
    """Schemas that hold schemas, in the keywords of draft 7 or of 2020-12."""
    several, names = st.lists(inner, min_size=1, max_size=3), st.sampled_from(["a", "b", "c", "$ref", "definitions"])
    keywords: dict[str, st.SearchStrategy[object]] = {
        "properties": st.dictionaries(names, inner | st.just(AGAIN), max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b", "definitions"]), inner, max_size=2),
        "additionalProperties": st.just(False) | inner,
        "propertyNames": inner,
        "items": st.just(False) | st.just(AGAIN) | inner,
        "contains": inner,
        "anyOf": several,
        "oneOf": several,
        "allOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }
    if older:
        keywords |= {"items": several, "additionalItems": st.just(False), "dependencies": st.dictionaries(names, inner)}
    else:
        keywords |= {
            "prefixItems": several,
            "dependentRequired": st.dictionaries(names, st.just(["b"]), max_size=2),
            "dependentSchemas": st.dictionaries(names, inner, max_size=2),
            "maxContains": st.sampled_from([1, 2]),
            "minContains": st.sampled_from([0, 1]),
            "unevaluatedProperties": st.just(False),
            "unevaluatedItems": st.just(False),
        }
    chosen = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


def nested(*references: str, older: bool) -> st.SearchStrategy[object]:
    leaves: st.SearchStrategy[object] = PLAIN | st.booleans()
    if references:
        leaves |= st.builds(lambda target, beside: {"$ref": target, **beside}, st.sampled_from(references), PLAIN)
    return st.recursive(leaves, lambda inner: compound(inner, older=older), max_leaves=4)


def whole(*, older: bool) -> st.SearchStrategy[JsonObject]:
    place = "definitions" if older else "$defs"
    about = {"$schema": "http://json-schema.org/draft-07/schema#"} if older else {}
    x, y = f"#/{place}/x", f"#/{place}/y"
    return st.builds(
        lambda root, x, y: {**about, **root, place: {"x": x, "y": y}},
        compound(nested(x, y, older=older), older=older),
        nested(y, older=older),
        nested(older=older),
    )


SCHEMAS = {older: whole(older=older) for older in (False, True)}


@pytest.mark.parametrize("older", [False, True])
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_portable_schema_accepts_all_that_the_original_accepts(older: bool, data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS[older])
    portable = portable_schema(schema)
    assert_portable(portable)
    original = (Draft7Validator if older else Draft202012Validator)(schema)
    for arguments in data.draw(st.lists(ARGUMENTS, min_size=2, max_size=5)):
        if original.is_valid(arguments):
            assert accepts(portable, arguments), (portable, arguments)


@given(st.text(max_size=60))
def test_a_portable_text_has_only_letters_digits_and_underscores(name: str) -> None:
    assert is_portable_name(portable_text(name), 60)


def test_a_portable_name_is_short_and_plain() -> None:
    names = ["read_file", "Read-File", "x" * 40, "x" * 41, "read.file", "datei_öffnen", "a b", "a:b"]
    assert [is_portable_name(name, 40) for name in names] == [True, True, True, False, False, False, False, False]
    assert [portable_text(name) for name in ("read.file", "a: b", "é")] == ["read_file", "a_b", "_"]
