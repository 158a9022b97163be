"""A Gateway's tools are found by what people ask for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from index import Catalog, Exposure, Judgement, Listing, SearchIndex
from server.arguments import ArgumentCheck, ResultCheck
from upstream_clients import UNAVAILABLE_META, JsonObject, OpenClawGateway
from upstream_clients.openclaw.bundled import read_bundle
from upstream_clients.openclaw.inventory import Known, Learned, bundled_inventory, listing

ALL_OPEN = frozenset({"sessions_send", "sessions_spawn"})
HERE = OpenClawGateway("http://127.0.0.1:1", 1024, 1.0, allow=ALL_OPEN)

# What a Gateway itself says of some tools, in the sense and about the length of the real words.
LIVE = {
    "agents_list": 'Agent ids that `sessions_spawn(runtime:"subagent")` takes.',
    "sessions_spawn": "Start a child session in the background; agentId names the agent, model another model. "
    + "Work on research, on code or on tests stays hidden, unless a user wants to see it and steer it. " * 18,
    "sessions_send": "Run a visible session by key or label, or a local agent by its id. A reply may be announced.",
    "message": "Send and manage messages on channels.",
    "llm-task": "A JSON-only task of a model for workflows.",
}


def catalogued(tools: tuple[JsonObject, ...]) -> SearchIndex:
    def classify(_id: str, definition: JsonObject) -> Judgement:
        meta = definition["_meta"]
        assert isinstance(meta, dict)
        return Judgement(Exposure.UNAVAILABLE if UNAVAILABLE_META in meta else Exposure.CATALOG)

    catalog = Catalog.empty().with_listing(Listing("openclaw", "core", tools, trusted=True), classify)
    return SearchIndex.build(catalog.tools())


def bundled() -> SearchIndex:
    bundle = read_bundle()
    return catalogued(listing(bundled_inventory(bundle), HERE, bundle, Learned("2026.9.6", {}, ())))


def described_by_the_gateway() -> SearchIndex:
    bundle = read_bundle()
    known = [Known(one.name, one.owner, one.name.title(), LIVE.get(one.name, "")) for one in bundled_inventory(bundle)]
    return catalogued(listing(known, HERE, bundle, Learned("2026.9.6", {}, ())))


@pytest.mark.parametrize("index", [bundled, described_by_the_gateway])
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("spawn a sub agent", "sessions_spawn"),
        ("send a message to another session", "sessions_send"),
        ("run an LLM step that returns JSON", "llm-task"),
        ("which sub-agents are running", "subagents"),
        ("read the transcript of another conversation", "sessions_history"),
        ("list all sessions", "sessions_list"),
        ("search past conversations for a word", "sessions_search"),
        ("how many tokens has this session used", "session_status"),
    ],
)
def test_what_people_ask_for_is_first(index: Callable[[], SearchIndex], query: str, name: str) -> None:
    assert next(match.tool_id for match in index().search(query, 3)) == f"openclaw:core:{name}"


def test_every_bundled_schema_can_be_used_for_a_call(tmp_path: Path) -> None:
    for tool in read_bundle().tools.values():
        for key, kind in (("inputSchema", ArgumentCheck), ("outputSchema", ResultCheck)):
            schema = tool.get(key)
            if schema is not None:
                assert isinstance(schema, dict)
                kind(schema)
