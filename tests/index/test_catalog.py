import copy
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import Catalog, Exposure, JsonObject, Judgement, Listing, SearchIndex, Tool, Unresolved
from index.catalog import MAX_TOOLS_PER_LISTING

NAMES = st.sampled_from(["read", "write", "list_all", "list-all", "x.y", "bad name", ""])
OWNERS = st.sampled_from(["files", "notes", "a-b", "a"])


def definition(name: object, description: str = "") -> JsonObject:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def listing(owner: str, *names: object) -> Listing:
    return Listing("mcp", owner, tuple(definition(name) for name in names))


def found(_id: str, _definition: JsonObject) -> Judgement:
    return Judgement()


def hiding(*ids: str) -> Mapping[str, Judgement]:
    return dict.fromkeys(ids, Judgement(Exposure.HIDDEN, "denied"))


def catalog_of(*listings: Listing, policy: Mapping[str, Judgement] | None = None) -> Catalog:
    catalog = Catalog.empty()
    for one in listings:
        catalog = catalog.with_listing(one, lambda tool_id, _: (policy or {}).get(tool_id, Judgement()))
    return catalog


def test_a_listing_becomes_tools_that_keep_what_the_upstream_sent() -> None:
    sent: JsonObject = {
        "name": "get_time",
        "title": "Get the time",
        "description": "The time in a zone.",
        "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}},
        "outputSchema": {"type": "object"},
        "vendor": {"kept": [1, None]},
    }
    original = copy.deepcopy(sent)

    catalog = Catalog.empty().with_listing(Listing("mcp", "time", (sent,), trusted=True, cached=True), found)

    tool = catalog.get("mcp:time:get_time")
    assert tool == Tool(
        id="mcp:time:get_time",
        source="mcp",
        owner="time",
        name="get_time",
        definition=original,
        exposure=Exposure.CATALOG,
        reason="",
        trusted=True,
        cached=True,
    )
    assert tool.definition is sent
    assert sent == original
    assert (tool.label, tool.description) == ("Get the time", "The time in a zone.")
    assert (tool.input_schema, tool.output_schema) == (original["inputSchema"], {"type": "object"})


def test_junk_in_a_definition_reads_as_absent() -> None:
    sent = {"name": "t", "title": 3, "annotations": [], "description": None, "outputSchema": "x", "_meta": 1}
    tool = Tool("mcp:o:t", "mcp", "o", "t", {**sent, "inputSchema": 5}, Exposure.QUARANTINED, "", False, False)
    assert (tool.label, tool.description, tool.search_hint) == ("t", "", "")
    assert (tool.input_schema, tool.output_schema) == ({}, None)


def test_a_snapshot_never_changes() -> None:
    first = catalog_of(listing("files", "read"))
    second = first.with_listing(listing("files", "write"), found)
    third = second.without("mcp", "files")

    assert [first.generation, second.generation, third.generation] == [1, 2, 3]
    assert [[tool.name for tool in one.tools()] for one in (first, second, third)] == [["read"], ["write"], []]


def test_what_changes_nothing_answers_the_same_snapshot() -> None:
    catalog = catalog_of(listing("files", "read", "write"))
    assert catalog.with_listing(listing("files", "write", "read"), found) is catalog
    assert catalog.without("mcp", "notes") is catalog


def test_a_hostile_listing_can_be_listed_again() -> None:
    def bottomless() -> JsonObject:
        value: object = 0
        for _ in range(100_000):
            value = [value]
        return {**definition("deep"), "default": value}

    catalog = catalog_of(Listing("mcp", "files", (bottomless(), definition("read"))))
    assert catalog.with_listing(Listing("mcp", "files", (bottomless(), definition("read"))), found) is catalog
    assert [(tool.name, tool.definition) for tool in catalog.tools()] == [("deep", {}), ("read", definition("read"))]


