from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from index import Catalog, Exposure, JsonObject, Judgement, Listing
from index.admission import refusal

WATER: JsonObject = {
    "name": "water_plants",
    "description": "Water the plants of a zone.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "zone": {"type": "string", "enum": ["north", "south"]},
            "then": {"$ref": "#/$defs/step"},
            "mode": {"anyOf": [{"const": "drip"}, {"type": "null"}], "default": None},
            "days": {"type": "array", "items": {"type": "integer"}, "prefixItems": [True]},
        },
        "required": ["zone"],
        "additionalProperties": False,
        "$defs": {
            "step": {"type": "object", "properties": {"after": {"$ref": "#/$defs/step"}, "same": {"$ref": "#start"}}},
            "start": {"$anchor": "start", "type": ["object", "null"]},
        },
    },
    "x-vendor": {"any": ["thing", 1.5, None]},
}


def nest(levels: int, wrap: Callable[[object], object], core: object) -> object:
    for _ in range(levels):
        core = wrap(core)
    return core


def circle() -> JsonObject:
    endless: JsonObject = {}
    endless["not"] = endless
    return endless


def doubling(levels: int) -> JsonObject:
    """Each definition tries the next one twice: 2 ** levels schemas for one value."""
    defs: JsonObject = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {}}}


BAD_SCHEMAS: dict[str, tuple[object, str]] = {
    "missing": (None, "missing"),
    "a list": ([], "missing or not an object"),
    "root is a string": ({"type": "string"}, 'root of inputSchema is not "type": "object"'),
    "root has several types": ({"type": ["object"]}, "root"),
    "unknown type": ({"properties": {"a": {"type": "text"}}}, "`type` is not a JSON type at '/properties/a'"),
    "type is an object": ({"properties": {"a": {"type": {}}}}, "`type`"),
    "no types": ({"properties": {"a": {"type": []}}}, "`type`"),
    "properties is a list": ({"properties": ["a"]}, "`properties` is not an object"),
    "property is text": ({"properties": {"a": "string"}}, "`properties` holds something that is not a schema"),
    "required is true": ({"properties": {"a": {"required": True}}}, "`required`"),
    "required holds numbers": ({"required": [1]}, "`required`"),
    "enum is text": ({"properties": {"a": {"enum": "a|b"}}}, "`enum` is not a list"),
    "items is text": ({"properties": {"a": {"items": "string"}}}, "`items`"),
    "anyOf is an object": ({"anyOf": {}}, "`anyOf` is not a list"),
    "reference outside": ({"properties": {"a": {"$ref": "https://example.com/a.json"}}}, "leads outside"),
    "reference to a file": ({"properties": {"a": {"$ref": "other.json#/a"}}}, "leads outside"),
    "reference to nothing": ({"properties": {"a": {"$ref": "#/$defs/a"}}}, "leads to nothing"),
    "reference to an unknown anchor": ({"properties": {"a": {"$ref": "#a"}}, "$anchor": "b"}, "leads to nothing"),
    "reference to text": ({"title": "t", "properties": {"a": {"$ref": "#/title"}}}, "leads to nothing"),
    "reference to bad schema": ({"x": {"type": 1}, "properties": {"a": {"$ref": "#/x"}}}, "`type` is not a JSON type"),
    "reference is a number": ({"$ref": 1}, "not a string"),
    "reference to itself": ({"properties": {"a": {"$ref": "#/properties/a"}}}, "leads back to itself"),
    "references in a circle": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        "leads back to itself",
    ),
    "references that double": (doubling(60), "multiply"),
    "64 KiB": ({"description": "x" * 65_536}, "bytes"),
    "many branches": ({"anyOf": [{}] * 65}, "more than 64 branches"),
    "many schemas": ({"properties": {f"p{n}": {} for n in range(2_000)}}, "more than 2,000 nested schemas"),
    "many values": ({"enum": [0] * 100_000}, "more than 65,536 values"),
    "deep schemas": (nest(32, lambda inner: {"items": inner}, {}), "nested deeper than 32"),
    "deep value": ({"default": nest(200, lambda inner: [inner], 0)}, "nested deeper than 96 levels"),
    "bottomless value": ({"default": nest(100_000, lambda inner: [inner], 0)}, "nested deeper"),
    "endless": (circle(), "nested deeper"),
    "not JSON": ({"default": {1, 2}}, "not plain JSON"),
    "keys that are not text": ({"properties": {1: {}}}, "not plain JSON"),
    "bytes": ({"default": b"x"}, "not plain JSON"),
    "not a number": ({"default": float("nan")}, "cannot carry"),
    "half a character": ({"default": "\ud800"}, "cannot carry"),
    "endless integer": ({"default": 10**5000}, "cannot carry"),
}


def test_a_sound_tool_is_admitted_as_it_is() -> None:
    assert refusal(WATER) == ""


@pytest.mark.parametrize(("schema", "reason"), BAD_SCHEMAS.values(), ids=BAD_SCHEMAS.keys())
def test_a_tool_with_a_bad_schema_is_quarantined_alone(schema: object, reason: str) -> None:
    listing = Listing("mcp", "garden", (WATER, {"name": "broken", "inputSchema": schema}))
    catalog = Catalog.empty().with_listing(listing, lambda _id, _definition: Judgement())

    broken = catalog.get("mcp:garden:broken")
    assert broken is not None
    assert broken.exposure is Exposure.QUARANTINED
    assert reason in broken.reason
    assert len(broken.reason) < 250
    assert [tool.name for tool in catalog.reachable()] == ["water_plants"]


@pytest.mark.parametrize("name", [None, 7, "", "with space", "a:b", "é", "x" * 129, "tab\t", "line\n"])
def test_a_name_that_hosts_would_refuse_is_refused(name: object) -> None:
    assert refusal({**WATER, "name": name}) == "the name is not 1 to 128 characters of A-Z a-z 0-9 _ . -"


def test_what_is_not_an_object_is_refused() -> None:
    assert refusal("tool") == "the tool is not an object"


def test_a_definition_that_is_huge_beside_its_schema_is_refused() -> None:
    assert refusal({**WATER, "icons": ["x" * 300_000]}).startswith("the definition has ")


def test_a_schema_at_the_limits_is_admitted() -> None:
    schema = {
        "type": "object",
        "properties": {f"p{n}": {"anyOf": [{}] * 64} for n in range(30)},
        "not": nest(15, lambda inner: {"properties": {"p": {"items": inner}}}, {}),
    }
    assert refusal({"name": "wide", "inputSchema": schema}) == ""


PLACES = st.sampled_from(["a", "b"])
REFERENCES = st.sampled_from(["#", "#a", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/properties/a/items", "#/x"])
SCHEMAS = st.recursive(
    st.booleans() | st.fixed_dictionaries({"type": st.sampled_from(["object", "array", "string"])}) | st.integers(),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(PLACES, inner),
            "$defs": st.dictionaries(PLACES, inner),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=3),
            "items": inner,
            "not": inner,
            "$ref": REFERENCES,
            "$anchor": PLACES,
            "required": st.lists(PLACES),
        },
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(SCHEMAS)
def test_any_schema_is_answered_and_an_admitted_one_can_be_used_by_a_validator(schema: object) -> None:
    if refusal({"name": "any", "inputSchema": schema}) == "":
        assert isinstance(schema, dict)
        Draft202012Validator(schema).is_valid({"a": {"a": [1]}, "b": "x"})
