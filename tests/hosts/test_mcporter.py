"""mcporter: it lists toolfold's tools, and finds and calls one through them."""

import json
from pathlib import Path

import pytest

from tests.hosts.conftest import NAMES, PROGRAMS, Road, Setup
from tests.support.raw_client import JsonObject

pytestmark = pytest.mark.hosts

MCPORTER = PROGRAMS / "mcporter"


@pytest.fixture(scope="module")
def config(setup: Setup) -> Path:
    program, *arguments = setup.command
    servers: dict[str, JsonObject] = {
        "stdio": {"command": program, "args": arguments, "env": dict(setup.env)},
        "http": {"baseUrl": setup.url, "headers": {"Authorization": setup.authorization}},
    }
    path = setup.home / "mcporter.json"
    path.write_text(json.dumps({"mcpServers": servers, "imports": []}), encoding="utf-8")
    return path


def test_it_lists_the_three_tools(setup: Setup, config: Path, road: Road) -> None:
    listed = json.loads(setup.run(MCPORTER, "--config", str(config), "list", road, "--json"))
    assert (listed["status"], [tool["name"] for tool in listed["tools"]]) == ("ok", NAMES)


def test_it_finds_and_calls_a_tool(setup: Setup, config: Path, road: Road) -> None:
    call = (MCPORTER, "--config", str(config), "call", "--output", "json")
    found = json.loads(setup.run(*call, f"{road}.tool_search", "query=water the plants"))
    assert found["tools"][0]["id"] == "mcp:garden:water_plants"
    arguments = json.dumps({"id": "mcp:garden:water_plants", "args": {}})
    assert json.loads(setup.run(*call, f"{road}.tool_call", "--args", arguments)) == {"litres": 3}