def test_the_longest_id_can_be_resolved() -> None:
    catalog = Catalog.empty().with_listing(Listing("s" * 64, "o" * 64, (definition("n" * 128),)), found)
    assert catalog.resolve(f"{'s' * 64}:{'o' * 64}:{'n' * 128}") is catalog.tools()[0]


def test_a_listing_leaves_other_owners_alone() -> None:
    before = catalog_of(listing("files", "read"), listing("notes", "read"))
    after = before.with_listing(listing("notes", "read", "write"), found)
    assert after.get("mcp:files:read") is before.get("mcp:files:read")


def test_policy_is_asked_about_admitted_tools_only_and_its_reason_is_kept() -> None:
    asked = []

    def classify(tool_id: str, definition: JsonObject) -> Judgement:
        asked.append((tool_id, definition["name"]))
        return Judgement(Exposure.DIRECT, "always loaded", "look at it")

    catalog = Catalog.empty().with_listing(listing("files", "read", "bad name"), classify)

    assert asked == [("mcp:files:read", "read")]
    assert [(tool.name, tool.exposure) for tool in catalog.tools()] == [
        ("bad name", Exposure.QUARANTINED),
        ("read", Exposure.DIRECT),
    ]
    assert [(tool.reason, tool.warning) for tool in catalog.reachable()] == [("always loaded", "look at it")]


def test_every_tool_of_a_doubled_name_is_quarantined() -> None:
    catalog = catalog_of(listing("files", "read", "write", "read", None, None))
    assert [(tool.id, tool.reason) for tool in catalog.tools() if tool.exposure is Exposure.QUARANTINED] == [
        ("mcp:files:", "the name is not 1 to 128 characters of A-Z a-z 0-9 _ . -"),
        ("mcp:files:", "the name is not 1 to 128 characters of A-Z a-z 0-9 _ . -"),
        ("mcp:files:read", "duplicate name"),
        ("mcp:files:read", "duplicate name"),
    ]
    assert [tool.id for tool in catalog.reachable()] == ["mcp:files:write"]


def test_tools_beyond_the_limit_of_a_listing_are_quarantined() -> None:
    catalog = catalog_of(listing("many", *(f"t{n:05}" for n in range(MAX_TOOLS_PER_LISTING + 2))))
    assert len(catalog.reachable()) == MAX_TOOLS_PER_LISTING
    assert {tool.reason for tool in catalog.tools()} == {"", "the listing has more than 2,000 tools"}


def test_a_name_cut_for_the_record_cannot_be_taken_for_an_admitted_one() -> None:
    catalog = catalog_of(listing("files", "x" * 128, "x" * 129))
    assert [tool.id for tool in catalog.reachable()] == ["mcp:files:" + "x" * 128]
    assert catalog.get("mcp:files:" + "x" * 127 + "…") is not None


@pytest.mark.parametrize("owner", ["", "a:b", "two words", "x" * 65])
def test_an_owner_that_would_break_ids_cannot_be_listed(owner: str) -> None:
    with pytest.raises(ValueError, match="owner_for_key"):
        Listing("mcp", owner, ())


@pytest.mark.parametrize("reference", ["mcp:files:write", "write", "  write\n"])
def test_an_exact_id_or_a_unique_name_is_resolved(reference: str) -> None:
    catalog = catalog_of(listing("files", "read", "write"), listing("notes", "read"))
    assert catalog.resolve(reference) is catalog.get("mcp:files:write")


def test_an_ambiguous_name_lists_at_most_three_ids() -> None:
    catalog = catalog_of(*(listing(owner, "read") for owner in ("d", "b", "a", "c")))
    assert catalog.resolve("read") == Unresolved("read", True, ("mcp:a:read", "mcp:b:read", "mcp:c:read"))


