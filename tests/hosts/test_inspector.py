"""The inspector's command line, in its newest form: what it sees, and whether it finds fault with the schemas."""

import json
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.hosts.conftest import NAMES, PROGRAMS, Road, Setup
from tests.support.raw_client import JsonObject

pytestmark = pytest.mark.hosts

Inspect: TypeAlias = Callable[..., JsonObject]


@pytest.fixture
def inspect(setup: Setup, road: Road) -> Inspect:
    program, *arguments = setup.command
    servers: dict[str, JsonObject] = {
        "stdio": {"command": program, "args": arguments, "env": dict(setup.env)},
        "http": {"type": "streamable-http", "url": setup.url, "headers": {"Authorization": setup.authorization}},
    }
    config = setup.home / "inspector.json"
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    command = (PROGRAMS / "mcp-inspector", "--cli", "--config", config, "--server", road)

    def run(*options: str) -> JsonObject:
        result = json.loads(setup.run(*command, *options))
        assert isinstance(result, dict)
        return result

    return run


def test_it_lists_the_three_tools_and_finds_no_fault_with_them(inspect: Inspect) -> None:
    listed = inspect("--method", "tools/list", "--strict")["tools"]
    assert isinstance(listed, list)
    assert [tool["name"] for tool in listed] == NAMES


def test_it_calls_a_tool(inspect: Inspect) -> None:
    arguments = ("id=mcp:garden:echo", 'args={"text": "Grüße 🌿"}')
    called = inspect("--method", "tools/call", "--tool-name", "tool_call", "--tool-arg", *arguments)
    assert called["content"] == [{"type": "text", "text": "Grüße 🌿"}]
