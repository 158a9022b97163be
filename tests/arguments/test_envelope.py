"""The forms in which a call's arguments arrive."""

import pytest

from server.arguments import ArgumentCheck, InvalidArguments, Problem

JsonObject = dict[str, object]

OPEN: JsonObject = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path"],
}
CLOSED: JsonObject = {**OPEN, "additionalProperties": False}
# tools that people use have properties of these names: a process's input, a command's arguments
INPUT: JsonObject = {
    "type": "object",
    "properties": {"pid": {"type": "integer"}, "input": {"type": "string"}},
    "required": ["pid", "input"],
}
ARGS: JsonObject = {
    "type": "object",
    "properties": {"verb": {"type": "string"}, "args": {"type": "array", "items": {"type": "string"}}},
    "required": ["verb"],
    "additionalProperties": False,
}
PARAMS: JsonObject = {
    "type": "object",
    "properties": {"params": {"type": "object", "properties": {"path": {"type": "string"}}}},
    "required": ["params"],
    "additionalProperties": False,
}
# the shape that most real tools have: nothing required, nothing closed
OPTIONAL: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "user": {"type": "object", "properties": {"name": {"type": "string"}, "home": {"$ref": "#/$defs/home"}}},
    },
    "$defs": {"home": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
FREE: JsonObject = {**OPEN, "additionalProperties": {"type": "array"}}
OWN_NAMES = ("mcp:u:t", "t")
NONE: JsonObject = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "envelope", "arguments"),
    [
        (CLOSED, {"args": {"path": "a"}}, {"path": "a"}),
        (OPEN, {"args": {"path": "a", "extra": 1}}, {"path": "a", "extra": 1}),
        (NONE, {"args": {}}, {}),
        (NONE, {}, {}),
    ],
)
def test_the_documented_form_goes_on_untouched(schema: JsonObject, envelope: JsonObject, arguments: JsonObject) -> None:
    prepared = ArgumentCheck(schema).from_call(envelope)
    assert (prepared.arguments, prepared.repairs) == (arguments, ())


@pytest.mark.parametrize(
    ("schema", "envelope", "arguments"),
    [
        # a JSON text in place of the object, also quoted twice
        (CLOSED, {"args": '{"path": "a"}'}, {"path": "a"}),
        (CLOSED, {"args": ' {"path": "a"}\n'}, {"path": "a"}),
        (CLOSED, {"args": '"{\\"path\\": \\"a\\"}"'}, {"path": "a"}),
        (CLOSED, {"arguments": '{"path": "a"}'}, {"path": "a"}),
        # wrappers of other names
        (CLOSED, {"arguments": {"path": "a"}}, {"path": "a"}),
        (CLOSED, {"input": {"path": "a"}}, {"path": "a"}),
        (CLOSED, {"parameters": {"path": "a"}}, {"path": "a"}),
        (CLOSED, {"params": {"path": "a"}}, {"path": "a"}),
        (OPEN, {"params": {"path": "a"}}, {"path": "a"}),
        # flattened beside `id`, wholly or in part
        (CLOSED, {"path": "a", "limit": 2}, {"path": "a", "limit": 2}),
        (FREE, {"path": "a", "more": [1]}, {"path": "a", "more": [1]}),
        (CLOSED, {"args": {"path": "a"}, "limit": 2}, {"path": "a", "limit": 2}),
        (CLOSED, {"args": {}, "path": "a"}, {"path": "a"}),
        (CLOSED, {"args": {"limit": 1}, "arguments": {"path": "a"}}, {"limit": 1, "path": "a"}),
        (CLOSED, {"args": None, "path": "a"}, {"path": "a"}),
        (NONE, {"args": None}, {}),
        # dotted
        (CLOSED, {"args.path": "a", "args.limit": 1}, {"path": "a", "limit": 1}),
        (CLOSED, {"arguments.path": "a"}, {"path": "a"}),
        # wrapped once more
        (CLOSED, {"args": {"args": {"path": "a"}}}, {"path": "a"}),
        (CLOSED, {"args": {"arguments": {"path": "a"}}}, {"path": "a"}),
        (CLOSED, {"arguments": {"arguments": {"path": "a"}}}, {"path": "a"}),
        (CLOSED, {"args": {"input": '{"path": "a"}'}}, {"path": "a"}),
        (OPEN, {"args": '{"parameters": {"path": "a"}}'}, {"path": "a"}),
        # the tool has a property of the wrapper's name
        (INPUT, {"pid": 1, "input": "ls"}, {"pid": 1, "input": "ls"}),
        (INPUT, {"pid": "1", "input": "ls"}, {"pid": 1, "input": "ls"}),
        (INPUT, {"input": {"pid": 1, "input": "ls"}}, {"pid": 1, "input": "ls"}),
        (INPUT, {"arguments": {"pid": 1, "input": "ls"}}, {"pid": 1, "input": "ls"}),
        (INPUT, {"args": {"pid": 1}, "input": "ls"}, {"pid": 1, "input": "ls"}),
        (ARGS, {"verb": "get", "args": ["-n", "x"]}, {"verb": "get", "args": ["-n", "x"]}),
        (ARGS, {"args": '{"verb": "get", "args": ["-n"]}'}, {"verb": "get", "args": ["-n"]}),
        (PARAMS, {"params": {"path": "a"}}, {"params": {"path": "a"}}),
        (PARAMS, {"params": {"params": {"path": "a"}}}, {"params": {"params": {"path": "a"}}}),
        (PARAMS, {"args": {"params": '{"path": "a"}'}}, {"params": {"path": "a"}}),
    ],
)
def test_a_clumsy_form_with_one_meaning_is_read(
    schema: JsonObject, envelope: JsonObject, arguments: JsonObject
) -> None:
    prepared = ArgumentCheck(schema).from_call(envelope)
    assert prepared.arguments == arguments
    assert prepared.repairs


