"""An index that follows another: only what is new is read, and the answers are those of one built from nothing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import Catalog, JsonObject, Judgement, Listing, SearchIndex
from index.giving_way import giving_way
from index.spelling import Spelling

WORDS = ("read", "file", "files", "list", "event", "calendar", "create", "issue", "issues", "pull", "request", "météo")
OWNERS = ("a", "a-b", "a.b", "b", "B", "octo")  # whose ids are not in the order of the owners
QUERIES = (
    "read files",
    "create calendar event",
    "pull request",
    "list_files",
    "isues",
    "octo a b",
    "evento crear",
    "zzz",
)


def everything(_id: str, _definition: JsonObject) -> Judgement:
    return Judgement()


def tools(random: Random, count: int) -> tuple[JsonObject, ...]:
    def text(least: int, most: int) -> str:
        return " ".join(random.choices(WORDS, k=random.randint(least, most)))

    names = {text(1, 3).replace(" ", "_") for _ in range(count)}
    return tuple(
        {
            "name": name,
            "description": text(0, 12),
            "inputSchema": {"type": "object", "properties": {text(1, 1): {"description": text(0, 4)}}},
        }
        for name in sorted(names)
        if name.isascii()
    )


def histories(random: Random) -> Iterator[Catalog]:
    """The catalogues that come about while listings come, change and go."""
    catalog = Catalog.empty()
    for _ in range(6):
        owner = random.choice(OWNERS)
        if random.random() < 0.3:
            catalog = catalog.without("mcp", owner)
        else:
            listing = Listing("mcp", owner, tools(random, random.randint(0, 12)))
            catalog = catalog.with_listing(listing, everything)
        yield catalog


def near(_query: str, _count: int, ids: Sequence[str]) -> Mapping[str, float]:
    """Closeness of these tools and of one that has gone; it tells tools apart that have the same words."""
    return {"mcp:gone:read": 0.9, **{tool_id: len(tool_id) % 7 / 10 for tool_id in ids}}


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32).map(Random))
def test_whatever_came_before_the_answers_are_those_of_an_index_built_from_nothing(random: Random) -> None:
    index = SearchIndex.build(())
    for catalog in histories(random):
        index = index.followed_by(catalog.searchable())
        if random.random() < 0.5:
            index.warm()
        fresh = SearchIndex.build(catalog.tools())
        assert index.fingerprint == fresh.fingerprint == catalog.search_fingerprint()
        for query in QUERIES:
            assert index.search(query, 60) == fresh.search(query, 60)
            assert index.search(query, 60, near) == fresh.search(query, 60, near)
            assert index.closest_words(query) == fresh.closest_words(query)
        assert index.explain(QUERIES[0], 8, catalog.get, near) == fresh.explain(QUERIES[0], 8, catalog.get, near)


def test_a_listing_that_changed_is_read_alone() -> None:
    """Each tool that is read is a step, and nothing else that is done for one upstream takes a step a tool."""
    first: list[None] = []
    again: list[None] = []

    def listing(owner: str, *names: str) -> Listing:
        return Listing("mcp", owner, tuple({"name": name, "inputSchema": {"type": "object"}} for name in names))

    catalog = Catalog.empty().with_listing(listing("small", "read"), everything)
    for number in range(4):
        catalog = catalog.with_listing(listing(f"big{number}", *(f"list_{place}" for place in range(500))), everything)
    changed = catalog.with_listing(listing("small", "write"), everything)
    index = SearchIndex.build(()).followed_by(catalog.searchable(), lambda: first.append(None))
    followed = index.followed_by(changed.searchable(), lambda: again.append(None))
    assert len(followed.search("write", 8)) == 1
    assert len(first) > len(catalog.tools()) == 2_001
    assert len(again) < 50


def test_tools_behind_a_gateway_are_found_by_bare_names_and_words_however_many_have_them() -> None:
    """More than one block of postings holds; the tool of fewest words is the last."""

    def listing(owner: str, *names: str, gateway: bool) -> Listing:
        definitions: tuple[JsonObject, ...] = tuple({"name": name, "inputSchema": {"type": "object"}} for name in names)
        return Listing("mcp", owner, definitions, gateway=gateway)

    names = [*(f"mcp:inner:list_files_{number:04}" for number in range(2_100)), "mcp:last:files"]
    before = Catalog.empty().with_listing(listing("small", "ping", gateway=False), everything)
    catalog = before.with_listing(listing("gate", *names, gateway=True), everything)
    index = SearchIndex.build(before.tools()).followed_by(catalog.searchable())
    for query, best in (("the files", names[-1]), ("use list_files_2099", names[-2])):
        assert index.search(query, 1)[0].tool_id == f"mcp:gate:{best}"


@pytest.mark.parametrize(("before", "after"), list(pairwise([(), WORDS, WORDS[:4], ("reads", *WORDS[6:]), WORDS])))
def test_spelling_that_follows_another_is_that_of_its_own_words(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    followed, fresh = Spelling(after, Spelling(before)), Spelling(after)
    for asked in ("reed", "fles", "isue", "calender", "requests", "meteo"):
        assert followed.closest(asked, 9) == fresh.closest(asked, 9)
        assert followed.nearest(asked) == fresh.nearest(asked)


def test_way_is_given_before_each_step() -> None:
    told: list[object] = []
    for item in giving_way("ab", lambda: told.append("way")):
        told.append(item)
    assert told == ["way", "a", "way", "b"]
