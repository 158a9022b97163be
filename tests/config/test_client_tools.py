from collections.abc import Callable

import pytest

from server.config import ClientTool, Settings
from server.config.settings import MOST_CLIENT_TOOLS

OPEN = ClientTool(name="open_file", description="Opens.", input_schema={"type": "object"})


@pytest.mark.parametrize(
    ("written", "names", "codes"),
    [
        (None, [], []),
        ([{"name": "a"}, {"name": "b", "description": None, "inputSchema": {}}], ["a", "b"], []),
        ({"name": "a"}, [], ["wrong_type"]),
        ([{"name": ""}, {"title": "a"}, "a", {"name": 3}], [], ["wrong_type"] * 4),
        ([{"name": "a"}, {"name": "a"}], ["a"], ["duplicate_name"]),
        ([{"name": "a", "inputSchema": [], "description": 3}], ["a"], ["wrong_type", "wrong_type"]),
        ([{"name": "a", "input_schema": {}}], ["a"], ["unknown_key"]),
    ],
)
def test_what_cannot_be_a_tool_of_the_host_is_left_out(
    settings_of: Callable[..., Settings], written: object, names: list[str], codes: list[str]
) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": {"clientTools": written}})
    assert [tool.name for tool in settings.gateway.client_tools] == names
    assert [finding.code for finding in settings.findings] == codes


def test_tools_of_the_host_are_read_whole_and_so_many(settings_of: Callable[..., Settings]) -> None:
    written = {"name": "open_file", "description": "Opens.", "inputSchema": {"type": "object"}}
    many = [written, *({"name": f"t{number}"} for number in range(MOST_CLIENT_TOOLS))]
    settings = settings_of({"mcpServers": {}, "gateway": {"clientTools": many}})
    assert settings.gateway.client_tools[0] == OPEN
    assert len(settings.gateway.client_tools) == MOST_CLIENT_TOOLS
    assert [finding.code for finding in settings.findings] == ["out_of_bounds"]
