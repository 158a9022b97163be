"""One secret in each place where an upstream's may be, upstreams that repeat theirs in every field, and where none turns up.

The results of successful calls are the exception: they are the tool's own, and are never rewritten.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.support.cli_runs import Ran, toolfold
from tests.support.hosts import ENVELOPE, MODERN_VERSION
from tests.support.http_gateways import HttpGateway, http_client, open_http_gateway
from tests.support.http_stub import Reply, Request, http_stub, refusal, result, status, tool
from tests.support.processes import PROC, descendants
from tests.support.upstreams import entry
from upstream_clients import JsonObject

STUB: Final = Path(__file__).parents[1] / "support" / "repeating_server.py"
BEARER: Final = "canary-bearer-0123456789abcdef"
KEPT: Final = {
    "env": "canary-env/7d11",
    "file": "canary-file+2c90",
    "input": "canary-input=ab55",
    "argument": "canary-argument-90aa",
    "header": "canary-header-31f7",
    "userinfo": "canary-userinfo-88e2",
    "query": "canary-query-64b0",
}
"""By the place where each is written."""

REMOTE: Final = f"{KEPT['header']} {KEPT['userinfo']} {KEPT['query']}"
CALLS: Final = ("fail", "refuse", "progress", "odd", "crash", "babble")


def found(text: str, *but: str) -> list[str]:
    """The places whose secret is in the text."""
    kept = {**KEPT, "bearer": BEARER}
    return [place for place, value in kept.items() if place not in but and value in text]


@dataclass(slots=True)
class Observed:
    """All that could be seen of one gateway's life."""

    answers: dict[str, str] = field(default_factory=dict)
    succeeded: str = ""
    stderr: str = ""
    files: dict[str, str] = field(default_factory=dict)
    command_lines: dict[str, str] = field(default_factory=dict)
    environments: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    commands: dict[str, Ran] = field(default_factory=dict)


def servers(folder: Path, url: str) -> JsonObject:
    """An ordinary upstream that is given secrets, one that ends at its start, one at an address, and one that has none."""
    (folder / "secrets.env").write_text(f"REPEAT_FILE_TOKEN={KEPT['file']}\n")
    (folder / "secrets.env").chmod(0o600)
    env = {"REPEAT_API_KEY": KEPT["env"], "REPEAT_INPUT_SECRET": "${input:answer}"}
    given = {"command": sys.executable, "env": env, "envFile": "secrets.env"}
    own = ["-I", "-S", str(STUB), "--api-key", KEPT["argument"]]
    return {
        "repeats": {**given, "args": own},
        "ends": {**given, "args": own, "env": {**env, "FAILS_TO_START": "1"}},
        "far": {"url": url, "headers": {"Authorization": f"Bearer {KEPT['header']}"}},
        "plain": entry(does={"environment": {"do": "environment"}}, log=str(folder / "plain.log")),
    }


def remote_answers() -> dict[str, object]:
    async def call(request: Request, reply: Reply) -> None:
        failed: JsonObject = {
            "content": [{"type": "text", "text": REMOTE}],
            "isError": True,
            "structuredContent": {"x": REMOTE},
        }
        answers = {
            "fail": result(failed),
            "refuse": refusal(200, -32000, REMOTE),
            "odd": status(403, REMOTE.encode()),
            "progress": status(500, REMOTE.encode(), x_error=REMOTE),
            "crash": status(302, REMOTE.encode(), location=f"/elsewhere?x={KEPT['query']}"),
            "babble": status(200, REMOTE.encode(), REMOTE),
        }
        await answers[request.name](request, reply)

    about = {"name": REMOTE, "version": REMOTE}
    greeting: JsonObject = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": about,
        "instructions": REMOTE,
    }
    return {"tools/call": call, "initialize": result(greeting, **{"mcp-session-id": "s"})}


async def ask(client: httpx2.AsyncClient, url: str, method: str, params: Mapping[str, object]) -> str:
    """All that is answered, progress included."""
    headers = {"mcp-protocol-version": MODERN_VERSION, "mcp-method": method}
    if "name" in params:
        headers["mcp-name"] = str(params["name"])
    meta = {**ENVELOPE, "progressToken": 7}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return (await client.post(url, json=body, headers=headers)).text


async def conversed(served: HttpGateway, seen: Observed) -> None:
    async with http_client(BEARER) as client:

        async def told(what: str, name: str, **arguments: object) -> str:
            answer = await ask(client, served.url, "tools/call", {"name": name, "arguments": arguments})
            seen.answers[what] = answer
            return answer

        with anyio.fail_after(60):
            while "starting" in await told("search", "tool_search", query="repeats", limit=20):  # noqa: ASYNC110
                await anyio.sleep(0.05)
            seen.answers["list"] = await ask(client, served.url, "tools/list", {})
            seen.answers["batch"] = await told("batch", "tool_search", queries=["repeats", "environment"])
            for owner in ("repeats", "far"):
                for name in CALLS:
                    await told(f"describe {owner} {name}", "tool_describe", id=f"mcp:{owner}:{name}")
                    await told(f"call {owner} {name}", "tool_call", id=f"mcp:{owner}:{name}", args={})
                    await told(f"wrong {owner} {name}", "tool_call", id=f"mcp:{owner}:{name}", args={"none": 1})
            await told("call of one that ends", "tool_call", id="mcp:ends:fail", args={})
            seen.succeeded = await ask(
                client, served.url, "tools/call", {"name": "tool_call", "arguments": {"id": "mcp:repeats:succeed"}}
            )
            await told("environment", "tool_call", id="mcp:plain:environment")
    async with http_client("another token, not the right one") as client:
        seen.answers["refused"] = await ask(client, served.url, "tools/list", {})


