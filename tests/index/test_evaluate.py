import pytest

from index import Exposure, JsonObject, Question, SearchIndex, Tool, evaluate, read_questions
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
    assert list(found.tokens) == ["garden", "yard", "mail"]
    assert all(count > 10 for count in found.tokens.values())
    assert [found.passes(threshold) for threshold in (0.5, 0.51)] == [True, False]


def test_a_tool_that_cannot_be_found_is_listed_with_what_is_found_instead() -> None:
    crowd = [tool(f"o:t{n}", "Reports the level of the tank.") for n in range(9)]
    score = evaluate(crowd, SearchIndex.build(crowd)).by_description
    assert (score.asked, len(score.misses)) == (9, 4)
    assert score.misses[0].found == tuple(f"mcp:o:t{n}" for n in range(5))


def test_an_empty_catalogue_passes() -> None:
    found = evaluate((), SearchIndex.build(()))
    assert found.passes(1.0)
    assert (found.silent, found.near_duplicates, found.collisions, found.tokens) == ((), (), {}, {})


def test_questions_are_read_from_lines() -> None:
    text = "# ours\nread file\tmcp:a:read | mcp:b:read\n\n lire \tmcp:a:read\n"
    assert read_questions(text) == [
        Question("read file", ("mcp:a:read", "mcp:b:read")),
        Question("lire", ("mcp:a:read",)),
    ]


@pytest.mark.parametrize("line", ["read file", "read file\t", "\tmcp:a:read", "read\t | "])
def test_a_line_that_is_no_question_is_refused_by_its_number(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 "):
        read_questions(f"# first\n{line}")
