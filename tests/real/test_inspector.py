"""What the official inspector's command line sees. Each run of it starts a toolfold of its own over the four servers."""

import json
import subprocess
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.real.conftest import INSPECTOR, TOOLFOLD, Setup
from tests.support.raw_client import JsonObject, RawClient

pytestmark = pytest.mark.real

Inspect: TypeAlias = Callable[..., JsonObject]

RUN_SECONDS = 60


@pytest.fixture(scope="module")
def inspect(node: str, setup: Setup, folded: RawClient) -> Inspect:
    """Runs the inspector with these options and gives the JSON that it prints. `folded` has filled the cache before."""

    def run(*options: str) -> JsonObject:
        # The inspector has a --config of its own.
        env = {**setup.env, "TOOLFOLD_CONFIG": str(setup.config)}
        command = [node, str(INSPECTOR), "--cli", str(TOOLFOLD), "serve", *options]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert isinstance(result, dict)
        return result

    return run


def test_the_inspector_lists_the_tools_that_every_host_gets(inspect: Inspect, folded: RawClient) -> None:
    assert inspect("--method", "tools/list") == folded.request("tools/list", {})


def test_the_inspector_finds_a_tool(inspect: Inspect) -> None:
    query = "query=convert a time between two zones"
    result = inspect("--method", "tools/call", "--tool-name", "tool_search", "--tool-arg", query, "limit=1")
    structured, content = result["structuredContent"], result["content"]
    assert isinstance(structured, dict)
    assert isinstance(content, list)
    assert [hit["id"] for hit in structured["tools"]] == ["mcp:time:convert_time"]
    assert [json.loads(block["text"]) for block in content] == [structured]


def test_the_inspector_calls_a_tool_with_arguments(inspect: Inspect) -> None:
    arguments = ("id=mcp:everything:get-sum", 'args={"a": 2, "b": 40}')
    result = inspect("--method", "tools/call", "--tool-name", "tool_call", "--tool-arg", *arguments)
    assert result == {
        "content": [{"type": "text", "text": "The sum of 2 and 40 is 42."}],
        "_meta": {"toolfold/tool": "mcp:everything:get-sum"},
    }
