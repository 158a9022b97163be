"""An OpenClaw Gateway's tools in the catalogue: found, described and called like any other upstream's."""

import os
from pathlib import Path

from server.config import load
from server.status import describe_state
from tests.support.gateways import error_of, gateway
from tests.support.openclaw_gateway import TOKEN, openclaw_gateway, result
from tests.support.upstreams import write_config
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
        catalogue = describe_state(opened.running)["catalogue"]
    assert isinstance(catalogue, dict)
    assert catalogue["unavailable"].keys() == {
        f"openclaw:core:{name}" for name in ("computer", "exec", "sessions_send", "sessions_spawn", "sessions_yield")
    }
    assert (yielded["code"], sent["code"]) == ("tool_unavailable", "tool_unavailable")
    assert 'add "sessions_send" to gateway.tools.allow in OpenClaw' in str(sent["message"])
    assert there.calls == []


async def test_a_result_that_does_not_fit_its_schema_is_told_as_one_of_a_tool_that_ran(tmp_path: Path) -> None:
    answers = {"sessions_list": result({"count": "five"}), "subagents": result({"status": "error", "error": "no"})}
    settings = config("")
    async with openclaw_gateway(answers=answers) as there:
        settings = config(there.url, visibility="all")
        async with gateway(tmp_path, {}, settings) as opened:
            listed = error_of(await opened.call("openclaw:core:sessions_list", {}))
            soft = await opened.call("openclaw:core:subagents", {})
    assert listed["code"] == "invalid_output"
    assert "openclaw:core:sessions_list ran, but" in str(listed["message"])
    assert soft["isError"] is True
    assert soft["structuredContent"] == {"status": "error", "error": "no"}


async def test_typed_hints_of_a_gateway_s_tools_are_shown(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}, config(there.url)) as opened:
        hits = (await opened.search("read the transcript of a session"))["tools"]
    assert isinstance(hits, list)
    assert hits[0]["id"] == "openclaw:core:sessions_history"
    assert {hit["id"]: hit["input"] for hit in hits}["openclaw:core:session_status"].startswith(
        "{ changesSince?: number"
    )


async def test_a_direct_only_tool_that_is_opened_stays_direct(tmp_path: Path) -> None:
    async with (
        openclaw_gateway(answers={"computer": result({"ok": True})}) as there,
        gateway(tmp_path, {}, config(there.url, allow=["computer"])) as opened,
    ):
        published = [tool["name"] for tool in opened.running.gateway.surface().tools]
        called = await opened.ask("computer", {"action": "look"})
    assert "computer" in published
    assert called["structuredContent"] == {"ok": True}


async def test_what_the_operator_denies_is_not_there(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}, config(there.url, deny=["llm-*"])) as opened:
        assert error_of(await opened.call("openclaw:llm-task:llm-task", {}))["code"] == "unknown_tool"


async def test_a_transcript_is_cleaned_on_its_way_unless_that_is_switched_off(tmp_path: Path) -> None:
    details: JsonObject = {
        "sessionKey": "agent:main:main", "messages": [{"role": "user", "content": "a<think>b</think>c"}],
        "truncated": False, "droppedMessages": False, "contentTruncated": False, "contentRedacted": False, "bytes": 9,
    }  # fmt: skip
    texts = []
    async with openclaw_gateway(answers={"sessions_history": result(details)}) as there:
        for sanitizes in (True, False):
            async with gateway(tmp_path, {}, config(there.url, sanitizeHistory=sanitizes)) as opened:
                called = await opened.call("openclaw:core:sessions_history", {"sessionKey": "main"})
                assert "isError" not in called
                texts.append(called["structuredContent"]["messages"][0]["content"])  # type: ignore[index]
    assert texts == ["ac", "a<think>b</think>c"]


async def test_stored_tools_are_found_while_the_gateway_is_down(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}, config(there.url)) as opened:
        before = await opened.found("run an LLM step that returns JSON")
    async with gateway(tmp_path, {}, config(there.url), ready=False) as opened:
        after = await opened.found("run an LLM step that returns JSON")
        down = error_of(await opened.call("openclaw:llm-task:llm-task", {"prompt": "x"}))
    assert before[:1] == after[:1] == ["openclaw:llm-task:llm-task"]
    assert down["code"] == "upstream_down"


async def test_a_gateway_is_added_and_taken_away_while_toolfold_runs(tmp_path: Path) -> None:
    async with openclaw_gateway() as there, gateway(tmp_path, {}) as opened:
        for settings, tools in ((config(there.url), True), ({}, False)):
            path = write_config(tmp_path, {}, settings)
            await opened.running.adopt(load([path], dict(os.environ), tmp_path))
            await opened.news.until(lambda tools=tools: bool(opened.running.library.snapshot.catalog.tools()) is tools)  # type: ignore[misc]
    assert len(there.greetings) == 1
