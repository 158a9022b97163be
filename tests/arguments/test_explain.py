"""What a model is told when its arguments don't fit."""

import pytest

from server.arguments import ArgumentCheck, InvalidArguments, Problem, explain

JsonObject = dict[str, object]

ISSUE: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 3, "pattern": "^[A-Z]"},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2},
        "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"]},
        "estimate": {"type": "number", "minimum": 0, "exclusiveMaximum": 8, "multipleOf": 0.5},
        "assignee": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
                    "required": ["kind", "radius"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                    "required": ["kind", "side"],
                },
                {"type": "string"},
            ]
        },
        "owner": {"type": "object", "properties": {"user_name": {"type": "string"}}, "required": ["user_name"]},
        "scores": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
    },
    "required": ["title"],
    "dependentRequired": {"estimate": ["assignee"]},
    "additionalProperties": False,
}


def problems_of(schema: JsonObject, arguments: JsonObject) -> tuple[Problem, ...]:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(schema).from_call({"args": arguments})
    return caught.value.problems


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        (
            {"titel": "Broken"},
            (
                Problem(
                    "/title",
                    "missing",
                    '"title" is required (a string). "titel" was sent: did you mean "title"?',
                    ("titel",),
                ),
                Problem("/titel", "unknown", '"titel" is not a property here. Did you mean "title"?', ("title",)),
            ),
        ),
        (
            {"title": "Broken", "priority": "hgh"},
            (
                Problem(
                    "/priority",
                    "enum",
                    '"priority" must be one of "low", "normal", "high", "urgent". Did you mean "high"?',
                    ("high",),
                ),
            ),
        ),
        ({"title": ["x"]}, (Problem("/title", "type", '"title" must be a string, not an array.'),)),
        (
            {"title": None},
            (Problem("/title", "type", '"title" must be a string, not null; leave it out if there is no value.'),),
        ),
        (
            {"title": "Broken", "labels": "a, b"},
            (Problem("/labels", "type", '"labels" must be an array of strings, not a string.'),),
        ),
        (
            {"title": "Broken", "labels": ["a", {}]},
            (Problem("/labels/1", "type", "Item 1 must be a string, not an object."),),
        ),
        (
            {"title": "Broken", "labels": ["a", "a"]},
            (Problem("/labels", "value", '"labels" must not hold the same item twice.'),),
        ),
        (
            {"title": "Broken", "labels": ["a", "b", "c"]},
            (Problem("/labels", "value", '"labels" must have at most 2 items.'),),
        ),
        ({"title": "Bo"}, (Problem("/title", "value", '"title" must have at least 3 characters.'),)),
        ({"title": "broken"}, (Problem("/title", "value", '"title" must match the pattern "^[A-Z]".'),)),
        (
            {"title": "Broken", "estimate": -1, "assignee": "a"},
            (Problem("/estimate", "value", '"estimate" must be at least 0.'),),
        ),
        (
            {"title": "Broken", "estimate": 8, "assignee": "a"},
            (Problem("/estimate", "value", '"estimate" must be less than 8.'),),
        ),
        (
            {"title": "Broken", "estimate": 0.3, "assignee": "a"},
            (Problem("/estimate", "value", '"estimate" must be a multiple of 0.5.'),),
        ),
        (
            {"title": "Broken", "estimate": 1},
            (Problem("/assignee", "missing", '"assignee" is required (a string or an integer or null).'),),
        ),
        (
            {"title": "Broken", "assignee": [1]},
            (Problem("/assignee", "type", '"assignee" must be a string or an integer or null.'),),
        ),
        (
            {"title": "Broken", "shape": {"kind": "circle"}},
            (Problem("/shape/radius", "missing", '"radius" is required (a number).'),),
        ),
        (
            {"title": "Broken", "shape": {"kind": "sqare", "side": 1}},
            (
                Problem(
                    "/shape/kind",
                    "enum",
                    '"kind" must be one of "circle", "square". Did you mean "square"?',
                    ("square",),
                ),
            ),
        ),
        (
            {"title": "Broken", "shape": [1]},
            (Problem("/shape", "type", '"shape" must be an object or a string.'),),
        ),
        (
            {"title": "Broken", "owner": {"userName": "ada"}},
            (
                Problem(
                    "/owner/user_name",
                    "missing",
                    '"user_name" is required (a string). "userName" was sent: did you mean "user_name"?',
                    ("userName",),
                ),
            ),
        ),
        (
            {"title": "Broken", "scores": {"A": 1}},
            (
                Problem(
                    "/scores/A",
                    "unknown",
                    '"A" is no name for a property here: it must match the pattern "^[a-z]+$".',
                ),
            ),
        ),
    ],
)
def test_a_problem_names_the_place_what_was_expected_and_near_names(
    arguments: JsonObject, problems: tuple[Problem, ...]
) -> None:
    assert problems_of(ISSUE, arguments) == problems


