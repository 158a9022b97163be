"""What the operator's filters decide, and that nobody can tell what they left out from what never was."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from index import Exposure
from server.access import forbids
from server.approvals import taken_apart, together
from server.config import GatewaySettings, PolicySettings, ServerEntry
from server.policy import Policy
from tests.support.gateways import Opened, error_of, gateway
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject

HIDDEN = ("mcp:one:excluded", "mcp:one:not_included", "mcp:one:denied", "mcp:two:not_allowed")
NEVER = "mcp:one:there_is_no_such_thing"


def exposure_of(name: str, entry: ServerEntry, settings: GatewaySettings) -> tuple[Exposure, str]:
    policy = Policy([entry], settings)
    return policy.exposure(entry.owner, f"mcp:{entry.owner}:{name}", {"name": name})


ONE = ServerEntry("one", "one")
ALL = PolicySettings()


@pytest.mark.parametrize(
    ("name", "entry", "policy", "expected"),
    [
        ("read", ONE, ALL, (Exposure.CATALOG, "")),
        ("read", replace(ONE, include_tools=("re*",)), ALL, (Exposure.CATALOG, "")),
        ("write", replace(ONE, include_tools=("re*",)), ALL, (Exposure.HIDDEN, "not among includeTools")),
        ("read", replace(ONE, exclude_tools=("re*",)), ALL, (Exposure.HIDDEN, "excluded by excludeTools")),
        (
            "read",
            replace(ONE, include_tools=("read",), exclude_tools=("r?ad",)),
            ALL,
            (Exposure.HIDDEN, "excluded by excludeTools"),
        ),
        ("READ", replace(ONE, exclude_tools=("read",)), ALL, (Exposure.CATALOG, "")),
        (
            "read",
            ONE,
            PolicySettings(allow=("mcp:two:*",)),
            (Exposure.HIDDEN, "not allowed by gateway.policy.allow"),
        ),
        ("read", ONE, PolicySettings(allow=()), (Exposure.HIDDEN, "not allowed by gateway.policy.allow")),
        ("read", ONE, PolicySettings(deny=("*:read",)), (Exposure.HIDDEN, "denied by gateway.policy.deny")),
        ("read", replace(ONE, always_load=True), ALL, (Exposure.DIRECT, "alwaysLoad")),
        (
            "read",
            replace(ONE, always_load=True),
            PolicySettings(deny=("mcp:one:*",)),
            (Exposure.HIDDEN, "denied by gateway.policy.deny"),
        ),
        (
            "read",
            replace(ONE, always_load=True, exclude_tools=("read",)),
            ALL,
            (Exposure.HIDDEN, "excluded by excludeTools"),
        ),
    ],
)
def test_exclusion_wins_over_inclusion_at_every_level(
    name: str, entry: ServerEntry, policy: PolicySettings, expected: tuple[Exposure, str]
) -> None:
    assert exposure_of(name, entry, GatewaySettings(policy=policy)) == expected


@pytest.mark.parametrize("pattern", ["mcp:one:mcp:github:delete_*", "mcp:github:*", "*:delete_*", "mcp:one:*"])
def test_what_takes_away_goes_by_the_ids_behind_gateways_too(pattern: str) -> None:
    inner = "mcp:github:delete_repo"
    denied = exposure_of(inner, ONE, GatewaySettings(policy=PolicySettings(deny=(pattern,))))
    assert denied == (Exposure.HIDDEN, "denied by gateway.policy.deny")
    assert forbids((pattern,), f"mcp:one:{inner}")
    assert not forbids((pattern,), "mcp:two:mcp:gitlab:read")


def test_what_gives_goes_by_the_whole_id_alone() -> None:
    settings = GatewaySettings(policy=PolicySettings(allow=("mcp:github:*",)))
    hidden = (Exposure.HIDDEN, "not allowed by gateway.policy.allow")
    assert exposure_of("mcp:github:delete_repo", ONE, settings) == hidden


def test_a_direct_tool_is_named_by_its_id_or_a_pattern_over_ids() -> None:
    settings = GatewaySettings(direct_tools=("mcp:one:read", "mcp:*:list_*"))
    exposures = [exposure_of(name, ONE, settings) for name in ("read", "list_all", "write")]
    assert exposures == [(Exposure.DIRECT, "directTools"), (Exposure.DIRECT, "directTools"), (Exposure.CATALOG, "")]


def test_the_upstreams_that_may_publish_directly_are_known_before_any_listing() -> None:
    servers = [ServerEntry(key, key, always_load=key == "loaded") for key in ("loaded", "named", "globbed", "plain")]
    settings = GatewaySettings(direct_tools=("mcp:named:x", "mcp:glob*:y"))
    assert Policy(servers, settings).may_publish_directly() == frozenset({"loaded", "named", "globbed"})


def test_a_pattern_that_may_match_any_upstream_makes_all_of_them_candidates() -> None:
    servers = [ServerEntry(key, key) for key in ("a", "b")]
    assert Policy(servers, GatewaySettings(direct_tools=("*:read",))).may_publish_directly() == frozenset({"a", "b"})


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Opened]:
    """Two upstreams of which each filter hides one tool; what is left are `visible` and `plain`."""
    echo = {"do": "echo"}
    one = entry(log=str(log), does=dict.fromkeys(("excluded", "not_included", "denied", "visible"), echo))
    one |= {"includeTools": ["excluded", "denied", "visible"], "excludeTools": ["exclu*"]}
    two = entry(log=str(log), does=dict.fromkeys(("not_allowed", "plain"), echo))
    settings = {"policy": {"allow": ["mcp:one:*", "mcp:two:plain"], "deny": ["*:denied"]}}
    async with gateway(tmp_path_factory.mktemp("policy"), {"one": one, "two": two}, settings) as opened:
        yield opened


def without(name: str, answer: JsonObject) -> JsonObject:
    """The answer with the name that was asked for made anonymous."""
    anonymous: JsonObject = json.loads(json.dumps(answer).replace(name, "ID"))
    return anonymous


async def test_each_filter_hides_its_tool(opened: Opened) -> None:
    tools = opened.running.library.snapshot.catalog.tools()
    assert {tool.id: (tool.exposure, tool.reason) for tool in tools} == {
        "mcp:one:denied": (Exposure.HIDDEN, "denied by gateway.policy.deny"),
        "mcp:one:excluded": (Exposure.HIDDEN, "excluded by excludeTools"),
        "mcp:one:not_included": (Exposure.HIDDEN, "not among includeTools"),
        "mcp:one:visible": (Exposure.CATALOG, ""),
        "mcp:two:not_allowed": (Exposure.HIDDEN, "not allowed by gateway.policy.allow"),
        "mcp:two:plain": (Exposure.CATALOG, ""),
    }


@pytest.mark.parametrize("tool_id", HIDDEN)
async def test_a_hidden_tool_is_not_found_by_its_id_its_name_or_its_words(opened: Opened, tool_id: str) -> None:
    name = tool_id.rpartition(":")[2]
    for query in (tool_id, name, f"Does {name}."):
        assert tool_id not in await opened.found(query)
    assert await opened.found("visible plain") == ["mcp:one:visible", "mcp:two:plain"]


@pytest.mark.parametrize("tool_id", HIDDEN)
@pytest.mark.parametrize("tool", ["tool_call", "tool_describe"])
async def test_a_hidden_tool_is_answered_as_an_unknown_id_is(opened: Opened, tool: str, tool_id: str) -> None:
    never = without(NEVER, await opened.ask(tool, {"id": NEVER}))
    hidden = without(tool_id, await opened.ask(tool, {"id": tool_id}))
    assert error_of(hidden)["code"] == "unknown_tool"
    assert hidden == never


@pytest.mark.parametrize("tool_id", HIDDEN)
@pytest.mark.parametrize("tool", ["tool_call", "tool_describe", ""])
async def test_a_hidden_tool_is_answered_by_its_bare_name_as_an_unknown_name_is(
    opened: Opened, tool: str, tool_id: str
) -> None:
    """An empty `tool` stands for a call of the name itself, as if it were published."""
    name, never = tool_id.rpartition(":")[2], "zzzzzzzz"
    answers = [await opened.ask(tool or asked, {"id": asked} if tool else {}) for asked in (name, never)]
    assert error_of(answers[0])["code"] == "unknown_tool"
    assert without(name, answers[0]) == without(never, answers[1])


async def test_a_hidden_tool_is_never_a_candidate(opened: Opened) -> None:
    for tool_id in HIDDEN:
        answer = await opened.call(tool_id + "x")
        assert not any(hidden in json.dumps(answer).replace(tool_id + "x", "") for hidden in HIDDEN)


async def test_no_hidden_tool_was_ever_called(opened: Opened, log: Path) -> None:
    for tool_id in HIDDEN:
        await opened.call(tool_id, {"text": "x"})
    assert [message for message in received(log) if message["method"] == "tools/call"] == []


@pytest.mark.parametrize("profiles", [[""], ["a"], ["a,b"], ["a", "b"], ["a\\", "b,"], ["\\,", ",\\"]])
def test_profiles_that_are_named_together_can_be_told_apart(profiles: list[str]) -> None:
    assert taken_apart(together(profiles)) == profiles
