"""Every pair of a host and a Python server, each written by hand and on the SDK, in each era: the same suite of calls."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.http_gateways import open_http_gateway
from tests.support.pairs import CASES, GARDEN, check, garden, garden_by_hand
from tests.support.sdk_servers import sdk_server
from tests.support.sides import SIDES, Side, SideName, open_side
from tests.support.upstreams import write_config
from upstream_clients import JsonObject

UPSTREAMS = ("hand-legacy", "hand-modern", "sdk-http-legacy", "sdk-http-modern", "sdk-sse")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All of them behind one toolfold."""
    folder, tools = tmp_path_factory.mktemp("pairs"), json.dumps(GARDEN)
    with ExitStack() as stack:
        streamable = stack.enter_context(sdk_server("streamable", tools)).url
        older = stack.enter_context(sdk_server("legacy-sse", tools)).url
        servers: dict[str, JsonObject] = {
            "hand-legacy": garden_by_hand("legacy"),
            "hand-modern": garden_by_hand("modern"),
            "sdk-http-legacy": {"type": "http", "url": streamable, "protocol": "legacy"},
            "sdk-http-modern": {"type": "http", "url": streamable, "protocol": "modern"},
            "sdk-sse": {"type": "sse", "url": older},
        }
        assert tuple(servers) == UPSTREAMS
        yield write_config(folder, servers)


@pytest.fixture(scope="module")
async def url(config: Path) -> AsyncIterator[str]:
    async with open_http_gateway(config) as gateway:
        yield gateway.url


@pytest.fixture(scope="module", params=SIDES)
async def side(request: pytest.FixtureRequest, config: Path, url: str) -> AsyncIterator[Side]:
    name: SideName = request.param
    async with open_side(name, config, url) as side:
        yield side


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("case", CASES)
async def test_a_pair(side: Side, upstream: str, case: str) -> None:
    await check(side, garden(upstream), case)
