import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import Exposure, JsonObject, SearchIndex, Tool
from index.descriptor import MAX_SCHEMA_CHARS, indexed_text

TEXTS = st.text(st.characters()) | st.text("aeiot _:.^*?\"'()[]{}~+-&|\\/\x00\n", max_size=30)


def tool(
    identity: str,
    description: str = "",
    exposure: Exposure = Exposure.CATALOG,
    *,
    trusted: bool = False,
    **more: object,
) -> Tool:
    owner, name = identity.split(":")
    definition: JsonObject = {"name": name, "description": description, **more}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, exposure, "", trusted, False)


def takes(**properties: object) -> JsonObject:
    return {"type": "object", "properties": properties}


TOOLS = (
    tool(
        "time:get_current_time", "Get the current time in a time zone.", inputSchema=takes(timezone={"type": "string"})
    ),
    tool("time:convert_time", "Convert a time between time zones."),
    tool(
        "files:read_file",
        "Read a text file. Fails when the file is a folder.",
        inputSchema=takes(path={"type": "string"}),
    ),
    tool("files:list_directory", "List what a folder holds."),
    tool("files:search", "Find files by name."),
    tool("github:create_issue", "Open an issue in a GitHub repository.", inputSchema=takes(labels={"type": "array"})),
    tool("jira:create_issue", "Create a ticket in a project."),
    tool("wetter:vorhersage", "Wettervorhersage für eine Stadt, mit Überflutungswarnung."),
    tool("tianqi:forecast", "查询城市天气预报"),
    tool(
        "garden:water",
        "Drip.",
        inputSchema=takes(mode={"enum": ["sprinkle", "flood"], "description": "Intensity of it"}),
    ),
    tool("chat:post", "Send it.", _meta={"anthropic/searchHint": "slack message colleague"}),
    tool("admin:shutdown", "Turn the host off.", Exposure.HIDDEN),
    tool("admin:reboot", "Restart the host.", Exposure.QUARANTINED),
    tool("admin:uptime", "How long the host has run.", Exposure.DIRECT),
)


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(TOOLS)


def ids(index: SearchIndex, query: str, limit: int = 8) -> list[str]:
    return [match.tool_id.removeprefix("mcp:") for match in index.search(query, limit)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("what is the current time", "time:get_current_time"),
        ("converting times", "time:convert_time"),
        ("reading files", "files:read_file"),
        ("folder contents", "files:list_directory"),
        ("a folder, listed", "files:list_directory"),
        ("open a github ticket", "github:create_issue"),
        ("Wettervorhersage", "wetter:vorhersage"),
        ("uberflutungswarnung", "wetter:vorhersage"),
        ("天气", "tianqi:forecast"),
        ("flood", "garden:water"),
        ("intensity", "garden:water"),
        ("labels", "github:create_issue"),
        ("colleague", "chat:post"),
        ("getCurrentTime", "time:get_current_time"),
    ],
)
def test_a_tool_is_found_by_its_words(index: SearchIndex, query: str, best: str) -> None:
    assert ids(index, query)[0] == best


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("mcp:jira:create_issue", ["jira:create_issue"]),
        ("MCP:JIRA:CREATE_ISSUE", ["jira:create_issue"]),
        ("create_issue", ["github:create_issue", "jira:create_issue"]),
        ("search", ["files:search"]),
        (" Water ", ["garden:water"]),
        ("read the time with `convert_time`, please", ["time:convert_time"]),
        ("github repository issue, as in mcp:tianqi:forecast.", ["tianqi:forecast"]),
    ],
)
def test_what_the_query_names_exactly_comes_first(index: SearchIndex, query: str, first: list[str]) -> None:
    assert sorted(ids(index, query)[: len(first)]) == first


def test_a_plain_word_of_a_sentence_is_not_taken_for_a_name(index: SearchIndex) -> None:
    assert ids(index, "water and current time of the time zone")[0] == "time:get_current_time"


def test_only_tools_of_the_catalogue_are_found(index: SearchIndex) -> None:
    for query in ("shutdown", "mcp:admin:shutdown", "host", "reboot", "uptime", "admin"):
        assert not [found for found in ids(index, query) if found.startswith("admin")]


@pytest.mark.parametrize(
    "query", ["", "   ", "?!…", "the of and", "🙂", "\ud800", "\x00", "zzzz", "x" * 100_000, "^2.5", "terms:*"]
)
def test_a_query_without_a_known_word_finds_nothing(index: SearchIndex, query: str) -> None:
    assert index.search(query, 8) == ()


