"""Values that are read as their schema wants them, and those that are left alone."""

import pytest

from server.arguments import ArgumentCheck, InvalidArguments

JsonObject = dict[str, object]

STRINGS: JsonObject = {"type": "array", "items": {"type": "string"}}
PERSON: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


def holding(schema: JsonObject) -> JsonObject:
    """The schema of a tool whose one property `v` this is."""
    return {"type": "object", "properties": {"v": schema}, "required": ["v"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        ({"type": "integer"}, "42", 42),
        ({"type": "integer"}, "-1", -1),
        ({"type": "integer"}, "9007199254740993", 9007199254740993),
        ({"type": "integer"}, "123456789012345678901234567890", 123456789012345678901234567890),
        ({"type": "number"}, "42", 42),
        ({"type": "number"}, "-1.5", -1.5),
        ({"type": "number"}, "0.1", 0.1),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": ["integer", "null"]}, "42", 42),
        ({"type": ["integer", "number"]}, "42", 42),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "string"}, 42, "42"),
        ({"type": "string"}, 12345678901234567890, "12345678901234567890"),
        ({"type": "string"}, -1, "-1"),
        (PERSON, '{"name": "Ada"}', {"name": "Ada"}),
        (PERSON, '"{\\"name\\": \\"Ada\\"}"', {"name": "Ada"}),
        (PERSON, '{"name": 7, "age": "36"}', {"name": "7", "age": 36}),
        (PERSON, {"name": "Ada", "age": "36"}, {"name": "Ada", "age": 36}),
        (STRINGS, '["a", "b"]', ["a", "b"]),
        (STRINGS, ["a", 2], ["a", "2"]),
        (STRINGS, "README.md", ["README.md"]),
        ({"type": "array", "items": {"type": "integer"}}, 42, [42]),
        ({"type": "array", "items": PERSON}, '[{"name": "Ada", "age": "36"}]', [{"name": "Ada", "age": 36}]),
        ({"type": "array", "items": PERSON}, ['{"name": "Ada"}'], [{"name": "Ada"}]),
        ({"type": "string", "enum": ["low", "high"]}, "HIGH", "high"),
        ({"enum": ["Low", "High"]}, "low", "Low"),
        ({"const": "Open"}, "open", "Open"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"type": "string", "enum": ["1", "2"]}, 2, "2"),
        ({"enum": [True, "no"]}, "true", True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "42", 42),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", True),
        ({"anyOf": [PERSON, {"type": "null"}]}, '{"name": "Ada", "age": "36"}', {"name": "Ada", "age": 36}),
        ({"anyOf": [STRINGS, {"type": "null"}]}, "one", ["one"]),
        ({"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "boolean"}]}, "42", 42),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "42", 42),
        ({"$ref": "#/properties/w", "type": "integer"}, "42", 42),
    ],
)
def test_a_value_with_one_meaning_is_read(schema: JsonObject, sent: object, read: object) -> None:
    whole = holding(schema)
    properties = whole["properties"]
    assert isinstance(properties, dict)
    properties["w"] = {"type": "integer"}
    prepared = ArgumentCheck(whole).from_call({"args": {"v": sent}})
    assert prepared.arguments == {"v": read}
    assert type(prepared.arguments["v"]) is type(read)
    assert len(prepared.repairs) >= 1


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "integer"}, "yes"),
        ({"type": "integer"}, "4.0"),
        ({"type": "integer"}, "4e0"),
        ({"type": "integer"}, "+4"),
        ({"type": "integer"}, "04"),
        ({"type": "integer"}, " 4"),
        ({"type": "integer"}, "4\n"),
        ({"type": "integer"}, "1_000"),
        ({"type": "integer"}, "٤"),
        ({"type": "integer"}, ""),
        ({"type": "integer"}, "9" * 401),
        ({"type": "integer"}, 1.5),
        ({"type": "integer"}, True),
        ({"type": "integer"}, None),
        ({"type": "number"}, "0.10000000000000000001"),
        ({"type": "number"}, "1e400"),
        ({"type": "number"}, "1e-400"),
        ({"type": "number"}, ".5"),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "Infinity"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, "True"),
        ({"type": "boolean"}, "1"),
        ({"type": "boolean"}, 1),
        ({"type": "string"}, 4.0),
        ({"type": "string"}, True),
        ({"type": "string"}, None),
        ({"type": "string"}, ["a"]),
        ({"type": "null"}, "null"),
        (PERSON, "name=Ada"),
        (PERSON, '{"name": "Ada", "name": "Bob"}'),
        (PERSON, '["Ada"]'),
        (STRINGS, "a,b"),
        (STRINGS, "-n default"),
        (STRINGS, "[a]"),
        (STRINGS, ""),
        (STRINGS, 4.5),
        ({"type": "array"}, "a"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "a"),
        ({"type": "array", "items": {"type": "integer"}}, "42"),
        ({"enum": ["low", "LOW", "high"]}, "Low"),
        ({"enum": ["low", "high"]}, "hi"),
        ({"enum": [1, 2]}, "3"),
        # two readings, or two alternatives
        ({"type": ["string", "array"], "items": {"type": "integer"}}, 42.5),
        ({"type": ["integer", "array"], "items": {"type": "string"}}, "42"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "42"),
        ({"anyOf": [{"type": "boolean"}, STRINGS]}, "true"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 42),
        # read, but then out of bounds
        ({"type": "integer", "maximum": 10}, "42"),
        ({"not": {"type": "string"}}, "42"),
    ],
)
def test_a_value_that_may_mean_something_else_is_refused(schema: JsonObject, sent: object) -> None:
    with pytest.raises(InvalidArguments):
        ArgumentCheck(holding(schema)).from_call({"args": {"v": sent}})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "42"),
        ({"type": "string"}, '{"a": 1}'),
        ({}, "42"),
        ({"type": ["string", "integer"]}, "42"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "true"),
        ({"enum": ["low", "LOW"]}, "LOW"),
        ({"type": "number"}, 9007199254740993),
        ({"type": "number"}, 0.1),
        ({"type": "integer"}, 5.0),
        (STRINGS, ["1", "true"]),
        (STRINGS, []),
    ],
)
def test_a_value_that_satisfies_its_schema_is_the_same_object_afterwards(schema: JsonObject, value: object) -> None:
    arguments: JsonObject = {"v": value}
    prepared = ArgumentCheck(holding(schema)).from_call({"args": arguments})
    assert prepared.arguments is arguments
    assert repr(arguments) == repr({"v": value})
    assert prepared.repairs == ()


