"""What the host sees: the three tools, the direct-only ones beside them, and the instructions."""

import re
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Exposure, Tool
from server.config import ServerEntry, ToolSearchSettings
from server.surface import GIVEN_NAMES, Surface, build_surface, direct_names, instructions
from upstream_clients import JsonObject

PORTABLE = re.compile(r"[a-z0-9_]{1,40}")


def direct(tool_id: str, **definition: object) -> Tool:
    source, owner, name = tool_id.split(":")
    return Tool(
        tool_id, source, owner, name, {"name": name, **definition}, Exposure.DIRECT, "directTools", False, False
    )


def names(*ids: str) -> dict[str, str]:
    return {name: tool.id for name, tool in direct_names(map(direct, ids), {}).items()}


def session(*lists: Sequence[str]) -> list[Surface]:
    """What is published after each of these lists of ids, one after the other in one session."""
    surfaces = [build_surface((), ToolSearchSettings(), {})]
    for ids in lists:
        surfaces.append(build_surface(map(direct, ids), ToolSearchSettings(), surfaces[-1].direct))
    return surfaces[1:]


def published(surface: Surface) -> dict[str, str]:
    """The direct-only names in the list, and the tools they stand for."""
    metas = {str(tool["name"]): tool["_meta"] for tool in surface.tools}
    return {name: meta["toolfold/tool"] for name, meta in metas.items() if isinstance(meta, dict) and len(meta) > 1}


def ours(settings: ToolSearchSettings | None = None) -> dict[str, JsonObject]:
    surface = build_surface((), settings or ToolSearchSettings(), {})
    return {str(tool["name"]): tool for tool in surface.tools}


def test_without_direct_tools_the_three_are_all_there_is() -> None:
    surface = build_surface((), ToolSearchSettings(), {})
    assert [tool["name"] for tool in surface.tools] == ["tool_call", "tool_describe", "tool_search"]
    assert surface.direct == {}


def test_each_tool_of_ours_tells_hosts_what_it_may_do() -> None:
    assert {name: tool["annotations"] for name, tool in ours().items()} == {
        "tool_search": {"readOnlyHint": True, "openWorldHint": False},
        "tool_describe": {"readOnlyHint": True, "openWorldHint": False},
        "tool_call": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    }


def test_a_host_with_a_search_of_its_own_is_asked_to_load_ours_at_once() -> None:
    assert [tool["_meta"] for tool in ours().values()] == [{"anthropic/alwaysLoad": True}] * 3


def test_each_tool_of_ours_takes_a_flat_object() -> None:
    settings = ToolSearchSettings(search_default_limit=5, max_search_limit=9)
    schemas = {name: tool["inputSchema"] for name, tool in ours(settings).items()}
    assert schemas == {
        "tool_search": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What the tool should do, in a few words."},
                "queries": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": 16,
                    "description": "Several capabilities at once, one a query, instead of query.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 9,
                    "description": "How many hits at the most (default 5).",
                },
            },
        },
        "tool_describe": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "A tool's id, such as mcp:github:create_issue."},
            },
            "required": ["id"],
        },
        "tool_call": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "A tool's id from tool_search."},
                "args": {"type": "object", "description": "The tool's arguments, as its schema wants them."},
            },
            "required": ["id"],
        },
    }


def test_the_descriptions_teach_the_three_steps_within_their_bound() -> None:
    steps = {name: str(tool["description"]) for name, tool in ours().items()}
    assert {name: text[:11] for name, text in steps.items()} == {
        "tool_search": "Step 1 of 3",
        "tool_describe": "Step 2 of 3",
        "tool_call": "Step 3 of 3",
    }
    assert max(map(len, steps.values())) <= 1000


def test_no_tool_of_ours_promises_an_output_that_an_upstream_might_not_keep() -> None:
    assert not any("outputSchema" in tool for tool in ours().values())


def test_a_unique_portable_name_is_published_as_it_is() -> None:
    assert names("mcp:git:status", "mcp:time:now") == {"status": "mcp:git:status", "now": "mcp:time:now"}


def test_a_name_that_several_have_gets_its_upstream_in_front() -> None:
    assert names("mcp:a:read", "mcp:b:read", "mcp:b:write") == {
        "a_read": "mcp:a:read",
        "b_read": "mcp:b:read",
        "write": "mcp:b:write",
    }


