"""Neither the token nor a grant's turns up anywhere: not in logs, errors, statuses, descriptions, nor in a process list."""

import json
import logging
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread
import pytest

from server.status import describe_state
from tests.support.cli_runs import Ran, running, toolfold
from tests.support.gateways import gateway
from tests.support.openclaw_gateway import GRANTED, TOKEN, Call, Refuse, Reply, openclaw_gateway, refusal, result, tool
from tests.support.upstreams import write_config
from upstream_clients import JsonObject, State

SECRETS: Final = (TOKEN, GRANTED)
BY_NAME: Final = {"token": "${POND_TOKEN}"}


def assert_hidden(*shown: object) -> None:
    for one in shown:
        text = one if isinstance(one, str) else json.dumps(one, default=repr)
        assert not [secret for secret in SECRETS if secret in text], text


@pytest.fixture(autouse=True)
def the_secret_is_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POND_TOKEN", TOKEN)


async def test_whatever_fails_and_at_whatever_log_level(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"ok": False, "error": {"type": "tool_error", "message": f"your token is {TOKEN}"}}

    async def cut(_call: Call, reply: Reply) -> None:
        reply.cut()

    answers = {
        "llm-task": refusal(400, echo), "session_status": refusal(403, echo), "sessions_list": refusal(500, echo),
        "subagents": cut, "pond_depth": refusal(429, echo, {"retry-after": "999"}),
    }  # fmt: skip
    async with (
        openclaw_gateway(answers=answers, loopback=[]) as there,
        gateway(tmp_path, {}, {"openclaw": {"url": there.url, **BY_NAME}}) as opened,
    ):
        tools = opened.running.library.snapshot.catalog.reachable()
        calls = [await opened.call(tool.id, {"prompt": "x"}) for tool in tools]
        described = [await opened.describe(tool.id) for tool in tools]
        assert there.valid_grants
        there.refuses_greeting = Refuse("INVALID_REQUEST", f"bad {TOKEN}", details={"code": "AUTH_TOKEN_MISMATCH"})
        await there.stop()
        await there.start()
        await opened.until_state("openclaw", State.DOWN)
        shown = [describe_state(opened.running), opened.running.statuses(), opened.settings, repr(opened.running.fleet)]
    assert [call.get("isError") for call in calls] == [True] * len(tools)
    assert_hidden(calls, described, shown, caplog.text, *(repr(record.args) for record in caplog.records))


async def test_a_gateway_that_repeats_the_token_in_a_result_or_a_description_does_not_spread_it(tmp_path: Path) -> None:
    failed = result({"status": "error", "error": f"used {TOKEN}"}, f"used {TOKEN}")
    told = result({"key": TOKEN, "parts": [{TOKEN: 1}]}, f"my token is {TOKEN}")
    answers = {"llm-task": failed, "session_status": told}
    described_with_it = tool("session_status", f"Ask with {TOKEN}.", inputSchema={"type": "object"})
    async with (
        openclaw_gateway(answers=answers, loopback=[described_with_it]) as there,
        gateway(tmp_path, {}, {"openclaw": {"url": there.url, **BY_NAME}}) as opened,
    ):
        shown = [await opened.call("openclaw:llm-task:llm-task", {"prompt": "x"})]
        shown.append(await opened.call("openclaw:core:session_status"))
        shown.append(await opened.describe("openclaw:core:session_status"))
    stored = [path.read_text("utf-8") for path in (tmp_path / "toolfold-cache").rglob("*.json")]
    assert "used [redacted]" in json.dumps(shown[0])
    assert_hidden(shown, *stored)


async def run(folder: Path, *arguments: str) -> Ran:
    return await anyio.to_thread.run_sync(partial(toolfold, folder, *arguments))


async def test_the_command_line_treats_a_gateway_like_any_upstream_and_hides_its_token(tmp_path: Path) -> None:
    async with openclaw_gateway(answers={"llm-task": result({"json": 1})}) as there:
        config: JsonObject = {"url": there.url, "allow": "session_spawn", **BY_NAME}
        write_config(tmp_path, {}, {"openclaw": config, "log": {"level": "debug"}})
        probed = await run(tmp_path, "check", "--probe", "--json")
        listed = await run(tmp_path, "list", "openclaw")
        called = await run(tmp_path, "call", "openclaw:llm-task:llm-task", "prompt=x", "--json")
        closed = await run(tmp_path, "call", "openclaw:core:sessions_send", "message=x", "--json")
        shown = await run(tmp_path, "config", "show", "--json")
    ((finding,), (upstream,)) = probed.member("findings"), probed.member("upstreams")
    assert (finding["code"], finding["fix"]) == ("unknown_tool", "Did you mean `sessions_spawn`?")
    assert (upstream["upstream"], upstream["state"]) == ("openclaw", "ready")
    lines = {line.split()[0]: line for line in listed.out.splitlines() if line.startswith("openclaw:")}
    assert "unavailable: direct-only in OpenClaw" in lines["openclaw:core:sessions_yield"]
    assert "unavailable" not in lines["openclaw:llm-task:llm-task"]
    assert [ran.code for ran in (listed, called, shown, closed)] == [0, 0, 0, 12]
    assert closed.error()["code"] == "tool_unavailable"
    assert shown.json()["gateway"]["openclaw"]["token"] == "[redacted]"  # type: ignore[index]
    assert_hidden(*(ran.out + ran.err for ran in (probed, listed, called, closed, shown)))


async def test_a_gateway_that_refuses_the_token_is_a_finding_that_does_not_show_it(tmp_path: Path) -> None:
    refused = Refuse("INVALID_REQUEST", f"unauthorized {TOKEN}", details={"code": "AUTH_TOKEN_MISMATCH"})
    async with openclaw_gateway(refuses_greeting=refused) as there:
        write_config(tmp_path, {}, {"openclaw": {"url": there.url, **BY_NAME}})
        ran = await run(tmp_path, "check", "--probe", "--json")
    (finding,) = ran.member("findings")
    assert (ran.code, finding["code"]) == (1, "does_not_start")
    assert finding["message"] == "It does not start: OpenClaw does not accept the token (AUTH_TOKEN_MISMATCH)."
    assert_hidden(ran.out + ran.err)


async def test_no_process_has_it_on_its_command_line(tmp_path: Path) -> None:
    async with openclaw_gateway() as there:
        write_config(tmp_path, {}, {"openclaw": {"url": there.url, **BY_NAME}, "log": {"level": "debug"}})
        with running(tmp_path, "serve") as process:
            await there.until(lambda: bool(there.asked_for("tools.effective")))
            lines = [path.read_bytes().decode() for path in _command_lines(process.pid)]
            status = await run(tmp_path, "status", "--json")
    assert lines
    assert_hidden(*lines, status.out)
    assert '"openclaw"' in status.out


def _command_lines(pid: int) -> list[Path]:
    """Of the process and all its children."""
    found = [Path("/proc", str(pid), "cmdline")]
    for child in Path("/proc", str(pid), "task", str(pid), "children").read_text().split():
        found += _command_lines(int(child))
    return found
