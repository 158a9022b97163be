"""Where the schemas of a Gateway's tools come from, and what is listed of each tool and why."""

import pytest

from tests.support.fleets import Witness, fleet_of, outcome
from tests.support.openclaw_gateway import GRANTED, FakeGateway, openclaw_gateway, result
from tests.support.openclaw_specs import spec_of
from upstream_clients import JsonObject, OpenClawGateway
from upstream_clients.openclaw.bundled import read_bundle
from upstream_clients.openclaw.inventory import (
    Known,
    Learned,
    bundled_inventory,
    has_unlisted_servers,
    listing,
    read_inventory,
)
from upstream_clients.openclaw.rules import PROFILES, why_not
from upstream_clients.openclaw.target import Profile

HERE = OpenClawGateway("http://127.0.0.1:1", 1024, 1.0)
NOTHING = Learned("2026.9.6", {}, ())
LIVE: JsonObject = {
    "name": "pond_depth",
    "description": "How deep it is, live.",
    "inputSchema": {"type": "object", "properties": {"pond": {"type": "string"}}},
}
FAULT: JsonObject = {"code": -32000, "message": "Gateway client authority closed before dispatching sessions.list."}


def listed(witness: Witness, number: int = -1) -> dict[str, JsonObject]:
    return {str(tool["name"]): tool for tool in witness.listings[number].tools}


async def relisted(there: FakeGateway, witness: Witness) -> None:
    count = len(witness.listings)
    await there.emit("plugins.changed", {})
    await witness.until(lambda: len(witness.listings) > count)


async def test_a_gateway_s_own_schemas_are_shown_and_results_have_the_bundled_ones() -> None:
    async with openclaw_gateway(loopback=[LIVE]) as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        await relisted(there, witness)
        granted, tools = len(there.asked_for("attach.grant")), listed(witness)
        bundle = read_bundle()
    assert granted == 1  # and used twice
    assert tools["pond_depth"]["inputSchema"] == LIVE["inputSchema"]
    assert tools["pond_depth"]["description"] == LIVE["description"]
    for name in ("sessions_list", "llm-task"):
        assert tools[name]["inputSchema"] == bundle.tools[name]["inputSchema"]
        assert tools[name]["outputSchema"] == bundle.tools[name]["outputSchema"]
    assert tools["sessions_list"]["description"] == "List the sessions that are visible."
    assert tools["sessions_history"]["description"] == bundle.tools["sessions_history"]["description"]
    await there.until(lambda: there.valid_grants == set())  # it was given back


async def test_a_grant_is_renewed_before_it_expires() -> None:
    async with (
        openclaw_gateway(loopback=[LIVE], grant_seconds=30) as there,
        fleet_of(spec_of(there)) as (fleet, witness),
    ):
        await fleet.settled(["openclaw"])
        await relisted(there, witness)
        assert len(there.asked_for("attach.grant")) == 2
        assert listed(witness)["pond_depth"]["inputSchema"] == LIVE["inputSchema"]


async def test_a_grant_that_is_not_good_any_more_is_asked_for_anew() -> None:
    async with openclaw_gateway(loopback=[LIVE]) as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        there.valid_grants.clear()
        await relisted(there, witness)
        assert len(there.asked_for("attach.grant")) == 2
        assert listed(witness)["pond_depth"]["inputSchema"] == LIVE["inputSchema"]


async def test_a_loopback_server_that_has_lost_its_authority_costs_the_schemas_alone() -> None:
    behaviour = {"loopback": [LIVE], "loopback_fault": FAULT, "answers": {"llm-task": result({"json": 1})}}
    async with openclaw_gateway(**behaviour) as there, fleet_of(spec_of(there)) as (fleet, witness):
        came = await outcome(fleet, "openclaw", "llm-task")
        await relisted(there, witness)
        assert len(there.asked_for("attach.grant")) == 1  # it is not tried again
        tools = listed(witness)
    assert isinstance(came, dict)
    assert tools["pond_depth"]["inputSchema"] == {"type": "object"}
    assert tools["llm-task"]["inputSchema"] == read_bundle().tools["llm-task"]["inputSchema"]


@pytest.mark.parametrize(
    "behaviour", [{"loopback": None}, {"loopback": [LIVE], "scopes": ("operator.read",)}], ids=["unknown", "no scope"]
)
async def test_no_grant_is_asked_for_where_none_is_given(behaviour: dict[str, object]) -> None:
    async with openclaw_gateway(**behaviour) as there, fleet_of(spec_of(there)) as (fleet, _):
        await fleet.settled(["openclaw"])
        assert there.asked_for("attach.grant") == []


async def test_bundled_schemas_alone_are_used_where_that_is_wanted() -> None:
    async with (
        openclaw_gateway(loopback=[LIVE]) as there,
        fleet_of(spec_of(there, asks_for_schemas=False)) as (fleet, _),
    ):
        await fleet.settled(["openclaw"])
        assert there.asked_for("attach.grant") == []
        assert there.greetings[0]["scopes"] == ["operator.read"]


