"""What a host built on the SDK sees over the four real servers, in both eras of the protocol."""

from collections.abc import AsyncIterator
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tests.real.conftest import Setup
from tests.support.raw_client import RawClient

pytestmark = pytest.mark.real

Mode = Literal["legacy", "auto", "2026-07-28"]

VERSIONS: dict[Mode, str] = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@pytest.fixture(scope="module", params=list(VERSIONS))
def mode(request: pytest.FixtureRequest) -> Mode:
    mode: Mode = request.param
    return mode


@pytest.fixture(scope="module")
async def client(mode: Mode, setup: Setup, folded: RawClient) -> AsyncIterator[Client]:
    """A toolfold of its own. `folded` has filled the cache before, so everything can be searched at once."""
    program, *arguments = setup.command
    server = StdioServerParameters(command=program, args=arguments, env=dict(setup.env))
    async with Client(server, mode=mode) as client:
        yield client


async def test_the_era_is_the_one_that_was_asked_for(client: Client, mode: Mode) -> None:
    assert client.protocol_version == VERSIONS[mode]


async def test_the_list_holds_the_three_tools(client: Client) -> None:
    listing = await client.list_tools()
    assert [tool.name for tool in listing.tools] == ["tool_call", "tool_describe", "tool_search"]
    assert listing.next_cursor is None


async def test_a_tool_is_found_and_described(client: Client) -> None:
    found = await client.call_tool("tool_search", {"query": "convert a time between two zones"})
    assert found.structured_content is not None
    tool_id = found.structured_content["tools"][0]["id"]
    described = await client.call_tool("tool_describe", {"id": tool_id})
    assert described.structured_content is not None
    assert described.structured_content["tool"]["name"] == "convert_time"


@pytest.mark.parametrize(
    ("tool_id", "arguments"),
    [
        ("mcp:everything:get-structured-content", {"location": "Chicago"}),
        ("mcp:everything:get-tiny-image", {}),
        ("mcp:filesystem:list_allowed_directories", {}),
        ("mcp:git:git_status", {"repo_path": "/nowhere"}),
        ("mcp:time:convert_time", {"source_timezone": "Etc/UTC", "time": "25:00", "target_timezone": "Asia/Tokyo"}),
    ],
)
async def test_a_call_gives_what_a_direct_client_gets(
    client: Client, direct: dict[str, RawClient], tool_id: str, arguments: dict[str, object]
) -> None:
    _, owner, name = tool_id.split(":")
    expected = CallToolResult.model_validate(direct[owner].call(name, arguments), by_name=False)
    got = await client.call_tool("tool_call", {"id": tool_id, "args": arguments})
    assert got.meta is not None
    assert got.meta["toolfold/tool"] == tool_id
    assert (got.content, got.structured_content, got.is_error) == (
        expected.content,
        expected.structured_content,
        expected.is_error,
    )


async def test_progress_reaches_the_caller(client: Client) -> None:
    seen: list[tuple[float, float | None]] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    arguments = {"id": "mcp:everything:trigger-long-running-operation", "args": {"duration": 0.3, "steps": 3}}
    await client.call_tool("tool_call", arguments, progress_callback=keep)
    assert seen == [(1, 3), (2, 3), (3, 3)]
