"""`serve` as a process: what a host gets before the SDK is there, while it is, and at the end."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.support.hosts import SERVE, environment, hold_sdk, open_host, part, text_of, tool_names
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

DOES = {"echo": {"do": "echo"}, "wait": {"do": "never"}}


async def test_a_host_is_answered_before_the_sdk_is_imported_and_what_it_asks_then_is_answered_in_full(
    tmp_path: Path,
) -> None:
    log, cache = tmp_path / "log", tmp_path / "toolfold-cache"
    config = write_config(tmp_path, {"one": entry(does=DOES, log=str(log))})
    async with open_host(config, added=hold_sdk(tmp_path)) as host:
        # what the front answers, while `import mcp` hangs
        assert tool_names(await host.ask("tools/list")) == ["tool_call", "tool_describe", "tool_search"]
        await host.said("mcp is wanted")
        assert await host.ask("ping") == {}
        await host.ask("tools/list")
        # what waits for the SDK
        await until(lambda: len(received(log)) == 3)
        searched = await host.post_call("tool_search", {"query": "echo"})
        echoed = [await host.post_call("tool_call", {"id": "mcp:one:echo", "text": f"{n}"}) for n in range(40)]
        unknown = await host.post("resources/list")
        assert await host.ask("ping") == {}
        heard = {message.get("id") for message in host.received}
        assert not {searched, unknown, *echoed} & heard
        with (tmp_path / "gate").open("w"):
            pass
        assert part(await host.answer(unknown), "error")["code"] == -32601
        assert part(await host.answer(searched), "result", "structuredContent")["tools"] != []
        for number, request_id in enumerate(echoed):
            assert text_of(part(await host.answer(request_id), "result")) == f"{number}"
        # nothing but JSON-RPC came through, whatever was printed meanwhile
        assert host.stray == []
        assert [said in host.stderr for said in ("a stray print", "stray bytes", "a stray child")] == [True] * 3
        # the state file, and the end on a signal
        state = tmp_path / "toolfold-state" / "gateways" / f"{host.process.pid}.json"
        await until(lambda: state.exists() and '"ready"' in state.read_text(encoding="utf-8"))
        document = json.loads(state.read_bytes())
        assert (document["pid"], document["host"]) == (host.process.pid, {"name": "hand", "version": "1"})
        waiting = await host.post_call("tool_call", {"id": "mcp:one:wait"})
        await until(lambda: received(log)[-1].get("method") == "tools/call" and len(received(log)) == 44)
        host.process.send_signal(signal.SIGTERM)
        error = part(await host.answer(waiting), "error")
        assert await host.ended() == 0
    assert (error["code"], str(error["message"])[:8]) == (-32000, "draining")
    assert list(state.parent.iterdir()) == []
    [listing] = (cache / "listings").iterdir()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (listing, cache / "listings", cache)]
    assert modes == [0o600, 0o700, 0o700]


async def test_a_modern_host_is_answered_before_the_sdk_is_imported(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"one": entry(does=DOES)})
    async with open_host(config, era="modern", added=hold_sdk(tmp_path)) as host:
        discovered = await host.ask("server/discover")
        listed = await host.ask("tools/list")
        await host.said("mcp is wanted")
        called = await host.post_call("tool_search", {"query": "echo"})
        await host.close_input()
        error = part(await host.answer(called), "error")
        assert await host.ended() == 0
    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert discovered["instructions"] == (
        "Many tools stand behind this server. Find one with tool_search, read its schema with tool_describe if its "
        "input is not clear, run it with tool_call.\nUpstreams:\n- one"
    )
    assert tool_names(listed) == ["tool_call", "tool_describe", "tool_search"]
    assert error == {"code": -32000, "message": "draining: the gateway is shutting down; the call was given up"}


async def test_a_list_with_direct_tools_waits_for_the_stored_listing_and_for_no_upstream(tmp_path: Path) -> None:
    await anyio.Path(tmp_path / "go").touch()
    listing: list[Mapping[str, object]] = [
        {"do": "gate", "path": str(tmp_path / "go")},
        {"do": "result", "result": LISTED},
    ]
    slow = entry(does=DOES, on={"tools/list": listing})
    config = write_config(tmp_path, {"one": {**slow, "alwaysLoad": True}})
    async with open_host(config, added=hold_sdk(tmp_path)) as host:
        assert "drench" not in tool_names(await host.ask("tools/list"))
        await host.notified("notifications/tools/list_changed")
        live = await host.ask("tools/list")
    await anyio.Path(tmp_path / "go").unlink()
    async with open_host(config, added=hold_sdk(tmp_path)) as host:
        cached = await host.ask("tools/list")
        await anyio.Path(tmp_path / "go").touch()
    assert tool_names(live) == ["drench", "tool_call", "tool_describe", "tool_search"]
    assert cached == live


LISTED = {"tools": [{"name": "drench", "description": "Drenches.", "inputSchema": {"type": "object"}}]}


async def test_a_line_over_the_limit_is_refused_and_the_next_one_is_answered(tmp_path: Path) -> None:
    config = write_config(tmp_path, {}, {"limits": {"lineBytes": 4096}})
    async with open_host(config, added=hold_sdk(tmp_path)) as host:
        await host.write(b'{"jsonrpc": "2.0", "id": 99, "method": "ping", "params": {"x": "' + b"x" * 5000 + b'"}}\n')
        refused = part(await host.answer(None), "error")
        assert await host.ask("ping") == {}
    assert refused == {"code": -32600, "message": "the message is over the size limit (gateway.limits.lineBytes)"}


@pytest.mark.parametrize("kind", ["device", "file"])
def test_input_and_output_may_be_files_or_nothing_at_all(tmp_path: Path, kind: str) -> None:
    config = write_config(tmp_path, {})
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}
    (tmp_path / "in").write_text(json.dumps({**request, "params": params}) + "\n", encoding="utf-8")
    places = (tmp_path / "in", tmp_path / "out") if kind == "file" else (Path(os.devnull), Path(os.devnull))
    with places[0].open("rb") as source, places[1].open("wb") as sink:
        ended = subprocess.run(
            [*SERVE, "--config", str(config)],
            stdin=source,
            stdout=sink,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            timeout=30,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, b"")
    if kind == "file":
        assert json.loads((tmp_path / "out").read_bytes())["result"]["serverInfo"]["name"] == "toolfold"
