"""What comes with us for OpenClaw, held against what a real Gateway said. Needs OPENCLAW_CAPTURES: their folder."""

import json
import os
from pathlib import Path

import pytest

from index import Catalog, Exposure, Judgement, Listing, SearchIndex
from server.arguments import ResultCheck
from upstream_clients import UNAVAILABLE_META, JsonObject, OpenClawGateway
from upstream_clients.openclaw.bundled import read_bundle
from upstream_clients.openclaw.frames import Response, hello, read
from upstream_clients.openclaw.inventory import Learned, listing, read_inventory
from upstream_clients.openclaw.outcomes import result_of

pytestmark = pytest.mark.real

HERE = OpenClawGateway("http://127.0.0.1:1", 1024, 1.0, allow=frozenset({"sessions_send", "sessions_spawn"}))


# What these parameters may be depends on a Gateway's configuration: ours are wider.
BY_CONFIGURATION = frozenset({("sessions_spawn", "runtime"), ("sessions_spawn", "mode"), ("message", "action")})


def captured(name: str) -> object:
    folder = os.environ.get("OPENCLAW_CAPTURES")
    if not folder:
        pytest.skip("OPENCLAW_CAPTURES names no folder")
    return json.loads(Path(folder, name).read_text(encoding="utf-8"))


def response(name: str) -> JsonObject:
    frame = captured(name)
    assert isinstance(frame, dict)
    came = read(frame)
    assert isinstance(came, Response)
    assert came.error is None
    return came.payload


def structure(schema: object, *, names: bool = False) -> object:
    """A schema without what is said in it. In `properties` a description is a name like any other."""
    if isinstance(schema, list):
        return [structure(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    said = () if names else ("description", "title", "~optional")
    return {
        key: structure(inner, names=key == "properties" and not names)
        for key, inner in schema.items()
        if key not in said
    }


def test_bundled_schemas_have_the_structure_of_the_real_ones() -> None:
    tools = captured("openclaw-core-tools-full.json")
    assert isinstance(tools, list)
    real, bundle = {tool["name"]: tool for tool in tools}, read_bundle()
    for name in bundle.tools.keys() & real.keys():
        ours, theirs = bundle.tools[name], structure(real[name]["parameters"])
        assert isinstance(theirs, dict)
        for hidden in ("gatewayUrl", "gatewayToken"):
            theirs["properties"].pop(hidden, None)
        known = structure(ours["inputSchema"])
        assert isinstance(known, dict)
        for tool, parameter in BY_CONFIGURATION & {(name, key) for key in theirs["properties"]}:
            assert tool == name
            for schema in (known, theirs):
                schema["properties"][parameter].pop("enum", None)
        assert known == theirs, name
        output = structure(real[name].get("outputSchema"))
        assert structure(ours.get("outputSchema")) == (output and {"type": "object", **output}), name  # type: ignore[dict-item]


def test_real_inventories_are_read_whole() -> None:
    assert hello(response("hello-ok.json")).version == read_bundle().version
    effective, catalog = (read_inventory(response(f"tools-{name}.json")) for name in ("effective", "catalog"))
    assert (len(effective), len(catalog)) == (54, 67)
    assert {one.owner for one in effective} == {
        "core", "browser", "canvas", "file-transfer", "llm-task", "memory-core", "ollama", "talk-voice",
    }  # fmt: skip


def test_a_real_answer_satisfies_its_bundled_schema() -> None:
    came = response("tools-invoke-ws.json")
    result = result_of({"result": came["output"]})
    schema = read_bundle().tools["sessions_list"]["outputSchema"]
    assert isinstance(schema, dict)
    assert ResultCheck(schema).faults(result["structuredContent"]) == ()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("spawn a sub agent", "sessions_spawn"),
        ("send a message to another session", "sessions_send"),
        ("run an LLM step that returns JSON", "llm-task"),
    ],
)
@pytest.mark.parametrize("has_grant", [False, True])
def test_tools_are_found_by_what_a_real_gateway_says_of_them_too(query: str, name: str, has_grant: bool) -> None:
    bundle, known = read_bundle(), read_inventory(response("tools-effective.json"))
    granted = captured("mcp-loopback-tools.json")
    assert isinstance(granted, dict)
    schemas = {tool["name"]: tool for tool in granted["tools"]} if has_grant else {}
    tools = listing(known, HERE, bundle, Learned(bundle.version, schemas, ()))

    def classify(_id: str, definition: JsonObject) -> Judgement:
        meta = definition["_meta"]
        assert isinstance(meta, dict)
        return Judgement(Exposure.UNAVAILABLE if UNAVAILABLE_META in meta else Exposure.CATALOG)

    catalog = Catalog.empty().with_listing(Listing("openclaw", "core", tools, trusted=True), classify)
    match, *_ = SearchIndex.build(catalog.tools()).search(query, 3)
    assert match.tool_id == f"openclaw:core:{name}"
