"""Mode code as a host meets it: what is published, what code can do, and what becomes of it where it can't be had."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from server.code import Runtime
from server.code.engine import engine_folder
from server.code.node import ASK_SECONDS, Node
from server.config import Directories, load
from server.face import Face
from server.modes import Modes
from tests.support.cli_runs import toolfold
from tests.support.gateways import Opened, gateway, payload
from tests.support.hosts import Host, environment, open_host, part, tool_names
from tests.support.processes import descendants, marked, running
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject

ECHO = entry(does={"echo": {"do": "echo"}, "other": {"do": "text", "text": "other"}})
CODE_MODE = {"toolSearch": True}


@asynccontextmanager
async def opened_in_code_mode(
    folder: Path,
    data: Path,
    servers: Mapping[str, Mapping[str, object]],
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[tuple[Opened, Modes]]:
    async with gateway(folder, servers, {**CODE_MODE, **(settings or {})}) as opened:
        modes = Modes(Directories(folder / "c", folder / "s", data))
        await modes.settled(opened.settings)
        face = Face(opened.running.gateway, modes.run_code)
        yield Opened(opened.running, face, opened.settings, opened.news), modes


async def run(opened: Opened, code: str) -> JsonObject:
    return payload(await opened.ask("tool_search_code", {"code": code}))


@pytest.fixture
async def opened(tmp_path: Path, data: Path, runtime: Runtime) -> AsyncIterator[Opened]:
    hidden = {"policy": {"deny": ["mcp:one:other"]}}
    async with opened_in_code_mode(tmp_path, data, {"one": ECHO}, hidden) as (opened, _modes):
        yield opened


async def test_code_searches_describes_calls_and_returns_with_logs_and_telemetry(opened: Opened) -> None:
    answer = await run(
        opened,
        """
        const [hit] = await openclaw.tools.search("echo", { limit: 1 });
        const about = await openclaw.tools.describe(hit.id);
        console.log("found", hit.id);
        const { tool, result } = await openclaw.tools.call(hit.id, { text: "hello" });
        return { schema: about.tool.inputSchema.type, tool, text: result.content[0].text };
        """,
    )
    assert answer == {
        "ok": True,
        "value": {
            "schema": "object",
            "tool": {"id": "mcp:one:echo", "source": "mcp", "name": "echo"},
            "text": "hello",
        },
        "logs": ["found mcp:one:echo"],
        "telemetry": {
            "catalogSize": 1,
            "sources": {"mcp": 1},
            "searchCount": 1,
            "describeCount": 1,
            "callCount": 1,
            "called": ["mcp:one:echo"],
        },
    }


@pytest.mark.parametrize(
    "code",
    [
        "const openclaw = globalThis.openclaw; return (await openclaw.tools.call('mcp:one:echo', {})).tool.name",
        "const { tools } = openclaw; return (await tools.call('echo')).tool.name",
        "let tools = openclaw.tools; const console = null; return (await tools.call('echo')).tool.name",
        "// a comment at the end\nreturn (await tools.call('echo', {})).tool.name // here",
        "if (true) { return (await tools.call('echo', {})).tool.name }",
        "for await (const r of [tools.call('echo')]) return r.tool.name",
    ],
)
async def test_the_ways_in_which_models_begin_all_work(opened: Opened, code: str) -> None:
    assert (await run(opened, code))["value"] == "echo"


async def test_what_the_policy_hides_is_not_there_for_code(opened: Opened) -> None:
    answer = await run(
        opened,
        """
        const errors = [];
        const id = "mcp:one:other";
        for (const act of [() => tools.call(id), () => tools.describe(id), () => tools.call("other")])
          try { await act() } catch (error) { errors.push(error.code) }
        return [errors, await tools.search("other")];
        """,
    )
    assert answer["value"] == [["unknown_tool"] * 3, []]


async def test_arguments_are_checked_as_anywhere_and_the_code_can_read_why(opened: Opened) -> None:
    answer = await run(opened, "try { await tools.call('echo', 'x') } catch (e) { return [e.code, e.message, e.hint] }")
    assert answer["value"] == [
        "invalid_arguments",
        "The arguments must be an object. call(id, { name: value })",
        "call(id, { name: value })",
    ]


@pytest.mark.parametrize(
    ("code", "failure", "says"),
    [
        (None, "invalid_input", "'code' must be a text that is not empty."),
        ("", "invalid_input", "'code' must be a text that is not empty."),
        (" \n", "invalid_input", "'code' must be a text that is not empty."),
        (5, "invalid_input", "'code' must be a text that is not empty."),
        ("x" * 70_000, "invalid_input", "The code is over 65536 characters."),
        ("return (", "invalid_input", "The code can't be read. SyntaxError: "),
        ("return 1;\nawait nothing()", "", ""),
        (
            "const a = 1;\nnothing()",
            "code_error",
            "ReferenceError: nothing is not defined\n    at anonymous (line 2:1)",
        ),
        ("throw { reason: 1 }", "code_error", 'thrown: {"reason":1}'),
        ("await tools.call('mcp:none:x')", "code_error", "Error: There is no tool 'mcp:none:x'."),
    ],
)
async def test_a_failure_has_a_code_words_and_a_way_out(opened: Opened, code: object, failure: str, says: str) -> None:
    result = await opened.ask("tool_search_code", {} if code is None else {"code": code})
    answer = payload(result)
    if not failure:
        assert (answer["ok"], answer["value"]) == (True, 1)
        return
    error = part(answer, "error")
    assert (answer["ok"], result["isError"], error["code"]) == (False, True, failure)
    assert str(error["message"]).startswith(says)
    assert error["hint"]
    assert set(answer) == {"ok", "error", "logs", "telemetry"}


async def test_calls_run_side_by_side_and_those_that_nobody_awaits_are_finished(opened: Opened) -> None:
    answer = await run(
        opened,
        """
        const texts = await Promise.all([..."abcdefghijklmnopqrstuvwxyz"].map(async (text) =>
          (await tools.call("echo", { text })).result.content[0].text));
        tools.call("echo", { text: "late" });
        return texts.join("");
        """,
    )
    assert answer["value"] == "abcdefghijklmnopqrstuvwxyz"
    assert part(answer, "telemetry")["callCount"] == 27


async def test_at_the_deadline_the_calls_under_way_are_cancelled_upstream(
    tmp_path: Path, data: Path, runtime: Runtime
) -> None:
    log = tmp_path / "log"
    slow = entry(does={"slow": [{"do": "sleep", "seconds": 60}, {"do": "text", "text": "late"}]}, log=str(log))
    settings = {"toolSearch": {"mode": "code", "codeTimeoutMs": 1000}}
    async with opened_in_code_mode(tmp_path, data, {"one": slow}, settings) as (opened, _modes):
        result = await opened.ask("tool_search_code", {"code": "console.log(1); await tools.call('slow')"})
        await until(lambda: "notifications/cancelled" in [message["method"] for message in received(log)])
    answer = payload(result)
    assert part(answer, "error")["code"] == "timeout"
    assert answer["logs"] == ["1"]


async def test_when_code_is_turned_off_what_runs_is_aborted(tmp_path: Path, data: Path, runtime: Runtime) -> None:
    log = tmp_path / "log"
    slow = entry(does={"slow": [{"do": "sleep", "seconds": 60}, {"do": "text", "text": "late"}]}, log=str(log))
    async with opened_in_code_mode(tmp_path, data, {"one": slow}) as (opened, modes):
        without = load([write_config(tmp_path, {"one": slow})], dict(os.environ), tmp_path)
        answers: list[JsonObject] = []

        async def call() -> None:
            answers.append(payload(await opened.ask("tool_search_code", {"code": "await tools.call('slow')"})))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(lambda: "tools/call" in [message["method"] for message in received(log)])
            await modes.settled(without)
        refused = await opened.ask("tool_search_code", {"code": "return 1"})
    assert part(answers[0], "error")["code"] == "aborted"
    assert part(payload(refused), "error")["code"] == "runtime_unavailable"


async def test_more_runs_than_may_wait_are_refused_at_once(opened: Opened) -> None:
    codes: list[object] = []

    async def one() -> None:
        answer = await run(opened, "return 1")
        codes.append(part(answer, "error")["code"] if "error" in answer else answer["value"])

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(one)
    assert sorted(map(str, codes)) == ["1"] * 10 + ["runtime_unavailable"] * 2


# --- A host and a real gateway


def variables(data: Path, **added: str) -> dict[str, str]:
    return {"TOOLFOLD_DATA_DIR": str(data), **added}


async def state_of(host: Host, folder: Path) -> JsonObject:
    path = folder / "toolfold-state" / "gateways" / f"{host.process.pid}.json"
    await until(path.exists)
    document = json.loads(path.read_bytes())
    assert isinstance(document, dict)
    return document


async def test_a_host_sees_the_one_tool_and_the_direct_ones_at_the_first_start_and_at_the_next(
    tmp_path: Path, data: Path, runtime: Runtime
) -> None:
    config = write_config(tmp_path, {"one": ECHO}, {**CODE_MODE, "directTools": ["mcp:one:other"]})
    for _ in range(2):
        async with open_host(config, era="ungreeted", added=variables(data)) as host:
            greeting = await host.greet()
            names = tool_names(await host.ask("tools/list"))
            result = await host.call(
                "tool_search_code", {"code": "return (await tools.call('echo', {text: 'hi'})).result"}
            )
            state = await state_of(host, tmp_path)
        assert names[-1:] == ["tool_search_code"]
        assert set(names) <= {"other", "tool_search_code"}
        assert "Many tools stand behind this server" in str(greeting["instructions"])
        assert part(result, "structuredContent", "value")["content"] == [{"type": "text", "text": "hi"}]
        assert state["mode"] == "code"
        assert host.stray == []


NO_NODE = "Node.js was not found. Install Node.js 20 or newer, or name one in TOOLFOLD_NODE."


async def test_where_code_can_t_be_run_the_three_tools_are_published_and_status_says_why(
    tmp_path: Path, data: Path
) -> None:
    config = write_config(tmp_path, {}, CODE_MODE)
    async with open_host(config, added=variables(data, PATH="", TOOLFOLD_NODE="")) as host:
        names = tool_names(await host.ask("tools/list"))
        called = await host.call("tool_search_code", {"code": "return 1"})
        state = await state_of(host, tmp_path)
        told = toolfold(tmp_path, "status")
    assert names == ["tool_call", "tool_describe", "tool_search"]
    assert part(called, "structuredContent", "error")["code"] == "runtime_unavailable"
    assert (state["mode"], part(state, "fallback")) == ("tools", {"from": "code", "to": "tools", "why": NO_NODE})
    assert f"Mode code can't be had, and mode tools is used: {NO_NODE}" in " ".join(told.out.split())


@pytest.mark.parametrize(
    ("added", "why"),
    [
        ({"PATH": "", "TOOLFOLD_NODE": ""}, NO_NODE),
        ({"TOOLFOLD_NODE": "/nowhere/node"}, "/nowhere/node can't be looked at"),
        ({"TOOLFOLD_NODE": sys.executable}, f"{sys.executable} is no Node that works"),
        ({"TOOLFOLD_NODE": "/bin/sh"}, "/bin/sh is no Node that works"),
    ],
)
async def test_the_mode_that_is_decided_is_tools_for_each_reason(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, added: dict[str, str], why: str
) -> None:
    for name, value in added.items():
        monkeypatch.setenv(name, value)
    settings = load([write_config(tmp_path, {}, CODE_MODE)], dict(os.environ), tmp_path)
    modes = Modes(Directories(tmp_path / "c", tmp_path / "s", data))
    decided = await modes.settled(settings)
    assert (settings.gateway.tool_search.mode, decided.gateway.tool_search.mode) == ("code", "tools")
    assert str(part(modes.state(), "fallback")["why"]).startswith(why)


async def test_a_node_that_hangs_keeps_nobody_waiting_longer_than_the_trial_may_take(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "node"
    hanging.write_text(f"#!/bin/sh\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.1; done\n", encoding="utf-8")
    hanging.chmod(0o755)
    monkeypatch.setenv("TOOLFOLD_NODE", str(hanging))
    monkeypatch.setattr("server.modes.DECIDE_SECONDS", 0.2)
    settings = load([write_config(tmp_path, {}, CODE_MODE)], dict(os.environ), tmp_path)
    modes = Modes(Directories(tmp_path / "c", tmp_path / "s", data))
    try:
        with anyio.fail_after(ASK_SECONDS / 2):
            decided = await modes.settled(settings)
    finally:
        (tmp_path / "go").touch()
    assert decided.gateway.tool_search.mode == "tools"
    assert str(part(modes.state(), "fallback")["why"]).startswith("the isolated Node was not ready within")


async def test_without_an_engine_the_mode_is_known_at_once_to_be_tools(tmp_path: Path, node: Node) -> None:
    settings = load([write_config(tmp_path, {}, CODE_MODE)], dict(os.environ), tmp_path)
    modes = Modes(Directories(tmp_path / "c", tmp_path / "s", tmp_path / "none"))
    decided = modes.known(settings)
    assert decided is not None
    assert decided.gateway.tool_search.mode == "tools"
    assert part(modes.state(), "fallback")["why"] == "the engine is not installed. Run: toolfold code install."


async def test_a_forged_verdict_brings_an_error_and_never_a_run(tmp_path: Path, data: Path, runtime: Runtime) -> None:
    config = write_config(tmp_path, {}, CODE_MODE)
    async with open_host(config, added=variables(data)) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_search_code"]
    verdict = tmp_path / "toolfold-cache" / "code" / "verdict.json"
    forged = {**json.loads(verdict.read_bytes()), "program": sys.executable}
    verdict.write_text(json.dumps(forged), encoding="utf-8")
    async with open_host(config, added=variables(data)) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_search_code"]
        called = await host.call("tool_search_code", {"code": "return 1"})
    assert part(called, "structuredContent", "error")["code"] == "runtime_unavailable"


async def test_when_the_gateway_is_killed_hard_nothing_of_a_run_is_left(
    tmp_path: Path, data: Path, runtime: Runtime
) -> None:
    config = write_config(tmp_path, {}, CODE_MODE)
    async with open_host(config, added=variables(data)) as host:
        await host.post_call("tool_search_code", {"code": "console.log(1); for (;;) {}"})
        await until(lambda: any(runtime.node.program in line for line in marked("--eval").values()))
        (child,) = [pid for pid in descendants(host.process.pid) if "--eval" in marked("--eval").get(pid, "")]
        host.process.kill()
        await host.ended()
        await until(lambda: not running({child}))


async def test_an_edit_turns_code_on_and_off_and_the_host_is_told(tmp_path: Path, data: Path, runtime: Runtime) -> None:
    config = write_config(tmp_path, {})
    async with open_host(config, added=variables(data)) as host:
        before = tool_names(await host.ask("tools/list"))
        write_config(tmp_path, {}, CODE_MODE)
        await host.notified("notifications/tools/list_changed")
        on = tool_names(await host.ask("tools/list"))
        write_config(tmp_path, {})
        await host.notified("notifications/tools/list_changed", times=2)
        off = tool_names(await host.ask("tools/list"))
    assert (before, on, off) == (before, ["tool_search_code"], before)
    assert before == ["tool_call", "tool_describe", "tool_search"]


async def test_in_other_modes_nothing_of_it_is_imported(tmp_path: Path) -> None:
    probe = (
        "import sys; from pathlib import Path; from server.config import Directories, load; from server.modes import Modes; "
        "import server.serve, os; settings = load([Path('mcp.json')], dict(os.environ), Path.cwd()); "
        "Modes(Directories(*[Path.cwd()] * 3)).known(settings); "
        "print([name for name in sys.modules if name.startswith('server.code')])"
    )
    write_config(tmp_path, {})
    done = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            [sys.executable, "-P", "-c", probe],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            check=False,
        )
    )
    assert (done.stdout.strip(), done.returncode) == (b"[]", 0), done.stderr


# --- The command line


def test_check_tells_what_it_found_and_remembers_it(tmp_path: Path, data: Path, runtime: Runtime) -> None:
    ran = toolfold(tmp_path, "code", "check", "--json", **variables(data))
    document = ran.json()
    assert (ran.code, document["available"], document["engine"]) == (0, True, str(engine_folder(data)))
    assert part(document, "node")["version"] == ".".join(map(str, runtime.node.version))
    assert (tmp_path / "toolfold-cache" / "code" / "verdict.json").is_file()
    assert toolfold(tmp_path, "code", "check", **variables(data)).out.startswith("Code can be run here.\n")


def test_check_and_install_fail_with_the_reason(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "code", "check", TOOLFOLD_DATA_DIR=str(tmp_path / "none"), TOOLFOLD_NODE="/x")
    assert (ran.code, ran.out) == (
        1,
        "Code can't be run here: the engine is not installed.\n→ Run: toolfold code install\n",
    )
    ran = toolfold(tmp_path, "code", "install", "--json", TOOLFOLD_DATA_DIR=str(tmp_path / "none"), PATH="")
    hint = "Install Node.js with npm, and try again."
    assert (ran.code, ran.json()) == (1, {"available": False, "why": "npm was not found", "hint": hint})


def test_check_of_the_configuration_says_what_stands_in_the_way(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": ECHO}, CODE_MODE)
    ran = toolfold(tmp_path, "check", "--json", TOOLFOLD_DATA_DIR=str(tmp_path / "none"), TOOLFOLD_NODE="/x")
    assert [finding["code"] for finding in ran.member("findings")] == ["code_not_available"]
    write_config(tmp_path, {"one": ECHO})
    assert toolfold(tmp_path, "check", "--json", TOOLFOLD_NODE="/x").member("findings") == []


def test_an_engine_that_is_there_is_not_fetched_again(tmp_path: Path, data: Path, runtime: Runtime) -> None:
    ran = toolfold(tmp_path, "code", "install", **variables(data, TOOLFOLD_NPM="/nowhere/npm"))
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Code can be run here.")
