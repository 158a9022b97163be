"""A gateway whose configuration changes while it works: what is added, removed and changed, and what must not notice."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Final

import anyio
import anyio.to_thread

from server.access import OWNER
from server.config import Settings, load
from server.reloading import Following, Refused, follow
from tests.support.gateways import Opened, error_of, gateway, payload
from tests.support.hosts import text_of
from tests.support.processes import all_gone, marked
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

WAIT_SECONDS: Final = 60
EDITS: Final = 100
LOADS: Final = 4

ECHO: Final = entry(does={"echo": {"do": "echo"}})


def settings_of(
    folder: Path, servers: Mapping[str, Mapping[str, object]], gateway: Mapping[str, object] | None = None
) -> Settings:
    return load([write_config(folder, servers, gateway)], dict(os.environ), folder)


async def adopt(
    opened: Opened,
    folder: Path,
    servers: Mapping[str, Mapping[str, object]],
    settings: Mapping[str, object] | None = None,
) -> None:
    with anyio.fail_after(WAIT_SECONDS):
        await opened.running.adopt(settings_of(folder, servers, settings))


async def test_what_is_added_is_found_and_what_is_removed_is_as_if_it_had_never_been(tmp_path: Path) -> None:
    two = entry(does={"sprinkle": {"do": "text", "text": "wet"}}, marker=f"{tmp_path}/two")
    async with gateway(tmp_path, {"one": ECHO}) as opened:
        await adopt(opened, tmp_path, {"one": ECHO, "two": two})
        await opened.ready("one", "two")
        added = await opened.call("mcp:two:sprinkle")
        found = await opened.found("sprinkle")
        await adopt(opened, tmp_path, {"one": ECHO})
        await opened.ready("one")
        gone = await opened.found("sprinkle"), error_of(await opened.call("mcp:two:sprinkle"))["code"]
        statuses = set(opened.running.statuses())
        await until(lambda: not marked(f"{tmp_path}/two"))
        await adopt(opened, tmp_path, {"one": ECHO, "two": two})  # known from the disk, and called while it starts
        again = await opened.call("mcp:two:sprinkle")
    assert (text_of(added), text_of(again), found) == ("wet", "wet", ["mcp:two:sprinkle"])
    assert (gone, statuses) == (([], "unknown_tool"), {"one"})


async def test_an_upstream_that_does_not_change_keeps_its_process(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    one = entry(does={"echo": {"do": "echo"}}, starts=str(starts))
    edits: list[tuple[Mapping[str, object], Mapping[str, object]]] = [
        ({**one, "timeout": 5000, "description": "other", "trusted": True, "hints": "safe"}, {}),
        ({**one, "excludeTools": ["nothing"]}, {"directTools": ["mcp:one:*"], "policy": {"deny": ["mcp:two:*"]}}),
        (one, {"limits": {"callIdleMs": 9000, "resultBytes": 2000}, "startup": {"mode": "lazy"}}),
    ]
    async with gateway(tmp_path, {"one": one}) as opened:
        for changed, settings in edits:
            await adopt(opened, tmp_path, {"one": changed, "two": ECHO}, settings)
            assert text_of(await opened.call("mcp:one:echo", {"text": "x"})) == "x"
    assert len(starts.read_text(encoding="utf-8").split()) == 1


async def test_a_changed_entry_is_replaced_and_a_call_that_is_under_way_finishes(tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    slow = [{"do": "gate", "path": str(go)}, {"do": "text", "text": "old"}]
    old = entry(does={"slow": slow, "say": {"do": "text", "text": "old"}}, log=str(log), marker=f"{tmp_path}/old")
    new = entry(does={"say": {"do": "text", "text": "new"}})
    results: list[str] = []
    async with gateway(tmp_path, {"one": old}) as opened, anyio.create_task_group() as tasks:

        async def ask() -> None:
            results.append(text_of(await opened.call("mcp:one:slow")))

        tasks.start_soon(ask)
        await until(lambda: received(log)[-1]["method"] == "tools/call")
        await adopt(opened, tmp_path, {"one": new})
        said = text_of(await opened.call("mcp:one:say"))
        slow_now = error_of(await opened.call("mcp:one:slow"))["code"]
        assert results == []
        await anyio.Path(go).touch()
        await until(lambda: results == ["old"])
        assert await anyio.to_thread.run_sync(all_gone, f"{tmp_path}/old") == {}
    assert (said, slow_now) == ("new", "unknown_tool")


async def test_a_call_of_a_removed_upstream_that_is_under_way_finishes(tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    slow = [{"do": "gate", "path": str(go)}, {"do": "text", "text": "done"}]
    one = entry(does={"slow": slow}, log=str(log), marker=f"{tmp_path}/one")
    async with gateway(tmp_path, {"one": one}) as opened, anyio.create_task_group() as tasks:
        results: list[str] = []

        async def ask() -> None:
            results.append(text_of(await opened.call("mcp:one:slow")))

        tasks.start_soon(ask)
        await until(lambda: received(log)[-1]["method"] == "tools/call")
        await adopt(opened, tmp_path, {})
        assert len(marked(f"{tmp_path}/one")) == 1
        await anyio.Path(go).touch()
        await until(lambda: results == ["done"])
        assert await anyio.to_thread.run_sync(all_gone, f"{tmp_path}/one") == {}


async def test_policy_direct_tools_hints_and_limits_change_for_tools_that_are_long_known(tmp_path: Path) -> None:
    long = {"do": "text", "text": "x" * 5000}
    schema = {"type": "object", "properties": {"depth": {"type": "integer"}}}
    tools = [{"name": name, "description": f"To {name}.", "inputSchema": schema} for name in ("dig", "fill", "talk")]
    one = entry(tools=tools, does={"talk": long})
    async with gateway(tmp_path, {"one": one}) as opened:

        def published() -> list[object]:
            listed = opened.face.list_tools(OWNER)["tools"]
            assert isinstance(listed, list)
            return [tool["name"] for tool in listed if not str(tool["name"]).startswith("tool_")]

        whole = await opened.call("mcp:one:talk")
        before = await opened.search("dig"), published()
        await adopt(
            opened,
            tmp_path,
            {"one": one},
            {
                "policy": {"deny": ["mcp:one:fill"]},
                "directTools": ["mcp:one:dig"],
                "hints": "safe",
                "limits": {"resultBytes": 2000},
            },
        )
        denied = error_of(await opened.call("mcp:one:fill"))["code"]
        after, cut = await opened.search("talk"), await opened.call("mcp:one:talk")
        direct = published()
        rest = payload(await opened.ask("tool_describe", {"id": "mcp:one:dig"}))["id"]
        await adopt(opened, tmp_path, {"one": one})
        assert text_of(await opened.call("mcp:one:fill", {"depth": 1})) != ""
        assert published() == []
    assert before[1] == []
    assert "'input': 'unknown'" in str(before[0]["tools"])
    assert (denied, direct, rest) == ("unknown_tool", ["dig"], "mcp:one:dig")
    assert "depth?" in str(after["tools"])
    assert len(text_of(whole)) == 5000 > len(str(cut["content"]))


def edit(number: int) -> tuple[dict[str, Mapping[str, object]], dict[str, object]]:
    """The n-th of many edits, none of which is about the upstream `steady`."""
    servers: dict[str, Mapping[str, object]] = {"steady": ECHO}
    if number % 2:
        servers["comes"] = ECHO
    if number % 3:
        servers["turns"] = {**ECHO, "env": {"ROUND": str(number)}}
    settings: dict[str, object] = {
        "directTools": ["mcp:steady:*"] if number % 4 == 0 else [],
        "policy": {"deny": [f"mcp:*:{number % 5}*"]},
        "limits": {"resultBytes": 2000 + number},
        "hints": "safe" if number % 7 else "off",
    }
    return servers, settings


class Edits:
    """Follows the file of a gateway, and counts what comes of it."""

    def __init__(self, opened: Opened, file: Path) -> None:
        self._opened = opened
        self._file = file
        self._done = anyio.Event()
        self.in_force = 0
        self.refused: list[str] = []

    async def follow(self) -> None:
        def reread() -> Settings:
            return load([self._file], dict(os.environ), self._file.parent)

        await follow(self._opened.settings, Following(reread, self._adopt, self._report), look_seconds=0.01)

    async def made(self, content: str) -> None:
        """Returns once this edit has come into force or was refused."""
        self._done = anyio.Event()
        await anyio.Path(self._file).write_text(content, encoding="utf-8")
        with anyio.fail_after(WAIT_SECONDS):
            await self._done.wait()

    async def _adopt(self, settings: Settings) -> None:
        await self._opened.running.adopt(settings)
        self.in_force += 1

    def _report(self, refused: Refused | None) -> None:
        self.refused += [refused.why] if refused else []
        self._done.set()


async def test_a_hundred_edits_under_load_fail_no_call(tmp_path: Path) -> None:
    calls: list[str] = []
    async with gateway(tmp_path, *edit(0)) as opened, anyio.create_task_group() as tasks:

        async def ask() -> None:
            while True:
                nonce = token_hex(8)
                calls.append(nonce)
                assert text_of(await opened.call("mcp:steady:echo", {"text": nonce})) == nonce

        edits = Edits(opened, tmp_path / "mcp.json")
        tasks.start_soon(edits.follow)
        for _ in range(LOADS):
            tasks.start_soon(ask)
        for number in range(1, EDITS + 1):
            servers, settings = edit(number)
            good = json.dumps({"mcpServers": servers, "gateway": settings})
            before = len(calls)
            await edits.made("{ secret" if number % 10 == 0 else good)  # a bad one in between changes nothing
            assert len(calls) > before, "there are calls during each edit"
        tasks.cancel_scope.cancel()
    assert (edits.in_force, len(edits.refused)) == (EDITS - EDITS // 10, EDITS // 10)
    assert "secret" not in " ".join(edits.refused)
