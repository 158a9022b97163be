"""One session of a host of the handshake era, by hand-written JSON-RPC: what needs the SDK, through one gateway."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.support.hosts import Host, open_host, part, text_of, tool_names
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "messages"


@pytest.fixture(scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory, log: Path) -> AsyncIterator[Host]:
    """A host of the handshake era."""
    fresh = {"name": "fresh_word", "inputSchema": {"type": "object"}}
    direct = {"name": "direct_word", "inputSchema": {"type": "object"}}
    done = {"do": "text", "text": "done"}
    one = entry(
        log=str(log),
        does={
            "echo": {"do": "echo"},
            "wait": {"do": "never"},
            "raw": {"do": "raw"},
            "steps": [{"do": "progress", "steps": 3}, done],
            "grow": [{"do": "change", "tools": [fresh]}, done],
            "publish": [{"do": "change", "tools": [fresh, direct]}, done],
            "deep": {"do": "result", "result": {"content": [], "structuredContent": json.loads("[" * 190 + "]" * 190)}},
            "wide": {
                "do": "result",
                "result": {"content": [], "structuredContent": {"n": [12345678901234567890, 1e300]}},
            },
            "half": {"do": "result", "result": {"content": [{"type": "text", "text": "half \ud83d of a pair"}]}},
        },
    )
    folder = tmp_path_factory.mktemp("host")
    config = write_config(folder, {"one": one}, {"directTools": ["mcp:one:direct_*"]})
    async with open_host(config) as host:
        await until(lambda: len(received(log)) >= 3)
        await host.call("tool_search", {"query": "echo"})
        yield host


@pytest.mark.parametrize("name", ["deep", "wide", "half"])
async def test_what_is_hard_to_carry_arrives_as_it_was_sent(host: Host, name: str) -> None:
    result = await host.call("tool_call", {"id": f"mcp:one:{name}"})
    assert result.pop("_meta") == {"toolfold/tool": f"mcp:one:{name}"}
    expected: dict[str, JsonObject] = {
        "deep": {"content": [], "structuredContent": json.loads("[" * 190 + "]" * 190)},
        "wide": {"content": [], "structuredContent": {"n": [12345678901234567890, 1e300]}},
        "half": {"content": [{"type": "text", "text": "half \ud83d of a pair"}]},
    }
    assert result == expected[name]


async def test_progress_reaches_the_host_under_its_own_token(host: Host) -> None:
    asked = await host.post_call("tool_call", {"id": "steps"}, {"progressToken": "mine"})
    await host.answer(asked)
    steps = [part(message, "params") for message in host.received if message.get("method") == "notifications/progress"]
    assert steps == [
        {"progressToken": "mine", "progress": number, "total": 3, "message": f"step {number}"} for number in (1, 2, 3)
    ]


async def test_a_call_that_the_host_cancels_is_cancelled_upstream_and_never_answered(host: Host, log: Path) -> None:
    before = len(received(log))
    asked = await host.post_call("tool_call", {"id": "wait"})
    await until(lambda: len(received(log)) == before + 1)
    await host.say("notifications/cancelled", {"requestId": asked, "reason": "no more"})
    await until(lambda: len(received(log)) == before + 2)
    assert text_of(await host.call("tool_call", {"id": "echo", "args": {"text": "after"}})) == "after"
    call, cancelled, _ = received(log)[before:]
    assert cancelled["method"] == "notifications/cancelled"
    assert part(cancelled, "params")["requestId"] == call["id"]
    assert [message for message in host.received if message.get("id") == asked] == []


async def test_only_a_list_that_has_changed_is_said_to_have_changed(host: Host) -> None:
    async def found() -> bool:
        answer = await host.call("tool_search", {"query": "fresh_word"})
        return "mcp:one:fresh_word" in json.dumps(answer)

    await host.call("tool_call", {"id": "grow"})
    with anyio.fail_after(20):
        while not await found():  # noqa: ASYNC110
            await anyio.sleep(0.02)
    before = await host.ask("tools/list")
    assert [message for message in host.received if message.get("method") == "notifications/tools/list_changed"] == []
    await host.call("tool_call", {"id": "publish"})
    await host.notified("notifications/tools/list_changed")
    after = await host.ask("tools/list")
    assert tool_names(before) == ["tool_call", "tool_describe", "tool_search"]
    assert tool_names(after) == ["direct_word", "tool_call", "tool_describe", "tool_search"]
    assert part(await host.call("direct_word", {"a": 1}), "_meta") == {"toolfold/tool": "mcp:one:direct_word"}


async def test_a_broken_request_is_a_protocol_error_and_says_nothing_of_our_insides(host: Host) -> None:
    assert await host.fail("tools/call", {"arguments": {}}) == {
        "code": -32602,
        "message": "tools/call needs a string 'name'",
    }
    assert (await host.fail("nobody/knows"))["code"] == -32601
