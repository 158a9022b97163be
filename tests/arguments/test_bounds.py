"""Hostile schemas, patterns and arguments: each check ends within its steps, and says so."""

import threading

import pytest

from server.arguments import ArgumentCheck, InvalidArguments, Problem, UnusableSchema, explain

JsonObject = dict[str, object]

TOO_MUCH = Problem(
    "", "value", "These arguments can't be checked within 100,000 steps; send less at once, or a simpler value."
)


def doubling(times: int, keyword: str, end: JsonObject) -> JsonObject:
    """A few hundred bytes of schema that visit `end` 2 ** times."""
    definitions: JsonObject = {f"d{times}": end}
    for number in range(times):
        definitions[f"d{number}"] = {keyword: [{"$ref": f"#/$defs/d{number + 1}"}] * 2}
    return {"properties": {"v": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def nested(depth: int, leaf: JsonObject) -> JsonObject:
    for _ in range(depth):
        leaf = {"not": leaf}
    return leaf


ENDLESS_LIST: JsonObject = {
    "properties": {"v": {"$ref": "#/$defs/list"}},
    "$defs": {"list": {"items": {"anyOf": [{"$ref": "#/$defs/list"}, {"$ref": "#/$defs/list"}]}, "type": "array"}},
}


def deep_list(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


def chain(length: int) -> JsonObject:
    definitions: JsonObject = {f"d{length}": {"type": "integer"}}
    for number in range(length):
        definitions[f"d{number}"] = {"$ref": f"#/$defs/d{number + 1}"}
    return {"properties": {"v": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubling(30, "allOf", {"type": "integer"}), 5),
        (doubling(30, "anyOf", {"type": "integer"}), "x"),
        (doubling(30, "allOf", {"properties": {"a": {}}, "unevaluatedProperties": {}}), {"a": 1}),
        (ENDLESS_LIST, deep_list(40)),
        (chain(500), 5),
        # errors that quote a large value, again and again
        ({"properties": {"v": {"allOf": [{"maxLength": 1}] * 60}}}, "x" * 1_000_000),
        # a quadratic keyword
        ({"properties": {"v": {"contains": {}, "unevaluatedItems": False}}}, [1] * 15_000),
        # a large constant, compared with a large value for each of many items
        ({"properties": {"v": {"items": {"const": [1] * 2_000}}}}, [[1] * 2] * 1_000),
        ({"properties": {"v": {"items": {"enum": [[1] * 100 + [n] for n in range(100)]}}}}, [[1] * 2] * 5_000),
    ],
)
def test_a_check_that_would_not_end_gives_up_and_says_so(schema: JsonObject, value: object) -> None:
    check = ArgumentCheck(schema)
    with pytest.raises(InvalidArguments) as caught:
        check.from_call({"args": {"v": value}})
    assert caught.value.problems == (TOO_MUCH,)
    assert len(explain(caught.value.problems, "{ v: unknown }")) < 400


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"v": {"pattern": "^(a+)+$"}}}, "a" * 40 + "!"),
        ({"properties": {"v": {"pattern": "^(a|a)*$"}}}, "a" * 5_000 + "!"),
        ({"properties": {"v": {"pattern": "(.*)*(.*)*(.*)*x"}}}, "a" * 5_000),
        (
            {"properties": {"v": {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}}},
            {"a" * 40 + "!": 1},
        ),
        ({"properties": {"v": {"propertyNames": {"pattern": "^(a+)+$"}}}}, {"a" * 40 + "!": 1}),
        (
            {"properties": {"v": {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}}},
            {"a" * 40 + "!": 1},
        ),
        ({"properties": {"v": {"uniqueItems": True}}}, [{"n": number % 4_000} for number in range(4_001)]),
        (doubling(8, "anyOf", {"type": "integer"}), "x"),
        # near names for a thousand objects, case for two thousand allowed values, a JSON text for sixty alternatives
        (
            {
                "properties": {
                    "v": {
                        "items": {
                            "required": ["q" * 63],
                            "properties": {f"p{number}" * 12: {} for number in range(900)},
                            "additionalProperties": False,
                        }
                    }
                }
            },
            [{f"r{number}" * 12: 1} for number in range(1_000)],
        ),
        ({"properties": {"v": {"enum": [f"{number}" * 8 for number in range(2_000)]}}}, "x" * 1_000_000),
        ({"properties": {"v": {"anyOf": [{"type": ["object", "array"]}] * 60}}}, "[" + "1," * 500_000 + "]"),
        # dotted keys, each of which may lead through a large union
        (
            {
                "properties": {
                    "v": {
                        "properties": {"a": {"allOf": [{"allOf": [{"properties": {"b": {}}}] * 25}] * 25}},
                        "additionalProperties": False,
                    }
                }
            },
            {f"a.{number}": 1 for number in range(10_000)},
        ),
    ],
)
def test_a_bad_value_for_a_costly_schema_is_refused(schema: JsonObject, value: object) -> None:
    with pytest.raises(InvalidArguments):
        ArgumentCheck(schema).from_call({"args": {"v": value}})


