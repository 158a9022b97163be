"""Messages of a host that are neither quite requests nor quite anything else: each is answered once, or runs nothing."""

from pathlib import Path

from tests.support.hosts import open_host
from tests.support.upstreams import entry, received, write_config


def written(text: str) -> bytes:
    return text.encode() + b"\n"


async def test_what_is_a_request_and_an_answer_is_refused_and_leaves_its_id_free(tmp_path: Path) -> None:
    async with open_host(write_config(tmp_path, {})) as host:
        await host.write(
            written('{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"x"},"result":{}}')
            + written('{"id":71,"method":"ping","result":"2.0"}')
        )
        refused = [await host.seen(lambda message: message.get("id") == 71, times) for times in (1, 2)]
        await host.post_call("tool_search", {"query": "x"}, number=71)
        again = await host.seen(lambda message: message.get("id") == 71, 3)
    words = "a message is a request or an answer, not both"
    assert [message["error"] for message in refused] == [{"code": -32600, "message": words}] * 2
    assert "result" in again


async def test_what_is_no_id_is_not_repeated(tmp_path: Path) -> None:
    async with open_host(write_config(tmp_path, {})) as host:
        await host.write(written('{"jsonrpc":"2.0","id":{"a":1}}'))
        refused = await host.seen(lambda message: "error" in message)
    assert (refused["id"], refused["error"]) == (None, {"code": -32600, "message": "Invalid Request"})


async def test_a_notification_named_like_a_call_runs_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    config = write_config(tmp_path, {"one": entry(does={"echo": {"do": "echo"}}, log=str(log))})
    async with open_host(config) as host:
        await host.say("tools/call", {"name": "tool_call", "arguments": {"id": "mcp:one:echo", "args": {"text": "no"}}})
        await host.say("tools/call", {"arguments": {}})
        await host.call("tool_call", {"id": "mcp:one:echo", "args": {"text": "yes"}})
    calls = [message["params"] for message in received(log) if message["method"] == "tools/call"]
    assert len(calls) == 1
    assert "Traceback" not in host.stderr