def test_a_very_long_query_is_answered_from_its_beginning(index: SearchIndex) -> None:
    assert ids(index, "folder " + " ".join(f"word{n}" for n in range(50_000)) + " weather")[0] == "files:list_directory"


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (0, 0), (1, 1), (2, 2), (10_000, 4)])
def test_a_limit_is_kept(index: SearchIndex, limit: int, count: int) -> None:
    assert len(index.search("time issue", limit)) == count


def test_more_exact_names_than_the_limit_are_cut_by_id() -> None:
    index = SearchIndex.build([tool(f"o{n}:ping") for n in range(9)])
    assert ids(index, "ping", 3) == ["o0:ping", "o1:ping", "o2:ping"]


def test_equal_tools_are_ordered_by_id() -> None:
    index = SearchIndex.build([tool(f"{owner}:ping_host", "Ping.") for owner in ("oc", "oa", "od", "ob")])
    assert ids(index, "ping a host", 3) == ["oa:ping_host", "ob:ping_host", "oc:ping_host"]


def test_an_index_of_nothing_answers_nothing() -> None:
    assert SearchIndex.build(()).search("anything", 8) == ()
    assert SearchIndex.build([tool("admin:shutdown", exposure=Exposure.HIDDEN)]).search("shutdown", 8) == ()
    assert SearchIndex.build([tool("o:_")]).search("o", 8)[0].tool_id == "mcp:o:_"


def test_trust_does_not_change_what_is_found() -> None:
    schema = takes(zone={"type": "string", "description": "Garden zone"})
    plain = SearchIndex.build([tool("a:water", inputSchema=schema)])
    trusted = SearchIndex.build([tool("a:water", trusted=True, inputSchema=schema)])
    assert plain.search("garden zone", 8) == trusted.search("garden zone", 8) != ()


def test_schema_text_beyond_its_limit_is_not_indexed() -> None:
    schema = takes(
        **{f"p{n}": {"type": "string", "description": "lorem " * 50} for n in range(20)}, last={"enum": ["hidden"]}
    )
    stuffed = tool("a:stuffed", inputSchema=schema)
    budget = sum(len(text) for _, text in indexed_text(stuffed)) - len("stuffed") - len("a")
    assert budget <= MAX_SCHEMA_CHARS
    index = SearchIndex.build([stuffed])
    assert ids(index, "last") == ["a:stuffed"]
    assert ids(index, "hidden") == []


def test_a_search_from_many_threads_answers_as_one_from_a_single_thread(index: SearchIndex) -> None:
    queries = ["time zone", "read file", "create issue in github", "folder", "天气", "convert the current time"] * 40
    alone = [index.search(query, 5) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: index.search(query, 5), queries)) == alone


def test_the_order_in_which_tools_are_given_changes_nothing(index: SearchIndex) -> None:
    turned = SearchIndex.build(TOOLS[::-1])
    assert turned.fingerprint == index.fingerprint
    assert turned.search("create a file issue", 8) == index.search("create a file issue", 8)


def test_building_and_searching_write_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    SearchIndex.build(TOOLS).search("time", 8)
    assert list(tmp_path.iterdir()) == []


def test_whoosh_is_not_imported_before_an_index_is_built() -> None:
    code = "import index, sys; index.SearchIndex.build(()); sys.exit('whoosh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@settings(deadline=None)
@given(query=TEXTS, limit=st.integers(-1, 60))
def test_any_text_may_be_searched_for(index: SearchIndex, query: str, limit: int) -> None:
    matches = index.search(query, limit)
    assert len(matches) <= max(limit, 0)
    assert list(matches) == sorted(matches, key=lambda match: (-match.score, match.tool_id))
    assert len({match.tool_id for match in matches}) == len(matches)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_tools_of_any_text_can_be_indexed(texts: list[tuple[str, str]]) -> None:
    tools = [
        tool(f"o{n}:t{n}", first, title=second, inputSchema=takes(**{second: {"description": first, "enum": [second]}}))
        for n, (first, second) in enumerate(texts)
    ]
    index = SearchIndex.build(tools)
    for one in tools:
        assert index.search(one.id, 1)[0].tool_id == one.id


@pytest.mark.parametrize(
    "query",
    [
        "the of and a to " * 32,
        "?!… " * 128,
        "create a calendar event and " * 18 + "then",
        "प्रोजेक्ट में इश्यू बनाएँ " * 20,
        "日历事件" * 128,
        "crear un evento del calendario " * 16,
        "isue repositry calander " * 21,
        "x" * 1_000_000,
        "a " * 500_000,
        "\U0001f600" * 512,
    ],
)
def test_any_long_query_is_answered(index: SearchIndex, query: str) -> None:
    assert len(index.search(query, 8)) <= 8