def processes(pid: int) -> dict[str, tuple[str, str]]:
    """Command line and environment of the gateway and all below it, by what they are."""
    read: dict[str, tuple[str, str]] = {}
    for one in sorted({pid, *descendants(pid)}):
        try:
            command, env = (
                (PROC / str(one) / name).read_bytes().decode(errors="replace") for name in ("cmdline", "environ")
            )
        except OSError:
            continue
        kind = "gateway" if one == pid else "upstream" if STUB.name in command else "other"
        read[f"{kind} {one}"] = command, env
    return read


@pytest.fixture(scope="module")
async def seen(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder, seen = tmp_path_factory.mktemp("canary"), Observed()
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(BEARER)
    async with http_stub(remote_answers()) as stub:  # type: ignore[arg-type]
        stub.tools = [tool(name, description=f"Repeats {REMOTE} as {name} does.", title=REMOTE) for name in CALLS]
        url = stub.url.replace("//", f"//me:{KEPT['userinfo']}@") + f"?api_key={KEPT['query']}"
        document = {
            "mcpServers": servers(folder, url),
            "inputs": [{"id": "answer", "type": "promptString", "password": True}],
            "gateway": {"log": {"level": "debug"}, "limits": {"callIdleMs": 5000}},
        }
        (folder / "mcp.json").touch(mode=0o600)
        (folder / "mcp.json").write_text(json.dumps(document))
        answer = {"TOOLFOLD_INPUT_ANSWER": KEPT["input"]}
        async with open_http_gateway(
            folder / "mcp.json", "--token-file", str(folder / "token"), added=answer
        ) as served:
            await conversed(served, seen)
            for name, (command, env) in processes(served.process.pid).items():
                seen.command_lines[name], seen.environments[name] = command, env
            await commanded(folder, seen, answer)
            served.process.terminate()
            await served.ended()
        seen.stderr, seen.requests = served.stderr, stub.seen
    for place in ("toolfold-cache", "toolfold-state"):
        for path in (folder / place).rglob("*"):
            if path.is_file():
                seen.files[str(path.relative_to(folder))] = path.read_bytes().decode(errors="replace")
    return seen


COMMANDS: Final = (
    ("status", "--json"),
    ("list", "--json", "--all"),
    ("list", "--all"),
    ("search", "repeats", "--json", "--explain"),
    ("describe", "mcp:repeats:fail"),
    ("call", "mcp:repeats:fail", "--json"),
    ("call", "mcp:far:refuse"),
    ("check", "--probe", "--json"),
    ("config", "show", "--json"),
    ("trust", "--json"),
    ("log", "--json"),
    ("stats",),
)
"""Each takes a second or more."""


async def commanded(folder: Path, seen: Observed, answer: Mapping[str, str]) -> None:
    places = {f"TOOLFOLD_{kind.upper()}_DIR": str(folder / f"toolfold-{kind}") for kind in ("cache", "state")}
    for command in COMMANDS:
        run = partial(toolfold, folder, *command, **places, **answer)
        seen.commands[" ".join(command)] = await anyio.to_thread.run_sync(run)


async def test_no_answer_has_one(seen: Observed) -> None:
    assert {what: found(answer) for what, answer in seen.answers.items() if found(answer)} == {}
    assert "[redacted]" in seen.answers["search"]
    for owner in ("repeats", "far"):
        assert "[redacted]" in seen.answers[f"describe {owner} fail"]
        assert "[redacted]" in seen.answers[f"call {owner} fail"]
        assert "[redacted]" in seen.answers[f"call {owner} refuse"]
    assert "[redacted]" in seen.answers["call repeats progress"]


async def test_the_result_of_a_successful_call_is_the_tools_own(seen: Observed) -> None:
    assert found(seen.succeeded) == ["env", "file", "input"]


async def test_no_line_of_the_log_has_one_at_debug_level(seen: Observed) -> None:
    assert "toolfold DEBUG" in seen.stderr
    assert found(seen.stderr) == []


async def test_no_file_has_one(seen: Observed) -> None:
    assert {path.split(os.sep)[1] for path in seen.files} >= {"listings", "pins", "sessions"}
    assert {path: found(text) for path, text in seen.files.items() if found(text)} == {}


async def test_no_command_prints_one(seen: Observed) -> None:
    assert {line: found(ran.out + ran.err) for line, ran in seen.commands.items() if found(ran.out + ran.err)} == {}
    assert {line: ran.code for line, ran in seen.commands.items() if "Traceback" in ran.err} == {}
    assert "mcp:repeats:fail" in seen.commands["list --json --all"].out


async def test_no_process_but_its_own_upstream_has_one(seen: Observed) -> None:
    """What the operator gives the gateway in a variable, the gateway has; nobody below it is handed that on."""
    assert {name.split()[0] for name in seen.command_lines} == {"gateway", "upstream", "other"}
    for name, command in seen.command_lines.items():
        assert found(command, *(["argument"] if name.startswith("upstream") else [])) == [], name
    for name, environment in seen.environments.items():
        allowed = {"gateway": ["input"], "upstream": ["env", "file", "input"], "other": []}[name.split()[0]]
        assert found(environment, *allowed) == [], name


async def test_no_upstream_is_shown_what_the_host_came_in_with_or_another_was_given(seen: Observed) -> None:
    requests = [json.dumps([request.path, dict(request.headers), request.message]) for request in seen.requests]
    assert requests
    assert {place for text in requests for place in found(text)} <= {"header", "query", "userinfo"}
    assert all(request.headers.get("authorization") == f"Bearer {KEPT['header']}" for request in seen.requests)
    assert found(seen.answers["environment"]) == []
