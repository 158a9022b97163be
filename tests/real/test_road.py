"""The whole road over four real servers: every tool is found, described and called, and compared with a direct client.

Both sides talk JSON-RPC by hand; each has its own copy of every server, over the same sample.
"""

import json
import time

import pytest

from server.clean import visible
from server.config import ServerEntry
from server.pins import UNSHOWN
from tests.real.cases import CALLED, CHANGING, WITHHELD, Case, filled, steady
from tests.real.conftest import TRUSTED
from tests.real.sample import Sample
from tests.support.raw_client import JsonObject, RawClient, structured

pytestmark = pytest.mark.real

EVERY_ID = sorted({case.tool_id for case in CALLED})

REGISTERED_SECONDS = 10.0


def test_no_tool_of_any_server_is_forgotten(listed: dict[str, JsonObject]) -> None:
    assert sorted(listed) == EVERY_ID
    assert set(CHANGING) < set(EVERY_ID)


def test_what_a_server_withholds_from_a_client_without_capabilities_is_known(
    entries: dict[str, ServerEntry], listed: dict[str, JsonObject]
) -> None:
    offered = {tool_id.split(":")[2] for tool_id in listed if tool_id.startswith("mcp:everything:")}
    everything = entries["everything"]
    capabilities = {
        "elicitation": {"form": {}, "url": {}},
        "roots": {"listChanged": True},
        "sampling": {},
        "tasks": {"requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
    }
    with RawClient([everything.command, *everything.args], everything.env) as client:
        client.greet(capabilities=capabilities)
        deadline = time.monotonic() + REGISTERED_SECONDS  # it registers them some time after the handshake
        withheld: set[object] = set()
        while not withheld >= set(WITHHELD) and time.monotonic() < deadline:
            withheld = {tool["name"] for tool in client.tools()} - offered
    assert withheld == set(WITHHELD)


@pytest.mark.parametrize("tool_id", EVERY_ID)
def test_a_tool_is_found_first_by_its_exact_id(folded: RawClient, tool_id: str) -> None:
    hits = structured(folded.call("tool_search", {"query": tool_id}))["tools"]
    assert isinstance(hits, list)
    assert hits[0]["id"] == tool_id


@pytest.mark.parametrize("tool_id", EVERY_ID)
def test_a_tool_is_described_by_the_very_definition_that_its_server_gives(
    folded: RawClient, listed: dict[str, JsonObject], tool_id: str
) -> None:
    described = structured(folded.call("tool_describe", {"id": tool_id}))
    definition = {key: value for key, value in listed[tool_id].items() if key not in UNSHOWN}
    definition["description"] = visible(str(definition["description"]))  # an emoji may have an unseen part
    trusted = tool_id.split(":")[1] in TRUSTED
    if not trusted:
        definition.pop("outputSchema", None)  # an untrusted server's promise about its results is not passed on
    assert dump(described["tool"]) == dump(definition)
    assert described["trusted"] is trusted


@pytest.mark.parametrize("case", CALLED, ids=lambda case: case.tool_id)
def test_a_call_gives_what_a_direct_client_gets(
    folded: RawClient, direct: dict[str, RawClient], sample: Sample, case: Case
) -> None:
    _, owner, name = case.tool_id.split(":")
    arguments = filled(case.arguments, {"files": str(sample.files), "repository": str(sample.repository)})
    assert isinstance(arguments, dict)
    sample.restore()
    expected = direct[owner].call(name, arguments)
    sample.restore()
    got = folded.call("tool_call", {"id": case.tool_id, "args": arguments})
    meta = got["_meta"]
    assert isinstance(meta, dict)
    assert meta.pop("toolfold/tool") == case.tool_id
    assert "toolfold/repairs" not in meta
    if not meta and "_meta" not in expected:
        del got["_meta"]
    assert steady(case.tool_id, dump(got)) == steady(case.tool_id, dump(expected))


def test_progress_of_a_long_call_reaches_the_host(folded: RawClient) -> None:
    arguments = {"id": "mcp:everything:trigger-long-running-operation", "args": {"duration": 0.3, "steps": 3}}
    folded.notifications.clear()
    params = {"name": "tool_call", "arguments": arguments, "_meta": {"progressToken": "long"}}
    folded.request("tools/call", params)
    steps = [{"progressToken": "long", "progress": step, "total": 3} for step in (1, 2, 3)]
    progress = {"jsonrpc": "2.0", "method": "notifications/progress"}
    assert folded.notifications == [{**progress, "params": step} for step in steps]


def dump(value: object) -> str:
    """As it came: the order of keys counts too."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
