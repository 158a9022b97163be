"""What is checked, by which draft, and what is not."""

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from server.arguments import ArgumentCheck, InvalidArguments, UnusableSchema

JsonObject = dict[str, object]

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def accepts(schema: JsonObject, arguments: JsonObject) -> bool:
    try:
        prepared = ArgumentCheck(schema).from_call({"args": arguments})
    except InvalidArguments:
        return False
    assert prepared.repairs == ()
    return True


@pytest.mark.parametrize(
    ("draft", "rules", "good", "bad"),
    [
        # an exclusive bound was a flag in draft-04, and 5.0 no integer
        (DRAFT_4, {"minimum": 1, "exclusiveMinimum": True}, 2, 1),
        (DRAFT_6, {"exclusiveMinimum": 1}, 2, 1),
        (DRAFT_4, {"type": "integer"}, 5, 5.0),
        (DRAFT_6, {"type": "integer"}, 5.0, 5.5),
        (DRAFT_6, {"const": 1}, 1.0, 2),
        (DRAFT_4, {"const": 1}, 2, None),
        (DRAFT_7, {"if": {"type": "string"}, "then": {"minLength": 2}}, "ab", "a"),
        (DRAFT_6, {"if": {"type": "string"}, "then": {"minLength": 2}}, "a", None),
        (DRAFT_7, {"items": [{"type": "string"}], "additionalItems": False}, ["a"], ["a", 1]),
        (DRAFT_7, {"dependencies": {"a": ["b"], "c": {"minProperties": 2}}}, {"a": 1, "b": 2}, {"a": 1}),
        (DRAFT_7, {"dependencies": {"a": ["b"], "c": {"minProperties": 2}}}, {"c": 1, "b": 2}, {"c": 1}),
        (DRAFT_7, {"$ref": "#/definitions/s", "maxLength": 1}, "long", 1.5),
        (DRAFT_2019, {"$ref": "#/definitions/s", "maxLength": 1}, "l", "long"),
        (DRAFT_2019, {"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        (DRAFT_2019, {"contains": {"type": "string"}, "minContains": 2}, ["a", "b"], ["a", 1]),
        (DRAFT_2019, {"items": [{}], "unevaluatedItems": False}, [1], [1, 2]),
        (DRAFT_2019, {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, {"a": 1}, {"b": 1}),
        (DRAFT_2020, {"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
        (DRAFT_2020, {"prefixItems": [{}], "unevaluatedItems": False}, [1], [1, 2]),
        (DRAFT_2020, {"$ref": "#/$defs/s", "maxLength": 1}, "l", "long"),
        (DRAFT_2020, {"$ref": "#s", "maxLength": 1}, "l", "long"),
        (None, {"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
        ("https://example.invalid/draft", {"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
        ("https://json-schema.org/draft-07/schema", {"items": [{"type": "string"}]}, ["a", 1], [1.5]),
    ],
)
def test_the_draft_that_a_schema_names_decides(draft: str | None, rules: JsonObject, good: object, bad: object) -> None:
    schema: JsonObject = {
        "properties": {"v": rules},
        "definitions": {"s": {"type": "string"}},
        "$defs": {"s": {"type": "string", "$anchor": "s"}},
    }
    if draft is not None:
        schema["$schema"] = draft
    assert accepts(schema, {"v": good})
    assert bad is None or not accepts(schema, {"v": bad})


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ({"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False}, {"x-a": 1}, {"y": 1}),
        ({"patternProperties": {"^x-": {"type": "integer"}}}, {"x-a": 1, "y": "z"}, {"x-a": {}}),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": {}}),
        ({"propertyNames": {"maxLength": 2}}, {"ab": 1}, {"abc": 1}),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}, [True]], [{"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}]),
        ({"uniqueItems": False}, [1, 1], None),
        ({"multipleOf": 0.1}, 0.3, 0.35),
        ({"multipleOf": 7}, 10**60 - 10**60 % 7, 10**60),
        ({"multipleOf": 0.5}, 10**400, 0.3),
        ({"maximum": 9007199254740992}, 9007199254740992, 9007199254740993),
        ({"not": {"type": "null"}}, 1, None),
        (
            {"anyOf": [{"properties": {"a": {}}}, {"type": "string"}], "unevaluatedProperties": False},
            {"a": 1},
            {"b": 1},
        ),
        (
            {
                "if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                "then": {"properties": {"a": {}}},
                "else": {"patternProperties": {"^b": {}}},
                "unevaluatedProperties": False,
            },
            {"kind": "a", "a": 1},
            {"kind": "a", "b": 1},
        ),
        (
            {"if": {"required": ["k"]}, "else": {"patternProperties": {"^b": {}}}, "unevaluatedProperties": False},
            {"b1": 1},
            {"c": 1},
        ),
        (
            {
                "dependentSchemas": {"a": {"properties": {"b": {}}}},
                "properties": {"a": {}},
                "unevaluatedProperties": False,
            },
            {"a": 1, "b": 2},
            {"b": 2},
        ),
        (
            {"$ref": "#/$defs/base", "unevaluatedProperties": {"type": "integer"}},
            {"name": "x", "more": 1},
            {"name": "x", "more": []},
        ),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "\U0001f600\U0001f600", "\U0001f600"),
    ],
)
def test_keywords_that_are_checked_in_our_own_way(rules: JsonObject, good: object, bad: object) -> None:
    schema: JsonObject = {"properties": {"v": rules}, "$defs": {"base": {"properties": {"name": {"type": "string"}}}}}
    assert accepts(schema, {"v": good})
    assert bad is None or not accepts(schema, {"v": bad})


def test_a_recursive_schema_is_followed_as_deep_as_the_value_goes() -> None:
    tree: JsonObject = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    "n": {"type": "integer"},
                },
                "required": ["n"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/node",
    }
    check = ArgumentCheck(tree)
    value: JsonObject = {"n": 0}
    for number in range(1, 20):
        value = {"n": number, "children": [value]}
    assert check.from_call({"args": value}).arguments is value
    with pytest.raises(InvalidArguments) as caught:
        check.from_call({"args": {"n": 1, "children": [{"n": 1.5}]}})
    assert [(problem.code, problem.path) for problem in caught.value.problems] == [("type", "/children/0/n")]
    assert check.from_call({"n": 1, "children": '[{"n": "2"}]'}).arguments == {"n": 1, "children": [{"n": 2}]}
    assert check.weight == 1_000_000


@pytest.mark.parametrize(
    ("draft", "extension"),
    [
        (DRAFT_2019, {"$recursiveAnchor": True, "properties": {"next": {"$recursiveRef": "#"}}}),
        (DRAFT_2020, {"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}}),
    ],
)
def test_dynamic_references_are_followed(draft: str, extension: JsonObject) -> None:
    schema = {"$schema": draft, **extension, "unevaluatedProperties": False}
    assert accepts(schema, {"next": {"next": {}}})
    assert not accepts(schema, {"next": {"next": {"other": 1}}})


def test_formats_are_not_asserted() -> None:
    assert accepts({"properties": {"when": {"type": "string", "format": "date-time"}}}, {"when": "tomorrow"})


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\d+$", "42", "٤٢"),
        ("^[\\u4e00-\\u9fff]+$", "漢字", "kanji"),
        (r"^\\u0041$", "\\u0041", "A"),
        (r"^a\/b\-c$", "a/b-c", "a/b"),
        ("x", "\ud800x", "\ud800"),
        ("^.$", "\U0001f600", "ab"),
        ("^(?<year>[0-9]{4})$", "2024", "24"),
    ],
)
def test_patterns_are_searched_as_json_schema_means_them(pattern: str, good: str, bad: str) -> None:
    check = ArgumentCheck({"properties": {"v": {"pattern": pattern}}})
    assert check.unchecked == ()
    check.from_call({"args": {"v": good}})
    with pytest.raises(InvalidArguments):
        check.from_call({"args": {"v": bad}})


@pytest.mark.parametrize(
    "pattern", ["(?=a)b", "(?<!a)b", r"(a)\1", "(", "[^]", "a" * 1_001, "((a{1,100}){1,100}){9}", "\ud800"]
)
def test_a_pattern_that_cant_be_checked_in_linear_time_is_not_checked_and_is_named(pattern: str) -> None:
    check = ArgumentCheck(
        {
            "properties": {"v": {"type": "string", "pattern": pattern}},
            "patternProperties": {pattern: {"type": "integer"}},
            "additionalProperties": False,
        }
    )
    assert check.unchecked == (pattern,)
    # whatever may match an unchecked name is let through: the upstream still checks
    assert check.from_call({"args": {"v": "anything", "other": "x"}}).repairs == ()
    with pytest.raises(InvalidArguments):
        check.from_call({"args": {"v": []}})


@contextmanager
def refused_as_unusable(reason: str) -> Iterator[None]:
    with pytest.raises(UnusableSchema) as caught:
        yield
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string"}, "the schema describes something that is not an object"),
        ({"type": ["string", "null"]}, "the schema describes something that is not an object"),
        ({"type": "objekt"}, "the schema describes something that is not an object"),
        (
            {"properties": {"v": {"type": "text"}}},
            "in the schema, `type` is not a JSON type at '/properties/v'",
        ),
        ({"properties": []}, "in the schema, `properties` is not an object of schemas"),
        ({"required": True}, "in the schema, `required` is not a list of names"),
        ({"properties": {"v": {"enum": 5}}}, "in the schema, `enum` is not a list at '/properties/v'"),
        (
            {"properties": {"v": {"minimum": "1"}}},
            "in the schema, `minimum` is not a number at '/properties/v'",
        ),
        (
            {"properties": {"v": {"multipleOf": 0}}},
            "in the schema, `multipleOf` is not a number above 0 at '/properties/v'",
        ),
        (
            {"$schema": DRAFT_4, "properties": {"v": {"exclusiveMinimum": 1}}},
            "in the schema, `exclusiveMinimum` is not true or false at '/properties/v'",
        ),
        ({"$ref": "#/$defs/none"}, 'the schema refers to "#/$defs/none", which is not in it'),
        ({"$ref": "http://127.0.0.1:9/s"}, 'the schema refers to "http://127.0.0.1:9/s", which is not in it'),
        (
            {"properties": {"v": {"$ref": "file:///etc/passwd"}}},
            'the schema refers to "file:///etc/passwd", which is not in it',
        ),
        ({"$ref": DRAFT_7}, f'the schema refers to "{DRAFT_7}", which is not in it'),
        ({"$schema": DRAFT_2020, "$dynamicRef": "#none"}, 'the schema refers to "#none", which is not in it'),
        ({"$schema": DRAFT_4, "$ref": 5}, "in the schema, `$ref` is not a string"),
        ({"$ref": "#/required", "required": []}, "the schema refers to something that is not a schema"),
        ({"$ref": "#/x", "x": {"type": 5}}, "in the schema, `type` is not a JSON type"),
        ({"$id": "http://["}, "in the schema, `$id` is not a URI"),
        ({"$ref": "#"}, "the schema refers to itself without end"),
        ({"anyOf": [{"type": "object"}, {"$ref": "#"}]}, "the schema refers to itself without end"),
        (
            {"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
            "the schema refers to itself without end",
        ),
        ({"properties": {"v": {"const": float("nan")}}}, "the schema has something that is not a JSON value"),
        ({"enum": [{1, 2}]}, "the schema has something that is not a JSON value"),
        ({"enum": list(range(66_000))}, "the schema has more than 65,536 values"),
    ],
)
def test_a_schema_that_cant_be_used_is_refused_with_the_reason(schema: JsonObject, reason: str) -> None:
    with refused_as_unusable(reason):
        ArgumentCheck(schema)


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"type": "number", "maximum": 9, "exclusiveMaximum": True, "title": 5}, 8, 9),
        ({"type": "array", "items": [{"type": "string"}]}, ["a", 1], [1.5]),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a"], ["a", 1]),
        ({"items": [{"minimum": 1, "exclusiveMinimum": True}]}, [2], [1]),
    ],
)
def test_a_schema_that_names_no_draft_is_read_as_the_older_one_that_it_is_written_in(
    rules: JsonObject, good: object, bad: object
) -> None:
    for named in ({}, {"$schema": 5}, {"$schema": "https://example.invalid/draft"}):
        schema: JsonObject = {"properties": {"v": rules}, **named}
        assert accepts(schema, {"v": good})
        assert not accepts(schema, {"v": bad})


@pytest.mark.parametrize(
    "fault",
    [
        {"title": 5, "description": ["x"], "$comment": 1, "examples": "x", "default": {}, "format": 5},
        {"deprecated": "no", "readOnly": 1, "writeOnly": None, "contentEncoding": 1, "contentMediaType": []},
        {"type": ["string", "string"]},
        {"$schema": 5},
        {"$schema": DRAFT_4, "title": None},
    ],
)
def test_a_fault_that_changes_no_verdict_is_forgiven_in_every_draft(fault: JsonObject) -> None:
    for draft in ({}, *({"$schema": name} for name in (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020))):
        schema: JsonObject = {
            "properties": {"v": {"type": "string", **fault}, "w": {"$ref": "#/properties/v"}},
            "required": ["v", "v"],
            **draft,
        }
        assert accepts(schema, {"v": "a", "w": "b"})
        with pytest.raises(InvalidArguments) as caught:
            ArgumentCheck(schema).from_call({"args": {"w": []}})
        assert [(problem.code, problem.path) for problem in caught.value.problems] == [
            ("missing", "/v"),
            ("type", "/w"),
        ]


@pytest.mark.parametrize("draft", [DRAFT_6, DRAFT_7, DRAFT_2019])
def test_a_boolean_in_the_place_of_the_items_is_counted_by_nobody(draft: str) -> None:
    rules: JsonObject = {"items": True, "additionalItems": False, "unevaluatedItems": False}
    assert accepts({"$schema": draft, "properties": {"v": rules}}, {"v": [1, 2]})
    del rules["additionalItems"]
    assert accepts({"$schema": draft, "properties": {"v": rules}}, {"v": [1, 2]})


def test_dependencies_may_name_schemas_before_properties() -> None:
    rules: JsonObject = {"dependencies": {"c": {"$id": "#c", "minProperties": 2}, "a": ["b"]}}
    schema: JsonObject = {"$schema": DRAFT_7, "properties": {"v": rules, "w": {"$ref": "#c"}}}
    assert accepts(schema, {"v": {"a": 1, "b": 2}, "w": {"x": 1, "y": 2}})
    assert not accepts(schema, {"v": {"c": 1}})


def test_a_remote_reference_is_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/s"
        with refused_as_unusable(f'the schema refers to "{address}", which is not in it'):
            ArgumentCheck({"properties": {"v": {"$ref": address}}})
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_schema_deeper_than_the_limit_is_refused() -> None:
    deep: JsonObject = {}
    for _ in range(60):
        deep = {"properties": {"v": deep}}
    with refused_as_unusable("the schema has more than 96 levels"):
        ArgumentCheck(deep)


def test_references_to_odd_places_in_the_schema_are_followed_when_a_schema_stands_there() -> None:
    check = ArgumentCheck({"properties": {"v": {"$ref": "#/x-types/name"}}, "x-types": {"name": {"type": "string"}}})
    assert check.from_call({"args": {"v": "a"}}).repairs == ()
    assert check.from_call({"args": {"v": 1}}).arguments == {"v": "1"}


def test_an_embedded_schema_with_its_own_id_answers_references_to_it() -> None:
    schema: JsonObject = {
        "$id": "https://example.invalid/tool",
        "properties": {"v": {"$ref": "name"}, "w": {"$ref": "https://example.invalid/name#/$defs/short"}},
        "$defs": {"n": {"$id": "name", "type": "string", "$defs": {"short": {"maxLength": 1}}}},
    }
    assert accepts(schema, {"v": "long", "w": "l"})
    assert not accepts(schema, {"v": [], "w": "l"})
    assert not accepts(schema, {"v": "long", "w": "long"})


def test_a_schema_inside_cant_change_the_draft_or_the_engine() -> None:
    schema: JsonObject = {
        "properties": {"v": {"$schema": DRAFT_7, "pattern": "^(a+)+$", "prefixItems": [{"type": "string"}]}}
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not accepts(schema, {"v": [1.5]})
        assert not accepts(schema, {"v": "a" * 60 + "b"})
