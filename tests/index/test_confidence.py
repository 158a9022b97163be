import pytest

from index import Confidence, Exposure, JsonObject, SearchIndex, Tool
from index.confidence import grade


def tool(identity: str, description: str) -> Tool:
    owner, name = identity.split(":")
    definition: JsonObject = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, Exposure.CATALOG, "", False, False)


TOOLS = (
    tool("calendar:create_event", "Add an event to a calendar."),
    tool("calendar:delete_event", "Remove an event from a calendar."),
    tool("github:create_issue", "Open a new issue in a repository."),
    tool("github:merge_pull_request", "Merge a pull request."),
    tool("files:read_file", "Read the content of a file."),
    tool("mail:send_message", "Send a message to somebody."),
    tool("garden:water", "Waters plants."),
    tool("shop:create_invoice", "Create an invoice for a customer."),
)


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(TOOLS)


@pytest.mark.parametrize(
    ("query", "confidence"),
    [
        ("delete calendar event", Confidence.HIGH),
        ("merge a pull request", Confidence.HIGH),
        ("mcp:files:read_file", Confidence.HIGH),  # named
        ("customer", Confidence.HIGH),
        ("evento del calendario", Confidence.HIGH),
        ("plants", Confidence.HIGH),  # a word that another language has too, with another meaning
        ("create a calendar event for the parents evening at school", Confidence.MEDIUM),
        ("write an angry letter to a customer of the energy supplier", Confidence.LOW),
    ],
)
def test_a_hit_is_as_sure_as_the_part_of_the_query_that_it_has(
    index: SearchIndex, query: str, confidence: Confidence
) -> None:
    assert index.search(query, 1)[0].confidence is confidence


def test_a_word_that_was_corrected_makes_an_answer_less_sure(index: SearchIndex) -> None:
    right, wrong = index.search("customer invoice", 1)[0], index.search("custommer invoyce", 1)[0]
    assert right.tool_id == wrong.tool_id == "mcp:shop:create_invoice"
    assert right.confidence is Confidence.HIGH
    assert wrong.confidence is not Confidence.HIGH


def test_confidence_never_rises_down_an_answer(index: SearchIndex) -> None:
    order = list(Confidence)
    for query in ("create an event", "create", "send invoice message to a customer", "file read merge"):
        grades = [order.index(match.confidence) for match in index.search(query, 8)]
        assert grades == sorted(grades) != []


@pytest.mark.parametrize("query", ["create a sonata", "get weather", "send pizza", "lock the car", "host"])
def test_an_answer_that_has_only_the_verb_is_empty(index: SearchIndex, query: str) -> None:
    assert index.search(query, 8) == ()


@pytest.mark.parametrize("query", ["create", "delete something", "new event", "open ticket", "reed fil of calender"])
def test_an_answer_that_has_the_thing_or_was_asked_for_verbs_alone_is_not_empty(index: SearchIndex, query: str) -> None:
    assert index.search(query, 8) != ()


def test_what_was_not_found_is_answered_with_words_that_resemble_it(index: SearchIndex) -> None:
    assert index.closest_words("print the calandar") == ("calendar",)
    assert index.closest_words("delete invoice") == ()
    assert index.closest_words("repositories") == ()
    assert index.closest_words("qqqq") == ()
    assert SearchIndex.build(()).closest_words("anything") == ()


@pytest.mark.parametrize(
    ("score", "ceiling", "expected"), [(6.5, 10, "high"), (6.4, 10, "medium"), (3.5, 10, "medium"), (3.4, 10, "low")]
)
def test_the_bands_are_shares_of_the_ceiling(score: float, ceiling: float, expected: str) -> None:
    assert grade(score, ceiling) == expected
    assert grade(score, 0.0) == "low"