@pytest.mark.parametrize(
    ("rules", "sent", "message"),
    [
        ({"minimum": 0, "exclusiveMinimum": True}, 0, '"n" must be greater than 0.'),
        ({"minimum": 0, "exclusiveMinimum": False}, -1, '"n" must be at least 0.'),
        ({"maximum": 9, "exclusiveMaximum": True}, 9, '"n" must be less than 9.'),
    ],
)
def test_a_bound_that_draft_04_excludes_is_told_so(rules: JsonObject, sent: int, message: str) -> None:
    [problem] = problems_of({"properties": {"n": {"type": "integer", **rules}}}, {"n": sent})
    assert problem == Problem("/n", "value", message)


def test_the_text_has_each_problem_the_signature_and_the_form_of_a_call() -> None:
    problems = problems_of(ISSUE, {"titel": "Broken", "priority": "hgh"})
    assert explain(problems, '{ title: string; priority?: "low" | "high" }').splitlines() == [
        "The arguments do not fit this tool; it was not called.",
        '- /title: "title" is required (a string). "titel" was sent: did you mean "title"?',
        '- /priority: "priority" must be one of "low", "normal", "high", "urgent". Did you mean "high"?',
        '- /titel: "titel" is not a property here. Did you mean "title"?',
        'Expected: { title: string; priority?: "low" | "high" }',
        'Call it as: {"id": "<the same id>", "args": {<the properties above>}}',
    ]


def test_other_near_names_stand_at_the_end_of_the_line() -> None:
    schema: JsonObject = {"properties": {"start_date": {}, "start_data": {}}, "additionalProperties": False}
    [problem] = problems_of(schema, {"start-dat": 1})
    assert problem.suggestions == ("start_date", "start_data")
    assert explain([problem], "x").splitlines()[1].endswith('Did you mean "start_date"? Also near: "start_data".')


SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": {"password": SECRET}},
        {"title": f"x {SECRET}"},
        {"title": "Broken", "priority": SECRET},
        {"title": "Broken", "labels": SECRET + " x"},
        {"title": "Broken", "labels": [SECRET, SECRET]},
        {"title": "Broken", "assignee": [SECRET]},
        {"title": "Broken", "shape": {"kind": SECRET, "token": SECRET}},
        {"title": "Broken", "owner": {"password": SECRET}},
        {"title": "Broken", "extra": SECRET},
        {"title": "Broken", "estimate": SECRET},
    ],
)
def test_no_value_that_was_sent_is_ever_repeated(arguments: JsonObject) -> None:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(ISSUE).from_call({"args": arguments})
    told = [str(caught.value), repr(caught.value), explain(caught.value.problems, "{ title: string }")]
    assert SECRET not in " ".join([*told, *map(repr, caught.value.problems)])
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(ISSUE).from_call({"args": SECRET})
    assert SECRET not in repr(caught.value.problems)