def test_what_a_host_might_refuse_in_a_name_becomes_an_underscore() -> None:
    assert names("mcp:my.server:read.file") == {"my_server_read_file": "mcp:my.server:read.file"}


@pytest.mark.parametrize("name", ["tool_search", "tool_describe", "tool_call"])
def test_our_own_names_are_never_given_away(name: str) -> None:
    assert names(f"mcp:evil:{name}") == {f"evil_{name}": f"mcp:evil:{name}"}


def test_not_even_a_name_put_together_can_be_ours() -> None:
    [(name, tool_id)] = names("mcp:tool:call.").items()  # tool_call_ is another name
    assert (name, tool_id) == ("tool_call_", "mcp:tool:call.")
    published = names("mcp:tool:search", "mcp:x:search")
    assert set(published.values()) == {"mcp:tool:search", "mcp:x:search"}
    assert "tool_search" not in published


def test_names_that_become_the_same_are_told_apart() -> None:
    published = names("mcp:a:b_c", "mcp:a_b:c", "mcp:x:b_c", "mcp:x:c")
    assert sorted(published.values()) == ["mcp:a:b_c", "mcp:a_b:c", "mcp:x:b_c", "mcp:x:c"]


LATE = ("mcp:a:search",)
EARLY = ("mcp:b:search", "mcp:z:a_search")


def test_a_name_that_was_given_never_goes_to_another_tool() -> None:
    before, after = session(EARLY, (*EARLY, *LATE))
    assert published(before) == {"search": "mcp:b:search", "a_search": "mcp:z:a_search"}
    assert published(after) == {
        "b_search": "mcp:b:search",
        "z_a_search": "mcp:z:a_search",
        "a_search_a52c2c": "mcp:a:search",
    }


def test_an_older_name_still_stands_for_its_own_tool() -> None:
    _, after = session(EARLY, (*EARLY, *LATE))
    assert after.direct == {**published(after), "search": "mcp:b:search", "a_search": "mcp:z:a_search"}


def test_a_freed_name_is_kept_for_the_tool_that_had_it() -> None:
    *_, without, again = session(["mcp:a:x"], [], ["mcp:b:x"], ["mcp:a:x"])
    assert published(without) == {"b_x": "mcp:b:x"}
    assert published(again) == {"x": "mcp:a:x"}


def test_names_put_together_that_are_the_same_go_to_neither_tool() -> None:
    ids = ("mcp:a:b_c", "mcp:a_b:c", "mcp:x:b_c", "mcp:x:c")
    first = names(*ids)
    assert "a_b_c" not in first
    assert all(names(*order) == first for order in permutations(ids))


def test_a_name_made_to_look_like_anothers_hash_does_not_get_it() -> None:
    hashed = next(name for name, tool_id in names(*EARLY, *LATE).items() if tool_id == "mcp:a:search")
    taken = names(*EARLY, *LATE, f"mcp:evil:{hashed}")
    assert hashed not in taken
    assert len(taken) == 4


def test_names_without_end_are_not_remembered_without_end() -> None:
    many = [direct(f"mcp:a:t{number}") for number in range(GIVEN_NAMES + 5)]
    surface = build_surface(many, ToolSearchSettings(), {})
    assert len(surface.direct) == len(published(surface)) == GIVEN_NAMES
    later = build_surface([direct("mcp:b:new"), many[0]], ToolSearchSettings(), surface.direct)
    assert published(later) == {"t0": "mcp:a:t0"}


def test_a_long_name_is_cut_to_forty_characters_the_same_way_every_time() -> None:
    long = "mcp:upstream:a_tool_with_a_name_that_is_longer_than_forty_characters"
    cut = "upstream_a_tool_with_a_name_that__669aea"
    assert names(long, "mcp:b:x") == names("mcp:b:x", long) == {cut: long, "x": "mcp:b:x"}
    assert len(cut) == 40


PARTS = st.text(alphabet="abAB01_.-", min_size=1, max_size=64)


