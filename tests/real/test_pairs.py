"""Every pair of a host and a server of others, over each transport that the server has: the same suite of calls.

Beside server-everything and server-memory stand Python servers over a pipe: on the SDK in each era, and on its version 1.
The other Python servers are tried with every host by `tests/server/test_pairs.py`.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.real.conftest import EVERYTHING_JS, KINDS, OLDER_PYTHON, entry_file, listening
from tests.support.http_gateways import open_http_gateway
from tests.support.pairs import CASES, GARDEN, Ask, Upstream, check, garden
from tests.support.sdk_servers import SCRIPT
from tests.support.sides import MORE_SIDES, Side, SideName, open_side
from tests.support.upstreams import write_config
from upstream_clients import JsonObject

pytestmark = pytest.mark.real

OLDER_SCRIPT: Final = SCRIPT.with_name("older_sdk_server.py")
LONG: Final = "x" * 100_000
FERN: Final[JsonObject] = {"name": "fern", "entityType": "plant", "observations": ["green"]}
POEM: Final[JsonObject] = {"name": "poem", "entityType": "text", "observations": [LONG]}


def graph(*entities: JsonObject) -> JsonObject:
    return {"entities": [*entities], "relations": []}


def pretty(value: object) -> str:
    """As JavaScript's `JSON.stringify` with an indent of two."""
    return json.dumps(value, indent=2, ensure_ascii=False)


WEATHER: Final[JsonObject] = {"temperature": 33, "conditions": "Cloudy", "humidity": 82}
LOGO: Final = ("Here's the image you requested:", ("image", "image/png", 4033), "The image above is the MCP logo.")
AS_TASK: Final = "MCP error -32601: Tool simulate-research-query requires task augmentation (taskSupport: 'required')"
GROWN: Final = "Long running operation completed. Duration: 0.3 seconds, Steps: 3."
SUM: Final = ("The sum of 2 and 40 is 42.",)


def everything(owner: str) -> Upstream:
    long = "trigger-long-running-operation"
    asks = {
        "found": Ask("get-sum"),
        "described": Ask("get-sum", ["a", "b"]),
        "text": Ask("echo", {"message": "Grüße \u2028 🌿"}, ("Echo: Grüße \u2028 🌿",)),
        "structured": Ask(
            "get-structured-content",
            {"location": "New York"},
            (json.dumps(WEATHER, separators=(",", ":")),),
            WEATHER,
        ),
        "binary": Ask("get-tiny-image", {}, LOGO),
        "error": Ask("simulate-research-query", {"topic": "ferns"}, (AS_TASK,)),
        "repaired": Ask("get-sum", {"args": '{"a": "2", "b": 40}'}, SUM),
        "refused": Ask("get-sum", {"a": 2}),
        "unknown": Ask("get-sums"),
        "progress": Ask(long, {"duration": 0.3, "steps": 3}, (GROWN,), None, ((1, 3), (2, 3), (3, 3))),
        "cancelled": Ask(long, {"duration": 20, "steps": 200}),
        "long": Ask("echo", {"message": LONG}, (f"Echo: {LONG}",)),
    }
    return Upstream(owner, "get sum", asks)


def memory(owner: str) -> Upstream:
    """It has no tool that answers with text alone or with an image, and none that takes long."""
    fern = graph(FERN)
    asks = {
        "found": Ask("open_nodes"),
        "described": Ask("open_nodes", ["names"]),
        "structured": Ask("open_nodes", {"names": ["fern"]}, (pretty(fern),), fern),
        "error": Ask(
            "add_observations",
            {"observations": [{"entityName": "moss", "contents": ["soft"]}]},
            ("Entity with name moss not found",),
        ),
        "repaired": Ask("search_nodes", {"query": "fern"}, (pretty(fern),), fern),
        "refused": Ask("search_nodes", {}),
        "unknown": Ask("open_node"),
        "long": Ask("read_graph", {}, (pretty(graph(FERN, POEM)),)),
    }
    return Upstream(owner, "open nodes by names", asks)


UPSTREAMS: Final = (
    *(everything(owner) for owner in ("everything-stdio", "everything-http", "everything-sse")),
    memory("memory"),
    *(garden(owner) for owner in ("sdk-stdio-legacy", "sdk-stdio-modern", "sdk-v1-stdio")),
)
PAIRED: Final = [(upstream, case) for upstream in UPSTREAMS for case in CASES if case in upstream.asks]


@pytest.fixture(scope="module")
def config(installed: None, node: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All of them behind one toolfold."""
    folder = tmp_path_factory.mktemp("pairs")
    known = folder / "memory.jsonl"
    known.write_text("\n".join(json.dumps({"type": "entity", **one}) for one in (FERN, POEM)), encoding="utf-8")
    garden = {"command": sys.executable, "args": ["-P", str(SCRIPT), "stdio", json.dumps(GARDEN)]}
    memory_js = entry_file("server-memory")
    with ExitStack() as stack:
        servers: dict[str, JsonObject] = {
            f"everything-{kind}": {"type": kind, "url": stack.enter_context(listening(node, kind))} for kind in KINDS
        }
        servers["everything-stdio"] = {"command": node, "args": [str(EVERYTHING_JS)]}
        servers["memory"] = {"command": node, "args": [memory_js], "env": {"MEMORY_FILE_PATH": str(known)}}
        servers |= {f"sdk-stdio-{era}": {**garden, "protocol": era} for era in ("legacy", "modern")}
        servers["sdk-v1-stdio"] = {"command": str(OLDER_PYTHON), "args": ["-P", str(OLDER_SCRIPT), json.dumps(GARDEN)]}
        assert set(servers) == {upstream.owner for upstream in UPSTREAMS}
        yield write_config(folder, servers)


@pytest.fixture(scope="module")
async def url(config: Path) -> AsyncIterator[str]:
    async with open_http_gateway(config) as gateway:
        yield gateway.url


@pytest.fixture(scope="module", params=MORE_SIDES)
async def side(request: pytest.FixtureRequest, config: Path, url: str) -> AsyncIterator[Side]:
    name: SideName = request.param
    async with open_side(name, config, url) as side:
        yield side


@pytest.mark.parametrize(("upstream", "case"), PAIRED, ids=[f"{upstream.owner}-{case}" for upstream, case in PAIRED])
async def test_a_pair(side: Side, upstream: Upstream, case: str) -> None:
    await check(side, upstream, case)