USER: JsonObject = {
    "type": "object",
    "properties": {
        "user": {"$ref": "#/$defs/user"},
        "home": {"anyOf": [{"$ref": "#/$defs/address"}, {"type": "null"}]},
        "a.b": {"type": "string"},
    },
    "required": ["user"],
    "$defs": {
        "user": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "required": ["name"],
        },
        "address": {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False},
    },
}


@pytest.mark.parametrize(
    ("sent", "arguments"),
    [
        ({"user.name": "Ada"}, {"user": {"name": "Ada"}}),
        ({"user": {}, "user.name": "Ada"}, {"user": {"name": "Ada"}}),
        ({"user": "{}", "user.name": "Ada"}, {"user": {"name": "Ada"}}),
        (
            {"user.name": "Ada", "user.address.city": 7, "home.city": "Bath"},
            {"user": {"name": "Ada", "address": {"city": "7"}}, "home": {"city": "Bath"}},
        ),
        ({"user": {"name": "Ada", "address": {}}, "a.b": "c"}, {"user": {"name": "Ada", "address": {}}, "a.b": "c"}),
        ({"user.name": "Ada", "a.b": "c"}, {"user": {"name": "Ada"}, "a.b": "c"}),
    ],
)
def test_dotted_keys_are_read_where_the_schema_has_their_path(sent: JsonObject, arguments: JsonObject) -> None:
    assert ArgumentCheck({**USER, "additionalProperties": False}).from_call({"args": sent}).arguments == arguments
    assert ArgumentCheck({**USER, "additionalProperties": False}).from_call(sent).arguments == arguments


@pytest.mark.parametrize(
    ("sent", "problems"),
    [
        ({"user.nick": "Ada"}, [("missing", "/user"), ("unknown", "/user.nick")]),
        ({"user": {"name": "Ada"}, "user.name": "Bob"}, [("unknown", "/user.name")]),
        ({"user": {"name": "Ada"}, ".": 1}, [("unknown", "/.")]),
        ({"user.name.first": "Ada"}, [("missing", "/user"), ("unknown", "/user.name.first")]),
    ],
)
def test_a_dotted_key_that_leads_nowhere_or_is_taken_is_named(
    sent: JsonObject, problems: list[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck({**USER, "additionalProperties": False}).from_call({"args": sent})
    assert [(problem.code, problem.path) for problem in caught.value.problems] == problems


def test_what_was_sent_is_never_changed_in_place() -> None:
    sent: JsonObject = {"user": {"address": {}}, "user.name": 7, "user.address.city": "Bath"}
    before = repr(sent)
    prepared = ArgumentCheck({**USER, "additionalProperties": False}).from_call({"args": sent})
    assert prepared.arguments == {"user": {"address": {"city": "Bath"}, "name": "7"}}
    assert repr(sent) == before


def test_a_long_column_of_numbers_is_read_and_told_in_a_few_sentences() -> None:
    check = ArgumentCheck(holding({"type": "array", "items": {"type": "number"}}))
    prepared = check.from_call({"args": {"v": [f"{number}.5" for number in range(900)]}})
    assert prepared.arguments == {"v": [number + 0.5 for number in range(900)]}
    assert len(prepared.repairs) == 9
    assert prepared.repairs[-1] == "and 892 more values"


def test_a_propertys_name_is_never_taken_for_the_object_that_has_it() -> None:
    check = ArgumentCheck(holding({"propertyNames": {"enum": ["low", "high"]}}))
    with pytest.raises(InvalidArguments) as caught:
        check.from_call({"args": {"v": {"LOW": 1}}})
    assert [(problem.code, problem.path, problem.suggestions) for problem in caught.value.problems] == [
        ("unknown", "/v/LOW", ("low",))
    ]
