"""An OpenClaw Gateway's tools in the catalogue: found, described and called like any other upstream's."""

from pathlib import Path

from tests.support.gateways import error_of, gateway
from tests.support.openclaw_gateway import TOKEN, openclaw_gateway, result
from upstream_clients import JsonObject, State


def config(url: str, **beside: object) -> JsonObject:
    return {"openclaw": {"url": url, "token": TOKEN, **beside}}


async def test_tools_of_a_gateway_are_found_described_and_called(tmp_path: Path) -> None:
    details = {"json": {"depth": 3}, "provider": "mock", "model": "mock-1"}
    async with (
        openclaw_gateway(answers={"llm-task": result(details)}) as there,
        gateway(tmp_path, {}, config(there.url, agentId="main")) as opened,
    ):
        found = await opened.found("run an LLM step that returns JSON")
        described = await opened.describe("openclaw:llm-task:llm-task")
        called = await opened.call("openclaw:llm-task:llm-task", {"prompt": "How deep?"})
        status = opened.running.statuses()["openclaw"]
    assert found[0] == "openclaw:llm-task:llm-task"
    assert (described["source"], described["owner"], described["trusted"]) == ("openclaw", "llm-task", True)
    assert called["structuredContent"] == details
    assert called["_meta"] == {"toolfold/tool": "openclaw:llm-task:llm-task"}
    assert "isError" not in called
    (call,) = there.calls
    assert call.body == {
        "tool": "llm-task", "args": {"prompt": "How deep?"}, "sessionKey": "main", "agentId": "main",
    }  # fmt: skip
    assert (status.state, status.protocol_version) == (State.READY, "openclaw v4")


async def test_a_plugin_that_is_removed_takes_its_tools_along_and_no_other(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}, config(there.url)) as opened:
        before = {tool.id for tool in opened.running.library.snapshot.catalog.tools()}
        groups = there.effective["groups"]
        assert isinstance(groups, list)
        del groups[1]["tools"][1]
        await there.emit("plugins.changed", {})
        await opened.news.until(lambda: opened.running.library.snapshot.catalog.get("openclaw:pond:pond_depth") is None)
        after = {tool.id for tool in opened.running.library.snapshot.catalog.tools()}
    assert before - after == {"openclaw:pond:pond_depth"}
    assert after < before


async def test_a_tool_that_cannot_be_called_says_why(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}, config(there.url)) as opened:
        yielded = error_of(await opened.call("openclaw:core:sessions_yield", {}))
        sent = error_of(await opened.call("openclaw:core:sessions_send", {"message": "hello"}))
    assert (yielded["code"], sent["code"]) == ("tool_unavailable", "tool_unavailable")
    assert 'add "sessions_send" to gateway.tools.allow in OpenClaw' in str(sent["message"])
    assert there.calls == []
