"""Whatever a model puts into tool_search is answered or refused clearly, within bounds: never an exception, never late.

A search that took longer than `WAIT_SECONDS` would fail in `Opened.ask`.
"""

import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from server.found import LONGEST_QUERY
from server.gateway import MOST_QUERIES
from tests.support.gateways import Opened, error_of, gateway, payload
from tests.support.hosts import text_of
from tests.support.upstreams import entry
from upstream_clients import JsonObject

STOP_WORDS = ("the", "of", "and", "a", "to", "in", "el", "la", "der", "die", "и", "का", "的", "の", "في")
PIECES = (
    "read",
    "isue",
    "calandar",
    "mcp:",
    "mcp:files:read_file",
    "create_issue",
    "evento",
    "ファイル",
    "इश्यू",
    "🙂",
    "\u0300",
)
ANY_TEXT = (
    st.text(st.characters(exclude_categories=()), max_size=80)
    | st.lists(st.sampled_from(STOP_WORDS), max_size=40).map(" ".join)
    | st.text("?!…,.;:-_*^~\"'`()[]{}<>/\\|&%$#@+= \t\n\x00", max_size=80)
    | st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(" ".join)
    | st.text(st.characters(exclude_categories=()), min_size=1, max_size=4).map(lambda text: (text * 512)[:512])
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HIT_BYTES, QUERY_BYTES = 1_200, 700
"""What a hit and the answer to one of several queries may take at most, whatever stands in them."""


def tool(name: str, description: str, **properties: object) -> JsonObject:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "inputSchema": schema}


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    files = [
        tool("read_file", "Read a text file.", path={"type": "string"}),
        tool("delete_file", "Delete a file for good. \ud83d\ude42"),
    ]
    github = [
        tool("create_issue", "Open an issue in a repository.", title={"type": "string"}),
        tool("list_issues", "Issues of a repository. " * 40),
        *(tool(f"event_{n}", "Add an event to a calendar.") for n in range(30)),
    ]
    servers = {"files": {**entry(tools=files), "trusted": True}, "github": {**entry(tools=github), "hints": "safe"}}
    async with gateway(tmp_path_factory.mktemp("any"), servers) as running:
        yield running


def checked(result: JsonObject, queries: int = 1) -> JsonObject:
    """The payload of an answer that can be sent and is bounded, or of a clear refusal."""
    text = text_of(result)
    text.encode()  # nothing in it that UTF-8 cannot write
    if result.get("isError") is True:
        error = error_of(result)
        assert error["code"] == "invalid_arguments"
        assert error["message"]
        assert error["hint"]
        assert len(text) < 300
        return {}
    answer = payload(result)
    assert json.loads(text) == answer
    found = answer["tools"]
    assert isinstance(found, list)
    ids = [hit["id"] for hit in found]
    assert len(set(ids)) == len(ids) <= 32
    assert len(text.encode()) <= HIT_BYTES * max(1, len(ids)) + QUERY_BYTES * queries
    assert ids or answer.get("note") or "answers" in answer  # an empty answer says what could be tried
    return answer


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(query="", limit=None)
@example(query="the of and a to", limit=8)
@example(query="?!…", limit=float("inf"))
@example(query="\ud800", limit=float("nan"))
@example(query="read " * 102, limit=10**30)
@given(query=ANY_TEXT, limit=ANYTHING)
async def test_any_query_is_answered_or_refused(opened: Opened, query: str, limit: object) -> None:
    answer = checked(await opened.ask("tool_search", {"query": query, "limit": limit}))
    assert bool(answer) is bool(query.strip())


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=st.fixed_dictionaries({}, optional={"query": ANYTHING, "queries": ANYTHING, "limit": ANYTHING}))
async def test_any_arguments_are_answered_or_refused(opened: Opened, arguments: JsonObject) -> None:
    checked(await opened.ask("tool_search", arguments), queries=MOST_QUERIES)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    queries=st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=18, unique=True), limit=st.none() | st.integers()
)
async def test_any_queries_are_answered_at_once_up_to_sixteen(
    opened: Opened, queries: list[str], limit: int | None
) -> None:
    answer = checked(await opened.ask("tool_search", {"queries": queries, "limit": limit}), queries=len(queries))
    assert bool(answer) is (len(queries) <= MOST_QUERIES)
    if answer:
        answers = answer["answers"]
        assert isinstance(answers, list)
        assert len(answers) == len(queries)
        shown = answer["tools"]
        assert isinstance(shown, list)
        assert {hit["id"] for hit in shown} == {found for one in answers for found in one["found"]}


@pytest.mark.parametrize(
    "query", ["x" * LONGEST_QUERY, "a " * (LONGEST_QUERY // 2), "फ़ाइल " * 1_600, "\U0001f600" * LONGEST_QUERY]
)
async def test_the_longest_queries_are_answered(opened: Opened, query: str) -> None:
    checked(await opened.ask("tool_search", {"query": query}))


@pytest.mark.parametrize("query", ["x" * 1_000_000, "read file " * 100_000, "日" * 1_000_000])
async def test_a_query_of_a_million_characters_is_refused_with_the_reason(opened: Opened, query: str) -> None:
    for arguments in ({"query": query}, {"queries": ["read file", query]}):
        assert error_of(await opened.ask("tool_search", arguments)) == {
            "code": "invalid_arguments",
            "message": f"The query is over {LONGEST_QUERY} characters.",
            "hint": "Use a few words.",
        }


async def test_a_seventeenth_query_is_refused_with_the_reason(opened: Opened) -> None:
    error = error_of(await opened.ask("tool_search", {"queries": [f"read {n}" for n in range(17)]}))
    assert (error["message"], error["hint"]) == ("Over 16 queries.", "Ask for fewer at a time.")
    assert "answers" in payload(await opened.ask("tool_search", {"queries": ["read"] * 17}))  # one, said often


async def test_the_description_of_the_tool_asks_for_english_and_one_capability_a_query(opened: Opened) -> None:
    (published,) = [tool for tool in opened.running.gateway.surface().tools if tool["name"] == "tool_search"]
    said = str(published["description"])
    assert "in English" in said
    assert "one capability a query" in said
    schema = published["inputSchema"]
    assert isinstance(schema, dict)
    assert schema["properties"]["queries"]["maxItems"] == MOST_QUERIES