@pytest.mark.parametrize(
    ("sent", "arguments"),
    [
        ({"arguments": {"path": "a"}}, {"path": "a"}),
        ({"args": {"path": "a"}}, {"path": "a"}),
        ({"input": {"path": "a", "limit": "5"}}, {"path": "a", "limit": 5}),
        ({"input": '{"path": "a"}'}, {"path": "a"}),
        ({"params": {}}, {}),
        ({"limit": 1, "params": {"path": "a"}}, {"limit": 1, "path": "a"}),
        ({"user.name": "x"}, {"user": {"name": "x"}}),
        ({"user": {"home.city": "Bath"}}, {"user": {"home": {"city": "Bath"}}}),
        (
            {"path": "a", "user.name": "x", "user.home.city": "Bath"},
            {"path": "a", "user": {"name": "x", "home": {"city": "Bath"}}},
        ),
        ({"input": {"user.name": "x"}, "path": "a"}, {"user": {"name": "x"}, "path": "a"}),
        ({"id": "mcp:u:t", "args": {"path": "a"}}, {"path": "a"}),
        ({"id": "mcp:u:t", "args": '{"path": "a"}'}, {"path": "a"}),
        ({"name": "t", "arguments": {"limit": "5"}}, {"limit": 5}),
        ({"id": "t", "args": {}}, {}),
    ],
)
def test_what_an_open_schema_would_let_pass_to_no_effect_is_put_in_its_place(
    sent: JsonObject, arguments: JsonObject
) -> None:
    check = ArgumentCheck(OPTIONAL)
    for prepared in (check.from_call({"args": sent}, OWN_NAMES), check.from_direct(sent, OWN_NAMES)):
        assert prepared.arguments == arguments
        assert prepared.repairs
        assert check.from_direct(prepared.arguments, OWN_NAMES).arguments is prepared.arguments


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        # keys that nobody can place
        (OPTIONAL, {"bogus": 5}),
        (OPTIONAL, {"path": "a", "x.y": 1, "user.nick": "x", "args": "-n"}),
        (OPTIONAL, {"input": {"bogus": 5}}),
        (OPTIONAL, {"input": {"path": "a"}, "params": {"limit": 5}}),
        (OPTIONAL, {"input": {"path": "a"}, "path": "b"}),
        (OPTIONAL, {"input": {"path": "a"}, "bogus": 5}),
        (OPTIONAL, {"user": {"name": "x"}, "user.name": "y"}),
        (OPTIONAL, {"id": "mcp:u:other", "args": {"path": "a"}}),
        (OPTIONAL, {"id": "mcp:u:t", "args": {"bogus": 5}}),
        # keys that the tool names itself, if only in an alternative
        ({"properties": {"name": {}, "args": {}}}, {"name": "t", "args": {"name": "x"}}),
        ({"properties": {"id": {}, "path": {}}, "required": ["input"]}, {"input": {"path": "a"}}),
        (
            {"properties": {"a": {}}, "anyOf": [{"properties": {"input": {}}}, {"properties": {"b": {}}}]},
            {"input": {"a": 1}},
        ),
        ({"properties": {"user": {"properties": {"name": {}}}, "user.name": {}}}, {"user.name": "x"}),
        # any key may have a meaning here
        (FREE, {"path": "a", "input": []}),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "object"}}, {"input": {"a": 1}}),
        ({"properties": {"a": {"properties": {"b": {}}}}, "patternProperties": {"[.]": {}}}, {"a.b": 1}),
        ({}, {"input": {"a": 1}, "a.b": 2}),
        ({"type": "object", "properties": {}}, {"args": {"a": 1}}),
    ],
)
def test_what_may_be_meant_as_it_was_sent_goes_on_untouched(schema: JsonObject, sent: JsonObject) -> None:
    check = ArgumentCheck(schema)
    for prepared in (check.from_call({"args": sent}, OWN_NAMES), check.from_direct(sent, OWN_NAMES)):
        assert prepared.arguments is sent
        assert prepared.repairs == ()


