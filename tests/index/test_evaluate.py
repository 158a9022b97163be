from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import (
    BadQuestions,
    Exposure,
    JsonObject,
    Question,
    Score,
    SearchIndex,
    Tool,
    approximate_tokens,
    encoded_bytes,
    evaluate,
    read_questions,
    shown_bytes,
)
from index.evaluate import Likeness, Miss, own_query


def tool(identity: str, description: str, exposure: Exposure = Exposure.CATALOG) -> Tool:
    owner, name = identity.split(":")
    definition: JsonObject = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, exposure, "", False, False)


TOOLS = (
    tool("garden:water", "Opens the valve of a bed for some minutes."),
    tool("yard:water", "Opens the valve of a bed for some minutes now."),
    tool("garden:mow", "Sends the robot over the lawn."),
    tool("mail:send_mail", "Send mail."),
    tool("admin:reboot", "Restart the whole machine at once.", Exposure.HIDDEN),
)


def test_a_tool_asks_for_itself_without_the_words_of_its_name() -> None:
    assert own_query(tool("o:create_issue", "Create an issue in a tracker of the team.")) == "tracker team"
    assert own_query(tool("o:send_mail", "Send mail.")) == ""
    assert own_query(tool("o:x", "")) == ""
    assert len(own_query(tool("o:x", "word " * 50)).split()) == 12


def test_a_catalogue_is_judged_by_its_own_words_and_by_questions() -> None:
    index = SearchIndex.build(TOOLS)
    questions = [Question("mow the lawn", ("mcp:garden:mow",)), Question("wash the car", ("mcp:garden:water",))]
    found = evaluate(TOOLS, index, questions)
    assert (found.by_description.asked, found.by_description.recall) == (3, 1.0)
    assert found.by_questions.misses == (Miss("wash the car", ("mcp:garden:water",), ()),)
    assert found.by_questions.recall == 0.5
    assert found.silent == ("mcp:mail:send_mail",)
    assert found.near_duplicates == (Likeness("mcp:garden:water", "mcp:yard:water", 10 / 11),)
    assert found.collisions == {"water": ("mcp:garden:water", "mcp:yard:water")}
    assert found.shown_bytes == {
        owner: shown_bytes(tool.definition for tool in TOOLS[:-1] if tool.owner == owner)
        for owner in ("garden", "yard", "mail")
    }
    assert list(found.shown_bytes) == ["garden", "yard", "mail"]  # the largest first
    assert [found.passes(threshold) for threshold in (0.5, 0.51)] == [True, False]


def test_a_tool_that_cannot_be_found_is_listed_with_what_is_found_instead() -> None:
    crowd = [tool(f"o:t{n}", "Reports the level of the tank.") for n in range(9)]
    score = evaluate(crowd, SearchIndex.build(crowd)).by_description
    assert (score.asked, len(score.misses)) == (9, 4)
    assert score.misses[0].found == tuple(f"mcp:o:t{n}" for n in range(5))


def test_an_empty_catalogue_passes() -> None:
    found = evaluate((), SearchIndex.build(()))
    assert found.passes(1.0)
    assert (found.silent, found.near_duplicates, found.collisions, found.shown_bytes) == ((), (), {}, {})


def test_a_question_may_name_a_tool_without_its_owner_and_one_that_is_gone_is_told() -> None:
    questions = [
        Question("lawn", ("mow",)),
        Question("valve", ("water",)),
        Question("lawn", ("gone", "send_mail", "reboot")),
    ]
    judged = evaluate(TOOLS, SearchIndex.build(TOOLS), questions).by_questions
    wanted, found, unknown = ("gone", "send_mail", "reboot"), ("mcp:garden:mow",), ("gone", "reboot")
    assert judged.misses == (Miss("lawn", wanted, found, unknown),)


def test_a_bill_counts_what_a_model_is_shown() -> None:
    definition: JsonObject = {
        "name": "é",
        "title": "no",
        "description": "d",
        "inputSchema": {"a": [1]},
        "_meta": {"b": 2},
    }
    text = '[{"name":"é","description":"d","inputSchema":{"a":[1]}}]'
    assert shown_bytes([definition]) == len(text.encode())
    assert encoded_bytes([definition]) > shown_bytes([definition])
    assert (approximate_tokens(0), approximate_tokens(450)) == (0, 100)


def test_questions_are_read_from_lines() -> None:
    text = (
        "\ufeff# ours\r\nread file\tmcp:a:read | mcp:b:read\r\n\r\n lire \tread\n"
        '{"query": "lesen", "tools": ["read", "read", "x"]}\n {"tools": "read", "query": "\\u8bfb"}'
    )
    assert read_questions(text) == [
        Question("read file", ("mcp:a:read", "mcp:b:read")),
        Question("lire", ("read",)),
        Question("lesen", ("read", "x")),
        Question("读", ("read",)),
    ]
    assert read_questions("") == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("read file", "has no tab"),
        ("read file\t", "names no tool"),
        ("\tmcp:a:read", "has no query"),
        ("read\t | ", "names no tool"),
        ("x" * 1001 + "\tread", "has a query of over 1000 characters"),
        ('{"query": "read"', "is not JSON: Expecting ',' delimiter at column 17"),
        ('{"query": "read"}', "is not of the form"),
        ('{"query": "read", "tools": ["a"], "tool": "a"}', "is not of the form"),
        ('{"query": "read", "tools": [1]}', "is not of the form"),
        ('{"query": 1, "tools": ["a"]}', "is not of the form"),
        ('{"query": " ", "tools": ["a"]}', "has no query"),
        ('{"query": "a", "tools": []}', "names no tool"),
        ('{"a":' * 100_000, "is not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_a_line_that_is_no_question_is_refused_by_its_number(line: str, fault: str) -> None:
    with pytest.raises(BadQuestions) as refused:
        read_questions(f"# first\n{line}")
    assert str(refused.value).startswith(f"line 2 {fault}")


def test_of_many_bad_lines_five_are_named() -> None:
    with pytest.raises(BadQuestions) as refused:
        read_questions("bad\n" * 12)
    assert [f"line {n} has" in str(refused.value) for n in range(1, 7)] == [True] * 5 + [False]
    assert str(refused.value).endswith("; and 7 lines more")


@given(st.text(st.characters()))
def test_any_text_is_read_as_questions_or_refused(text: str) -> None:
    with suppress(BadQuestions):
        assert all(one.query.strip() and one.wanted for one in read_questions(text))


def test_tools_without_a_single_word_are_judged_too() -> None:
    tools = (tool("a:--", ""), tool("b:--", ""))
    found = evaluate(tools, SearchIndex.build(tools))
    assert (found.near_duplicates, found.collisions) == ((), {"--": ("mcp:a:--", "mcp:b:--")})


def test_a_question_may_name_a_tool_behind_a_gateway_by_the_last_part_of_its_id() -> None:
    tools = (replace(TOOLS[0], id="mcp:team:mcp:garden:water", owner="team", name="mcp:garden:water"),)
    questions = [Question("valve", (wanted,)) for wanted in ("water", "mcp:garden:water", "mcp:team:mcp:garden:water")]
    assert evaluate(tools, SearchIndex.build(tools), questions).by_questions == Score(3, ())