@pytest.mark.parametrize(
    ("reference", "candidates"),
    [
        ("create_isue", ("mcp:github:create_issue", "mcp:jira:create_issue")),
        ("mcp:github:create_isue", ("mcp:github:create_issue", "mcp:jira:create_issue")),
        ("mcp:jria:create_issue", ("mcp:github:create_issue", "mcp:jira:create_issue")),
        ("jira__create_issue", ("mcp:jira:create_issue", "mcp:github:create_issue")),
        ("CreateIssue", ("mcp:github:create_issue", "mcp:jira:create_issue")),
        ("current_time_get", ("mcp:time:get_current_time",)),
        ("time.getCurrentTime", ("mcp:time:get_current_time",)),
        ("something else entirely", ()),
        ("", ()),
        ("::", ()),
        ("天気", ()),
    ],
)
def test_an_unknown_reference_names_what_it_is_close_to(reference: str, candidates: tuple[str, ...]) -> None:
    catalog = catalog_of(
        listing("github", "create_issue"),
        listing("jira", "create_issue", "assign"),
        listing("time", "get_current_time", "_"),
    )
    assert catalog.resolve(reference) == Unresolved(reference, False, candidates)


@pytest.mark.parametrize("reference", ["mcp:files:remove", "remove", "remov", "mcp:files:broken!"])
def test_a_hidden_or_quarantined_tool_answers_as_one_that_was_never_there(reference: str) -> None:
    others = ("remove_all", "read")
    hidden = catalog_of(listing("files", "remove", "broken!", *others), policy=hiding("mcp:files:remove"))
    never = catalog_of(listing("files", *others))
    assert isinstance(hidden.resolve(reference), Unresolved)
    assert hidden.resolve(reference) == never.resolve(reference)


def test_a_hidden_namesake_does_not_make_a_name_ambiguous() -> None:
    catalog = catalog_of(listing("files", "read"), listing("notes", "read"), policy=hiding("mcp:notes:read"))
    assert catalog.resolve("read") is catalog.get("mcp:files:read")


def test_a_very_long_reference_is_cut() -> None:
    assert catalog_of(listing("files", "read")).resolve("y" * 100_000) == Unresolved("y" * 530, False, ())


def test_the_fingerprint_follows_what_search_can_see_and_nothing_else() -> None:
    def fingerprint(tool: JsonObject, exposure: Exposure = Exposure.CATALOG) -> str:
        catalog = Catalog.empty().with_listing(
            Listing("mcp", "o", (tool,)), lambda _id, _definition: Judgement(exposure)
        )
        assert catalog.search_fingerprint() == SearchIndex.build(catalog.tools()).fingerprint
        return catalog.search_fingerprint()

    tool = definition("read", "Read a file.")
    same = fingerprint(tool)
    assert fingerprint({**tool, "annotations": {"readOnlyHint": True}, "outputSchema": {"type": "object"}}) == same
    assert fingerprint({**tool, "description": "Read two files."}) != same
    assert fingerprint({**tool, "_meta": {"anthropic/searchHint": "open"}}) != same
    assert fingerprint(tool, Exposure.DIRECT) == Catalog.empty().search_fingerprint()


@settings(deadline=None)
@given(st.lists(st.tuples(OWNERS, st.lists(NAMES, max_size=6), st.booleans())))
def test_a_catalogue_is_what_its_last_listings_say_whatever_came_before(
    steps: list[tuple[str, list[str], bool]],
) -> None:
    catalog = Catalog.empty()
    last: dict[str, list[str]] = {}
    for owner, names, gone in steps:
        before = catalog
        if gone:
            catalog = catalog.without("mcp", owner)
            last.pop(owner, None)
        else:
            catalog = catalog.with_listing(listing(owner, *names), found)
            last[owner] = names
        assert (catalog is before) == (catalog.generation == before.generation)

    assert [tool.id for tool in catalog.tools()] == sorted(
        f"mcp:{owner}:{name}" for owner in last for name in last[owner]
    )
    assert catalog.search_fingerprint() == catalog_of(*(listing(o, *n) for o, n in last.items())).search_fingerprint()
    for tool in catalog.reachable():
        assert last[tool.owner].count(tool.name) == 1
        assert catalog.get(tool.id) is tool
        assert catalog.resolve(tool.id) is tool
