"""Mode false: every tool by itself. Mode auto: so as long as that is cheap, and folded above."""

from pathlib import Path

import pytest

from server.access import OWNER
from server.status import describe_state
from tests.support.gateways import error_of, gateway
from tests.support.hosts import open_host, part, text_of, tool_names
from tests.support.upstreams import Options, entry, write_config

THREE = ["tool_call", "tool_describe", "tool_search"]
ECHO: Options = {"does": {"echo": {"do": "echo"}, "long": {"do": "text", "text": "abc" * 20_000}}}


async def test_every_tool_is_published_and_called_under_its_portable_name(tmp_path: Path) -> None:
    servers = {"one": entry(**ECHO), "two": entry(does={"echo": {"do": "echo"}, "a.b": {"do": "echo"}})}
    settings = {"toolSearch": False, "policy": {"deny": ["mcp:one:long"]}}
    async with gateway(tmp_path, servers, settings) as opened:
        names = tool_names(opened.face.list_tools(OWNER))
        assert names == ["one_echo", "toolfold_read_result", "two_a_b", "two_echo"]
        assert text_of(await opened.ask("two_a_b", {"text": "x"})) == "x"
        assert text_of(await opened.ask("mcp:two:a.b", {"text": "y"})) == "y"
        assert error_of(await opened.ask("long"))["code"] == "unknown_tool"
        assert describe_state(opened.running)["mode"] == "false"


async def test_a_long_result_is_read_on_without_tool_call(tmp_path: Path) -> None:
    settings = {"toolSearch": False, "limits": {"resultBytes": 1024}}
    async with gateway(tmp_path, {"one": entry(**ECHO)}, settings) as opened:
        cut = text_of(await opened.ask("long"))
        reference = cut.split('"ref":')[1].split('"')[1]
        rest = await opened.ask("toolfold_read_result", {"ref": reference, "offset": 10})
        assert text_of(rest).startswith("bcabc")


@pytest.mark.parametrize(
    ("threshold", "mode", "names"), [(0, "tools", THREE), (4000, "false", ["echo", "long", "toolfold_read_result"])]
)
async def test_auto_folds_above_a_threshold_and_says_why(
    tmp_path: Path, threshold: int, mode: str, names: list[str]
) -> None:
    settings = {"toolSearch": {"mode": "auto", "autoAboveTokens": threshold}}
    async with gateway(tmp_path, {"one": entry(**ECHO)}, settings) as opened:
        assert tool_names(opened.face.list_tools(OWNER)) == names
        state = describe_state(opened.running)
        assert (state["mode"], f"over {threshold:,}" in str(state["chosen_because"])) == (mode, True)


async def test_auto_folds_while_an_upstream_has_not_listed_its_tools(tmp_path: Path) -> None:
    servers = {"one": entry(**ECHO), "slow": entry(hang=True)}
    settings = {"toolSearch": {"mode": "auto"}}
    async with gateway(tmp_path, servers, settings, ready=False) as opened:
        await opened.ready("one")
        assert tool_names(opened.face.list_tools(OWNER)) == THREE
        assert "slow" in str(describe_state(opened.running)["chosen_because"])
        assert text_of(await opened.call("echo", {"text": "x"})) == "x"


async def test_a_host_hears_of_the_list_once_the_upstreams_are_there(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"one": entry(**ECHO)}, {"toolSearch": False})
    async with open_host(config) as host:
        first = tool_names(await host.ask("tools/list"))
        if "echo" not in first:
            await host.notified("notifications/tools/list_changed")
        assert tool_names(await host.ask("tools/list")) == ["echo", "long", "toolfold_read_result"]
        assert part(await host.call("echo", {"text": "x"}), "_meta")["toolfold/tool"] == "mcp:one:echo"
    async with open_host(config) as host:
        assert tool_names(await host.ask("tools/list")) == ["echo", "long", "toolfold_read_result"]