async def test_a_grant_that_leads_elsewhere_is_not_followed() -> None:
    def grant(_params: JsonObject) -> JsonObject:
        server = {"type": "http", "url": "http://192.0.2.1:9/mcp"}
        return {"token": GRANTED, "expiresAtMs": 10**15, "mcpConfig": {"mcpServers": {"openclaw": server}}}

    behaviour = {"loopback": [LIVE], "methods": {"attach.grant": grant}}
    async with openclaw_gateway(**behaviour) as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        assert listed(witness)["pond_depth"]["inputSchema"] == {"type": "object"}


async def test_results_of_another_version_are_not_held_against_our_schemas() -> None:
    async with openclaw_gateway(version="2027.1.1") as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        tools = listed(witness)
    assert all("outputSchema" not in tool for tool in tools.values())
    assert tools["sessions_list"]["inputSchema"] == read_bundle().tools["sessions_list"]["inputSchema"]


def test_every_tool_is_listed_with_its_owner_and_why_it_cannot_be_called() -> None:
    known = [
        Known("exec"),
        Known("sessions_send"),
        Known("sessions_yield"),
        Known("pond_depth", "pond"),
        Known("computer"),
    ]
    tools = {str(tool["name"]): tool["_meta"] for tool in listing(known, HERE, read_bundle(), NOTHING)}
    assert tools["pond_depth"] == {"toolfold/owner": "pond"}
    assert tools["exec"] == {
        "toolfold/owner": "core",
        "toolfold/unavailable": "OpenClaw never offers its coding tools to others",
    }
    assert isinstance(tools["computer"], dict)
    assert tools["computer"]["toolfold/direct"] is True
    assert all("toolfold/unavailable" in tools[name] for name in ("sessions_send", "sessions_yield", "computer"))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("profile", "also", "left_out"),
    [
        ("full", (), set()),
        ("coding", (), {"message", "llm-task"}),
        ("coding", ("llm-task",), {"message"}),
        ("messaging", (), {"sessions_spawn", "subagents", "web_search", "llm-task"}),
        ("messaging", ("subagents",), {"sessions_spawn", "web_search", "llm-task"}),
        (
            "minimal",
            (),
            {"message", "sessions_spawn", "subagents", "web_search", "llm-task", "sessions_list", "sessions_send"},
        ),
    ],
)
def test_a_profile_lets_through_what_it_has_and_what_is_added(
    profile: Profile, also: tuple[str, ...], left_out: set[str]
) -> None:
    opened = frozenset({"sessions_send", "sessions_spawn"})
    here = OpenClawGateway("http://127.0.0.1:1", 1, 1.0, allow=opened, profile=profile, also_allow=frozenset(also))
    names = {
        "message", "llm-task", "sessions_spawn", "subagents", "web_search", "sessions_list", "sessions_send",
        "session_status",
    }  # fmt: skip
    assert {name for name in names if why_not(name, here, ())} == left_out


def test_coding_has_the_whole_set_of_session_tools_and_messaging_none_that_spawn() -> None:
    whole = {
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "sessions_yield",
        "subagents",
        "session_status",
    }
    coding, messaging = PROFILES["coding"], PROFILES["messaging"]
    assert coding is not None
    assert messaging is not None
    assert whole <= coding
    assert whole & messaging == {"sessions_list", "sessions_history", "sessions_send", "session_status"}


def test_an_inventory_is_read_as_far_as_it_can_be() -> None:
    payload: JsonObject = {
        "groups": [
            {
                "id": "mcp",
                "source": "mcp",
                "tools": [{"id": "notes__read", "description": "short", "rawDescription": "whole"}],
            },
            {
                "id": "channel",
                "source": "channel",
                "tools": [{"id": "wave", "channelId": "telegram"}, {"id": "wave"}, {}, 3],
            },
            {"id": "plugin:pond", "pluginId": "pond", "source": "plugin", "tools": [{"id": "depth", "label": "Depth"}]},
            "no group",
        ],
        "notices": [{"id": "mcp-not-yet-listed"}],
    }
    assert read_inventory(payload) == (
        Known("notes__read", "mcp", "", "whole"),
        Known("wave", "telegram"),
        Known("depth", "pond", "Depth"),
    )
    assert has_unlisted_servers(payload)
    assert not has_unlisted_servers({"notices": None})
    assert read_inventory({}) == ()


def test_the_bundle_is_sound_and_in_words_of_our_own() -> None:
    bundle = read_bundle()
    assert {known.name for known in bundled_inventory(bundle)} >= {
        "sessions_list",
        "sessions_spawn",
        "llm-task",
        "subagents",
    }
    assert all(tool["description"] and tool["title"] for tool in bundle.tools.values())