@given(st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=12, unique=True), st.randoms())
def test_whatever_the_names_each_tool_has_one_that_every_host_takes(
    pairs: list[tuple[str, str]], random: object
) -> None:
    ids = [f"mcp:{owner}:{name}" for owner, name in pairs]
    published = names(*ids)
    assert sorted(published.values()) == sorted(ids)
    assert all(len(name) <= 40 and re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in published)
    assert not {"tool_search", "tool_describe", "tool_call"} & set(published)
    assert names(*reversed(ids)) == published


FEW_PARTS = st.sampled_from(["a", "b", "a_b", "b_a", "a_a", "tool", "search", "tool_search"])


@given(
    st.lists(st.lists(st.tuples(FEW_PARTS, FEW_PARTS), max_size=6, unique=True), min_size=1, max_size=6),
)
def test_whatever_comes_up_in_whatever_order_no_name_changes_hands(lists: list[list[tuple[str, str]]]) -> None:
    known: dict[str, str] = {}
    ids = [[f"mcp:{owner}:{name}" for owner, name in pairs] for pairs in lists]
    for now, surface in zip(ids, session(*ids), strict=True):
        assert sorted(published(surface).values()) == sorted(now)
        assert all(known.setdefault(name, tool_id) == tool_id for name, tool_id in published(surface).items())
        assert surface.direct == known


def test_a_direct_tool_is_published_with_what_a_host_needs_and_no_more() -> None:
    tool = direct(
        "mcp:fs:read",
        title="Read\na file",
        description="Reads  it.\u200b" + " And so on." * 200,
        inputSchema={"$schema": "x", "type": "object", "properties": {"p": {"$ref": "#/$defs/p"}}, "$defs": {"p": {}}},
        outputSchema={"type": "object"},
        annotations={"title": "T", "readOnlyHint": True, "odd": {"x": 1}},
        icons=[{"src": "https://example.org/x.png"}],
        _meta={"secret": 1, "anthropic/alwaysLoad": False},
    )
    [published] = [tool for tool in build_surface([tool], ToolSearchSettings(), {}).tools if tool["name"] == "read"]
    text = str(published.pop("description"))
    assert published == {
        "name": "read",
        "title": "Read a file",
        "inputSchema": {"type": "object", "properties": {"p": {}}},
        "annotations": {"readOnlyHint": True},
        "_meta": {"anthropic/alwaysLoad": True, "toolfold/tool": "mcp:fs:read"},
    }
    assert text.startswith("Reads it. And so on. And")
    assert len(text) <= 1000


def test_the_list_is_sorted_and_does_not_depend_on_the_order_of_listings() -> None:
    tools = [direct(f"mcp:{owner}:{name}") for owner in "ba" for name in ("zeta", "alpha", "x")]
    surface = build_surface(tools, ToolSearchSettings(), {})
    published = [str(tool["name"]) for tool in surface.tools]
    assert published == sorted(published)
    assert build_surface(reversed(tools), ToolSearchSettings(), {}) == surface


def test_the_instructions_have_one_line_per_upstream() -> None:
    servers = [
        ServerEntry("git", "git", description="Git\nrepositories."),
        ServerEntry("time", "time"),
        ServerEntry("off", "off", disabled=True),
        ServerEntry("broken", "broken", problem="no command"),
    ]
    assert instructions(servers).splitlines() == [
        "Many tools stand behind this server. Find one with tool_search, read its schema with tool_describe if its "
        "input is not clear, run it with tool_call.",
        "Upstreams:",
        "- git: Git repositories.",
        "- time",
    ]


def test_without_upstreams_the_instructions_name_none() -> None:
    assert "Upstreams" not in instructions([])


@given(st.lists(st.tuples(st.text("abc-", min_size=1, max_size=64), st.text(max_size=400)), max_size=80))
def test_the_instructions_never_exceed_two_thousand_characters(entries: list[tuple[str, str]]) -> None:
    servers = [ServerEntry(owner, owner, description=text) for owner, text in entries]
    text = instructions(servers)
    assert len(text) <= 2000
    shown = [line for line in text.splitlines() if line.startswith("- ")]
    more = re.fullmatch(r"- and (\d+) more", shown[-1]) if shown else None
    assert len(servers) == (len(shown) - 1 + int(more[1]) if more else len(shown))
