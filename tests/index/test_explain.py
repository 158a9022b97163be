import pytest

from index import Confidence, Exposure, JsonObject, SearchIndex, Tool


def tool(identity: str, description: str, *parameters: str) -> Tool:
    owner, name = identity.split(":")
    schema: JsonObject = {"type": "object", "properties": {name: {"type": "string"} for name in parameters}}
    definition: JsonObject = {"name": name, "description": description, "inputSchema": schema}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, Exposure.CATALOG, "", False, False)


TOOLS = {
    one.id: one
    for one in (
        tool("github:create_issue", "Open an issue in a repository.", "repo", "labels"),
        tool("github:list_issues", "List issues. Filter them by labels.", "repo"),
        tool("calendar:create_event", "Add an event.", "title"),
        tool("calendar:delete_event", "Remove an event.", "event_id"),
    )
}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(tuple(TOOLS.values()))


def test_an_explanation_says_which_word_scored_what_in_which_field(index: SearchIndex) -> None:
    first = index.explain("remove evento", 1, TOOLS.get)[0]
    assert (first.tool_id, first.named) == ("mcp:calendar:delete_event", False)
    assert [(word.word, word.met_as, word.origin, list(word.fields)) for word in first.words] == [
        ("remove", "remov", "said", ["first sentence"]),
        ("event", "event", "translation", ["name", "first sentence", "parameter"]),
    ]
    assert set(first.bonuses) == {"as written", "side by side", "name"}
    assert first.ceiling > 0


@pytest.mark.parametrize("query", ["create issue labels", "create_issue", "ticket", "github repositry isue", "事件"])
def test_what_is_explained_adds_up_to_the_scores_of_the_search(index: SearchIndex, query: str) -> None:
    matches, explained = index.search(query, 4), index.explain(query, 4, TOOLS.get)
    assert [one.tool_id for one in explained] == [match.tool_id for match in matches] != []
    for match, one in zip(matches, explained, strict=True):
        assert one.confidence is match.confidence
        assert one.score == pytest.approx(match.score % 100_000, abs=1e-3)


def test_a_tool_that_the_query_names_is_marked(index: SearchIndex) -> None:
    first = index.explain("create_event", 1, TOOLS.get)[0]
    assert (first.tool_id, first.named, first.confidence) == ("mcp:calendar:create_event", True, Confidence.HIGH)


def test_a_tool_that_has_gone_and_an_empty_answer_are_not_explained(index: SearchIndex) -> None:
    assert index.explain("create issue", 4, lambda _: None) == ()
    assert index.explain("zzz", 4, TOOLS.get) == ()
    assert SearchIndex.build(()).explain("create issue", 4, TOOLS.get) == ()
