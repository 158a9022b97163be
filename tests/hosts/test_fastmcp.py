"""fastmcp's client, in an environment of its own."""

import json

import pytest

from tests.hosts.conftest import NAMES, PYTHON, Road, Setup

pytestmark = pytest.mark.hosts

PROGRAM = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError

async def main(told):
    if told["road"] == "stdio":
        program, *arguments = told["command"]
        transport = StdioTransport(program, arguments, env=told["env"])
    else:
        transport = StreamableHttpTransport(told["url"], headers={"Authorization": told["authorization"]})
    async with Client(transport) as client:
        seen = {"names": [tool.name for tool in await client.list_tools()]}
        found = await client.call_tool("tool_search", {"query": "water the plants"})
        seen["found"] = found.structured_content["tools"][0]["id"]
        called = await client.call_tool("tool_call", {"id": seen["found"], "args": {}})
        seen["called"] = called.structured_content
        try:
            await client.call_tool("tool_call", {"id": "mcp:garden:harvest"})
        except ToolError as error:
            seen["failed"] = str(error)
    print(json.dumps(seen))

asyncio.run(main(json.loads(sys.argv[1])))
"""


def test_it_lists_finds_and_calls(setup: Setup, road: Road) -> None:
    told = {
        "road": road, "command": setup.command, "env": dict(setup.env), "url": setup.url,
        "authorization": setup.authorization,
    }  # fmt: skip
    assert json.loads(setup.run(PYTHON, "-I", "-c", PROGRAM, json.dumps(told))) == {
        "names": NAMES,
        "found": "mcp:garden:water_plants",
        "called": {"litres": 3},
        "failed": "nothing is ripe",
    }