def test_a_whole_envelope_in_the_arguments_of_a_tool_that_has_an_id_itself_is_opened() -> None:
    check = ArgumentCheck({"properties": {"id": {"type": "string"}, "path": {}}})
    assert check.from_call({"args": {"id": "mcp:u:t", "args": {"id": "7"}}}, OWN_NAMES).arguments == {"id": "7"}
    assert check.from_call({"args": {"id": "t", "args": {"path": 1}}}, OWN_NAMES).arguments == {"id": "t", "path": 1}


def test_a_key_beside_the_id_that_the_tool_does_not_have_is_told_with_the_near_name() -> None:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(OPTIONAL).from_call({"args": {"path": "a"}, "limits": 5})
    assert caught.value.problems == (
        Problem(
            "/limits",
            "unplaced",
            '"limits" stands beside `id`, and the tool has no property of that name. Did you mean "limit"?',
            ("limit",),
        ),
    )


def test_a_call_whose_args_hold_the_tools_own_args_needs_no_repair() -> None:
    prepared = ArgumentCheck(ARGS).from_call({"args": {"verb": "get", "args": ["-n"]}})
    assert (prepared.arguments, prepared.repairs) == ({"verb": "get", "args": ["-n"]}, ())


@pytest.mark.parametrize(
    ("schema", "envelope", "problems"),
    [
        (CLOSED, {}, [("missing", "/path")]),
        (CLOSED, {"args": {}}, [("missing", "/path")]),
        (CLOSED, {"args": "path=a"}, [("envelope", "")]),
        (CLOSED, {"args": "{'path': 'a'}"}, [("envelope", "")]),
        (CLOSED, {"args": '{"path": "a", "path": "b"}'}, [("envelope", "")]),
        (CLOSED, {"args": '{"path": NaN}'}, [("envelope", "")]),
        (CLOSED, {"args": "[" * 100_000}, [("envelope", "")]),
        (CLOSED, {"args": '{"path": ' * 70 + "1" + "}" * 70}, [("envelope", "")]),
        (CLOSED, {"args": ["a"]}, [("envelope", "")]),
        (CLOSED, {"args": 5, "path": "a"}, [("envelope", "")]),
        # sent twice, even when both are the same: nobody can say which was meant to be the last word
        (CLOSED, {"args": {"path": "a"}, "path": "b"}, [("envelope", "/path")]),
        (CLOSED, {"args": {"path": "a"}, "path": "a"}, [("envelope", "/path")]),
        (CLOSED, {"args": {"path": "a"}, "arguments": {"path": "b"}}, [("envelope", "/path")]),
        (CLOSED, {"args": {"path": "a"}, "reason": "x"}, [("unplaced", "/reason")]),
        (CLOSED, {"args": {"path": "a", "reason": "x"}}, [("unknown", "/reason")]),
        # an open schema would let these pass, and the tool would not look at them
        (OPEN, {"path": "a", "more": [1]}, [("unplaced", "/more")]),
        (OPTIONAL, {"args": {"path": "a"}, "bogus": 5}, [("unplaced", "/bogus")]),
        (OPTIONAL, {"bogus": 5}, [("unplaced", "/bogus")]),
        (OPTIONAL, {"input": "a"}, [("unplaced", "/input")]),
        (OPTIONAL, {"limit": "x", "bogus": 5}, [("type", "/limit"), ("unplaced", "/bogus")]),
        (OPTIONAL, {"args": {"input": {"path": [5]}}}, [("type", "/path")]),
        (OPTIONAL, {"args": {"user.name": []}}, [("type", "/user/name")]),
        (CLOSED, {"input": "a"}, [("missing", "/path"), ("unplaced", "/input")]),
        # deeper than once more
        (CLOSED, {"args": {"args": {"args": {"path": "a"}}}}, [("missing", "/path"), ("unknown", "/args")]),
        (ARGS, {"args": ["-n"], "verb": 1.5}, [("type", "/verb")]),
        (INPUT, {"input": {"pid": 1}}, [("missing", "/pid"), ("type", "/input")]),
    ],
)
def test_a_form_that_could_mean_something_else_is_refused(
    schema: JsonObject, envelope: JsonObject, problems: list[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentCheck(schema).from_call(envelope)
    assert [(problem.code, problem.path) for problem in caught.value.problems] == problems


def test_a_direct_tools_arguments_are_its_own() -> None:
    check = ArgumentCheck(CLOSED)
    untouched: JsonObject = {"path": "a"}
    assert check.from_direct(untouched).arguments is untouched
    assert check.from_direct({"path": "a", "limit": "2"}).arguments == {"path": "a", "limit": 2}
    assert check.from_direct({"args": {"path": "a"}}).arguments == {"path": "a"}
    with pytest.raises(InvalidArguments):
        check.from_direct({"path": "a", "args": {}})


def test_each_repair_is_told_in_a_sentence_without_the_value() -> None:
    prepared = ArgumentCheck(CLOSED).from_call({"arguments": '{"path": 7, "limit": "3"}'})
    assert prepared.arguments == {"path": "7", "limit": 3}
    assert prepared.repairs == (
        "`arguments` read as the arguments object",
        "/path: the integer written as a string",
        "/limit: the string read as a number",
    )