def test_a_pattern_is_paid_for_by_the_length_of_the_text() -> None:
    check = ArgumentCheck({"properties": {"v": {"items": {"pattern": r"^\p{L}{3}$"}}}})
    assert check.unchecked == ()
    with pytest.raises(InvalidArguments) as caught:
        check.from_call({"args": {"v": ["x" * 10_000] * 1_000}})
    assert caught.value.problems == (TOO_MUCH,)


def test_a_large_honest_table_is_checked() -> None:
    row = {"type": "object", "properties": {name: {"type": "number"} for name in "abc"}, "required": ["a"]}
    check = ArgumentCheck({"properties": {"rows": {"type": "array", "items": row}}})
    table: JsonObject = {"rows": [{"a": number, "b": 1, "c": 2} for number in range(4_900)]}
    assert check.from_call({"args": table}).arguments is table


def test_a_large_text_that_is_the_second_alternative_is_checked() -> None:
    check = ArgumentCheck({"properties": {"v": {"anyOf": [{"type": "null"}, {"type": "string"}]}}})
    text: JsonObject = {"v": "x" * 4_000_000}
    assert check.from_call({"args": text}).arguments is text


def test_when_repairs_would_cost_too_much_what_was_wrong_is_still_told() -> None:
    branch = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n", "m"]}
    schema: JsonObject = {"properties": {"v": {"items": {"anyOf": [branch] * 30}}, "w": {"type": "integer"}}}
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(schema).from_call({"args": {"w": "five", "v": [{"n": "1"}] * 200}})
    assert ("type", "/w") in [(problem.code, problem.path) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"v": deep_list(65)}, "more than 64 levels"),
        ({"v": [1] * 20_001}, "more than 20,000 values"),
        ({"v": float("nan")}, "something that is not a JSON value"),
        ({"v": float("inf")}, "something that is not a JSON value"),
        ({"v": {1: 2}}, "a property name that is not a string"),
        ({"v": (1,)}, "something that is not a JSON value"),
        ({"v": 10**5_000}, "an integer of more than 4,200 digits"),
    ],
)
def test_arguments_beyond_the_limits_are_refused(arguments: JsonObject, what: str) -> None:
    check = ArgumentCheck({})
    for call in (check.from_direct, lambda sent: check.from_call({"args": sent})):
        with pytest.raises(InvalidArguments) as caught:
            call(arguments)
        assert caught.value.problems == (Problem("", "envelope", f"The arguments hold {what}; send less at once."),)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (nested(100, {}), "the schema has more than 96 levels"),
        (nested(90, {}), None),
        ({"properties": {f"p{number}": {"type": "string"} for number in range(2_000)}}, None),
        ({"anyOf": [{"not": {}}] * 4_000}, None),
        ({"$defs": {f"d{n}": {"enum": [0] * 100} for n in range(700)}}, "the schema has more than 65,536 values"),
    ],
)
def test_a_schema_is_vetted_within_bounds(schema: JsonObject, reason: str | None) -> None:
    if reason is None:
        assert ArgumentCheck(schema).weight > 1
        return
    with pytest.raises(UnusableSchema) as caught:
        ArgumentCheck(schema)
    assert caught.value.reason == reason


def test_recursion_stays_within_a_small_threads_stack() -> None:
    check = ArgumentCheck(ENDLESS_LIST)
    outcomes: list[object] = []

    def call() -> None:
        try:
            outcomes.append(check.from_call({"args": {"v": deep_list(30)}}))
        except InvalidArguments as error:
            outcomes.append(error.problems)

    before = threading.stack_size(512 * 1024)  # what macOS gives a thread
    try:
        thread = threading.Thread(target=call)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(60)
    assert outcomes == [(TOO_MUCH,)]


def test_the_weight_of_a_schema_tells_a_heavy_one_from_a_light_one() -> None:
    light = ArgumentCheck({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    heavy = ArgumentCheck(doubling(12, "allOf", {"type": "integer"}))
    assert light.weight == 3
    assert heavy.weight > 2**12
    assert ArgumentCheck(doubling(40, "allOf", {})).weight == 1_000_000


def test_a_text_that_holds_more_than_the_limits_is_refused() -> None:
    check = ArgumentCheck({"properties": {"v": {"items": {"type": "array"}}}})
    texts: JsonObject = {"v": ["[" + "1," * 9_000 + "1]"] * 3}
    with pytest.raises(InvalidArguments) as caught:
        check.from_call({"args": texts})
    assert [problem.code for problem in caught.value.problems] == ["envelope"]


def test_patterns_beyond_the_first_two_hundred_are_not_checked() -> None:
    check = ArgumentCheck({"properties": {f"p{number}": {"pattern": f"^{number}$"} for number in range(210)}})
    assert len(check.unchecked) == 10