def test_a_sent_name_is_cut_and_loses_what_is_not_printable() -> None:
    name = "a\n\x1b[31m\u202e\u200b\ud800" + "b" * 100
    [problem] = problems_of({"properties": {}, "additionalProperties": False}, {name: 1})
    shown = "a" + "b" * 62 + "…"
    assert problem == Problem(f"/{shown}", "unknown", f'"{shown}" is not a property here.')
    explain([problem], "{}").encode()


def test_names_in_a_pointer_are_escaped() -> None:
    [problem] = problems_of({"additionalProperties": False}, {"a/b~c": 1})
    assert problem.path == "/a~1b~0c"


def test_a_schemas_own_words_are_cut_and_cleaned_too() -> None:
    allowed = ["x" * 500, "two\nlines", *map(str, range(50))]
    [problem] = problems_of({"properties": {"v": {"enum": allowed}}}, {"v": {}})
    assert problem.message == (
        f'"v" must be one of "{"x" * 63}…", "twolines", "0", "1", "2", "3", "4", "5" or one of 44 more.'
    )


def test_problems_and_text_are_bounded() -> None:
    schema: JsonObject = {
        "properties": {f"p{number}": {"enum": ["y" * 64] * 20} for number in range(50)},
        "required": [f"p{number}" for number in range(50)],
        "additionalProperties": False,
    }
    problems = problems_of(schema, {f"q{number}" * 40: 1 for number in range(50)})
    assert len(problems) == 8
    text = explain(problems, "s" * 10_000)
    assert len(text) <= 2_000
    assert text.splitlines()[-2].startswith("Expected: sss")
    long = [Problem("/x" * 500, "value", "m" * 1_000, ("n" * 64,) * 3) for _ in range(20)]
    assert len(explain(long, "s" * 10_000)) <= 2_000
    assert explain(long, "").splitlines()[-3] == "- and 14 more"


def test_deeply_nested_alternatives_are_explained_to_a_point() -> None:
    schema: JsonObject = {"type": "integer"}
    for _ in range(10):
        schema = {"anyOf": [{"type": "object", "properties": {"v": schema}, "required": ["v"]}, {"type": "null"}]}
    sent: object = "x"
    for _ in range(10):
        sent = {"v": sent}
    [problem] = problems_of({"properties": {"v": schema}}, {"v": sent})
    assert (problem.code, problem.path) == ("type", "/v/v/v/v/v")


def test_what_was_expected_is_said_through_references() -> None:
    schema: JsonObject = {
        "properties": {
            "owner": {"$ref": "#/$defs/person"},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/person"}},
            "when": {"anyOf": [{"type": "string"}, {"anyOf": [{"$ref": "#/$defs/person"}, {"enum": [1, 2]}]}]},
            "free": {},
            "never": False,
        },
        "required": ["owner", "guests", "when", "free"],
        "$defs": {"person": {"type": "object"}},
    }
    assert [problem.message for problem in problems_of(schema, {"never": 1})] == [
        '"owner" is required (an object).',
        '"guests" is required (an array of objects).',
        '"when" is required (a string or an object or one of 1, 2).',
        '"free" is required (a value that fits its schema).',
        '"never" is not a property here.',
    ]


def test_an_enum_without_values_is_told_as_what_it_is() -> None:
    [problem] = problems_of({"properties": {"v": {"enum": []}}}, {"v": 1})
    assert problem == Problem("/v", "enum", '"v" must be left out: its schema allows no value.')


def test_a_large_union_is_cut_in_a_sentence() -> None:
    union: JsonObject = {"anyOf": [{"anyOf": [{"enum": [f"{i}{j}" * 40] * 9} for j in range(9)]} for i in range(9)]}
    [problem] = problems_of({"properties": {"v": union}, "required": ["v"]}, {})
    assert len(problem.message) < 350
    [problem] = problems_of({"properties": {"v": union}}, {"v": 1})
    assert len(problem.message) < 1_000
