"""What stands between a valid call and its dispatch: the operator's hook, and a person's word."""

import asyncio
import json
import shlex
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult

from server.access import Caller
from server.approvals import MOST_MINUTES, Approvals
from server.asking import MOST_AT_ONCE, MOST_OPEN, OpenQuestions
from server.clearance import Question
from server.config import load
from server.face import ToolRequest
from server.hooks import ANSWERS, AT_A_TIME, MOST_THREADS, Hook, HookAnswer
from tests.support.cli_runs import toolfold
from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import SERVE, environment, open_host, part
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject, process_birth

ADD: JsonObject = {
    "name": "add",
    "description": "Adds.",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


def adder(folder: Path) -> dict[str, dict[str, object]]:
    return {"one": entry(log=str(folder / "log"), tools=[ADD], does={"add": {"do": "echo"}})}


def sent(folder: Path) -> list[object]:
    """The arguments of every call that reached the upstream."""
    messages = [message for message in received(folder / "log") if message.get("method") == "tools/call"]
    return [json.loads(json.dumps(message["params"]))["arguments"] for message in messages]


def command(code: str, seconds: float = 20) -> Hook:
    return Hook((sys.executable, "-c", f"import json, sys, time\nevent = json.load(sys.stdin)\n{code}"), {}, seconds)


EVENT: JsonObject = {
    "id": "mcp:one:add",
    "arguments": {"n": 1},
    "caller": {"profiles": [], "client": "", "owner": True},
}
NO_ANSWER = HookAnswer(is_allowed=False, reason="the operator's hook gave no usable answer")


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print(json.dumps({'decision': 'allow'}))", HookAnswer(is_allowed=True)),
        (
            "print(json.dumps({'decision': 'block', 'reason': event['id'] + '\\x1b[8m'}))",
            HookAnswer(is_allowed=False, reason="mcp:one:add"),
        ),
        (
            "print(json.dumps({'decision': 'allow', 'arguments': {'n': event['arguments']['n'] + 1}}))",
            HookAnswer(is_allowed=True, arguments={"n": 2}),
        ),
        ("print('yes')", NO_ANSWER),
        ("print(json.dumps({'decision': 'allow', 'arguments': 5}))", NO_ANSWER),
        ("print(json.dumps({'decision': 'maybe'}))", NO_ANSWER),
        ("print(json.dumps({'decision': 'allow'})); sys.exit(3)", NO_ANSWER),
        ("print('x' * 2_000_000)", NO_ANSWER),
    ],
)
async def test_a_command_answers_and_what_is_no_answer_blocks(code: str, answer: HookAnswer) -> None:
    assert await command(code)(EVENT) == answer


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        (Hook(("/nowhere/at/all",), {}, 5), "it cannot be started (No such file or directory). See `toolfold check`"),
        (Hook(("",), {}, 5), "the configuration has none that may be run. See `toolfold check`"),
        (command("sys.exit(3)"), "it ended with exit code 3"),
        (command("print('yes')"), f"what it prints is not JSON. {ANSWERS}"),
        (command("print('{}')"), f"it says something else. {ANSWERS}"),
    ],
)
async def test_the_log_says_in_one_line_why_an_answer_cannot_be_used(
    caplog: pytest.LogCaptureFixture, hook: Hook, why: str
) -> None:
    assert await hook(EVENT) == NO_ANSWER
    [record] = caplog.records
    assert (record.getMessage(), record.exc_info) == (f"the beforeCall hook gave no usable answer: {why}", None)


async def test_a_command_that_hangs_or_is_not_there_blocks() -> None:
    late = HookAnswer(is_allowed=False, reason="the operator's hook did not answer in time")
    assert await command("time.sleep(60)", seconds=0.3)(EVENT) == late
    assert await Hook(("/nowhere/at/all",), {}, 5)(EVENT) == NO_ANSWER


STARTS_ANOTHER = """
import os, subprocess
stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(3600)"
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", stubborn])
open({told!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
"""


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("time.sleep(3600)", "the operator's hook did not answer in time"),
        ("print('x' * 2_000_000, flush=True); time.sleep(3600)", "the operator's hook gave no usable answer"),
        ("os._exit(3)", "the operator's hook did not answer in time"),  # its child holds the pipe open
    ],
)
async def test_a_hook_that_does_not_end_is_killed_with_all_that_it_has_started(
    tmp_path: Path, then: str, reason: str
) -> None:
    told = tmp_path / "pids"
    hook = command(STARTS_ANOTHER.format(told=str(told)) + then, seconds=2)
    assert await hook(EVENT) == HookAnswer(is_allowed=False, reason=reason)
    pids = [int(pid) for pid in told.read_text().split()]
    assert len(pids) == 2
    await until(lambda: not any(process_birth(pid) for pid in pids))


async def test_a_call_that_is_given_up_ends_its_hook(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    hook = command(STARTS_ANOTHER.format(told=str(told)) + "time.sleep(3600)", seconds=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hook, EVENT)
        await until(lambda: told.exists() and len(told.read_text().split()) == 2)
        tasks.cancel_scope.cancel()
    pids = [int(pid) for pid in told.read_text().split()]
    await until(lambda: not any(process_birth(pid) for pid in pids))


def plain(event: JsonObject) -> JsonObject:
    return {"decision": "block", "reason": f"not {event['id']}"}


async def awaited(_event: JsonObject) -> JsonObject:
    return {"decision": "allow"}


def failing(_event: JsonObject) -> JsonObject:
    raise ValueError("no")


def exiting(_event: JsonObject) -> JsonObject:
    sys.exit("no")


async def exiting_later(_event: JsonObject) -> JsonObject:
    sys.exit("no")


async def cancelling(_event: JsonObject) -> JsonObject:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("plain", HookAnswer(is_allowed=False, reason="not mcp:one:add")),
        ("awaited", HookAnswer(is_allowed=True)),
        ("failing", NO_ANSWER),
        ("exiting", NO_ANSWER),
        ("exiting_later", NO_ANSWER),
        ("cancelling", NO_ANSWER),
        ("missing", NO_ANSWER),
    ],
)
async def test_a_callable_answers_too(monkeypatch: pytest.MonkeyPatch, function: str, answer: HookAnswer) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert await Hook((f"test_clearance:{function}",), {}, 20)(EVENT) == answer


release = threading.Event()


def hanging(_event: JsonObject) -> JsonObject:
    release.wait(30)
    return {"decision": "allow"}


async def test_a_callable_that_hangs_costs_a_bounded_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    hook, before = Hook(("test_clearance:hanging",), {}, 0.2), threading.active_count()
    answers: list[HookAnswer] = []

    async def ask() -> None:
        answers.append(await hook(EVENT))

    async with anyio.create_task_group() as tasks:
        for _ in range(64):
            tasks.start_soon(ask)
    hang = sys.modules["test_clearance"].release
    hang.set()
    assert {answer.is_allowed for answer in answers} == {False}
    assert answers[-1] == NO_ANSWER
    assert threading.active_count() - before <= MOST_THREADS + AT_A_TIME


@asynccontextmanager
async def hooked(folder: Path, code: str) -> AsyncIterator[Opened]:
    """A gateway whose hook is this program, from a file in a person's own folder."""
    script = folder / "hook.py"
    script.write_text(f"import json, sys\nevent = json.load(sys.stdin)\n{code}\n")
    settings = {"hooks": {"beforeCall": [sys.executable, str(script)], "timeoutMs": 20_000}}
    async with gateway(folder, adder(folder), settings) as opened:
        yield opened


async def test_a_hook_decides_on_every_call_and_its_arguments_are_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    code = (
        "n = event['arguments']['n']\n"
        "answer = {'decision': 'block', 'reason': 'too much'} if n > 9 else {'decision': 'allow'}\n"
        "if n < 0: answer['arguments'] = {'n': 'minus'}\n"
        "if n == 0: answer['arguments'] = {'n': 7}\n"
        "print(json.dumps(answer))"
    )
    async with hooked(tmp_path, code) as opened:
        answers = [await opened.call("mcp:one:add", {"n": n}) for n in (1, 0, 10, -1)]
    assert [error_of(answer)["code"] if "isError" in answer else "" for answer in answers] == [
        "",
        "",
        "blocked_by_hook",
        "invalid_arguments",
    ]
    assert error_of(answers[2])["message"] == "mcp:one:add was not called: too much."
    assert sent(tmp_path) == [{"n": 1}, {"n": 7}]


async def test_a_hook_from_a_projects_file_is_never_run_and_nothing_is_called(tmp_path: Path) -> None:
    async with hooked(
        tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w'); print(json.dumps({{'decision': 'allow'}}))"
    ) as opened:
        assert error_of(await opened.call("mcp:one:add", {"n": 1}))["code"] == "blocked_by_hook"
        [finding] = [finding for finding in opened.settings.findings if finding.code == "hook_not_trusted"]
        assert "such as ~/.config/toolfold/hooks.json" in finding.fix
    assert not (tmp_path / "ran").exists()
    assert sent(tmp_path) == []


def meddling(event: JsonObject) -> JsonObject:
    arguments = event["arguments"]
    assert isinstance(arguments, dict)
    arguments["n"] = "not a number"
    return {"decision": "allow"}


async def test_a_hook_changes_arguments_by_its_answer_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    async with gateway(tmp_path, adder(tmp_path), {"hooks": {"beforeCall": "test_clearance:meddling"}}) as opened:
        assert "isError" not in await opened.call("mcp:one:add", {"n": 1})
    assert sent(tmp_path) == [{"n": 1}]


@pytest.mark.parametrize("hooks", [{"beforeCall": 5}, {"beforeCall": [1]}, "x", {"beforeCall": []}])
def test_a_hook_that_cannot_be_read_lets_no_call_through(tmp_path: Path, hooks: object) -> None:
    path = write_config(tmp_path, {}, {"hooks": hooks})
    settings = load([path], {"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path)
    assert settings.gateway.hooks.before_call == ("",)
    assert "bad_hook" in [finding.code for finding in settings.findings]


ASKING = {"policy": {"ask": ["*:add"]}, "profiles": {"coder": {}}}


async def test_without_a_host_that_can_ask_a_call_is_refused_until_a_person_approves_it(tmp_path: Path) -> None:
    async with gateway(tmp_path, adder(tmp_path), ASKING) as opened:
        [tool] = opened.running.library.snapshot.catalog.tools()
        refused = error_of(await opened.call("mcp:one:add", {"n": 1}))
        assert (refused["code"], refused["hint"]) == (
            "approval_needed",
            "A person can allow it for 10 minutes: toolfold approve mcp:one:add",
        )
        coders = partial(opened.ask, "tool_call", {"id": "add", "args": {"n": 1}}, caller=Caller("coder"))
        assert str(error_of(await coders())["hint"]).endswith("toolfold approve mcp:one:add --profile coder")
        assert error_of(await opened.call("mcp:one:add", {"n": "x"}))["code"] == "invalid_arguments"
        assert sent(tmp_path) == []

        Approvals(tmp_path / "toolfold-state").add(tool, "", 10)
        assert "isError" not in await opened.call("mcp:one:add", {"n": 2})
        assert error_of(await coders())["code"] == "approval_needed"
    assert sent(tmp_path) == [{"n": 2}]


async def test_an_approval_for_one_profile_is_none_for_two_that_are_called_so_together(tmp_path: Path) -> None:
    profiles = {"a": {}, "b": {"clients": ["x"]}, "a,b": {}}
    both, one = Caller("a", client="x"), Caller("a,b")
    async with gateway(tmp_path, adder(tmp_path), {**ASKING, "profiles": profiles}) as opened:
        [tool] = opened.running.library.snapshot.catalog.tools()
        ask = partial(opened.ask, "tool_call", {"id": "add", "args": {"n": 1}})
        assert str(error_of(await ask(caller=one))["hint"]).endswith("--profile 'a\\,b'")
        Approvals(tmp_path / "toolfold-state").add(tool, "a\\,b", 10)
        assert "isError" not in await ask(caller=one)
        assert error_of(await ask(caller=both))["code"] == "approval_needed"


async def test_an_approval_is_for_this_very_tool_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with gateway(tmp_path, adder(tmp_path)) as opened:
        [tool] = opened.running.library.snapshot.catalog.tools()
    approvals, now = Approvals(tmp_path / "state"), [1000.0]
    monkeypatch.setattr("server.approvals.time.time", lambda: now[0])
    assert not approvals.allow(tool, "")
    approvals.add(tool, "", MOST_MINUTES * 9)
    assert approvals.allow(tool, "")
    assert not approvals.allow(replace(tool, definition={**ADD, "description": "Adds, and more."}), "")
    assert not approvals.allow(tool, "coder")
    now[0] += MOST_MINUTES * 60
    assert not approvals.allow(tool, "")
    now[0] = -1e9
    assert not approvals.allow(tool, "")
    (tmp_path / "state" / "approvals.json").write_text("[")
    assert not approvals.allow(tool, "")


def test_the_command_approves_what_the_refusal_names(tmp_path: Path) -> None:
    write_config(tmp_path, adder(tmp_path), ASKING)
    refused = toolfold(tmp_path, "call", "mcp:one:add", "n=1", "--json")
    assert refused.code == 1
    assert "approval_needed" in refused.out + refused.err
    approved = toolfold(tmp_path, *shlex.split("approve mcp:one:add --for 1"))
    assert (approved.code, approved.err) == (0, "mcp:one:add may be run for 1 minute.\n")
    assert toolfold(tmp_path, "call", "mcp:one:add", "n=1").code == 0
    assert sent(tmp_path) == [{"n": 1}]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("mcp:one:add --profile coder", 0, "mcp:one:add may be run for 10 minutes.\n"),
        (
            "mcp:one:free",
            0,
            "mcp:one:free may be run for 10 minutes. It may be run without that, too: no `ask` is about it.\n",
        ),
        ("mcp:one:shut", 1, "toolfold: mcp:one:shut is blocked, and no approval opens it. Take it out of `block`.\n"),
        (
            "mcp:one:add --profile reader",
            1,
            "toolfold: mcp:one:add is not there for profile reader. Its allow, deny or readOnly, or policy.ownerOnly, leave "
            "it out.\n",
        ),
        (
            "mcp:one:add --profile codr",
            4,
            "toolfold: There is no profile 'codr' under gateway.profiles. Those that there are: coder, reader.\n",
        ),
    ],
)
def test_the_command_says_what_an_approval_does_not_change(tmp_path: Path, command: str, code: int, said: str) -> None:
    tools = [{**ADD, "name": name} for name in ("add", "free", "shut")]
    policy = {"ask": ["*:add"], "block": ["*:shut"]}
    profiles: JsonObject = {"coder": {}, "reader": {"readOnly": True}}
    write_config(tmp_path, {"one": entry(tools=tools)}, {"policy": policy, "profiles": profiles})
    ran = toolfold(tmp_path, "approve", *command.split())
    assert (ran.code, ran.err) == (code, said)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_host_that_can_ask_asks_its_person(tmp_path: Path, mode: str) -> None:
    asked: list[str] = []
    answers = [
        ElicitResult(action="accept", content={"allow": True}),
        ElicitResult(action="accept", content={"allow": False}),
        ElicitResult(action="decline"),
    ]

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context
        asked.append(params.message)
        return answers[len(asked) - 1]

    config = write_config(tmp_path, adder(tmp_path), ASKING)
    program, *arguments = SERVE
    server = StdioServerParameters(
        command=program, args=[*arguments, "--config", str(config)], cwd=tmp_path, env=environment(tmp_path)
    )
    with anyio.fail_after(60):
        async with Client(server, mode=mode, elicitation_callback=ask) as client:
            results = [
                await client.call_tool("tool_call", {"id": "mcp:one:add", "args": {"n": n}})
                for n in range(len(answers))
            ]
    assert [result.is_error for result in results] == [False, True, True]
    assert asked == [f'May mcp:one:add be run with {{"n": {n}}}?' for n in range(len(answers))]
    assert sent(tmp_path) == [{"n": 0}]


NO_ANSWERS = [
    {"action": "maybe"},
    {},
    {"action": "accept", "content": [True]},
    {"action": "accept", "content": {"allow": "true"}},
    {"action": "accept", "content": {"allow": 1}},
    {"action": "accept", "content": {"allow": True, "besides": {"deep": 1}}},
]


async def test_whatever_a_host_says_instead_of_an_answer_is_a_refusal_in_words(tmp_path: Path) -> None:
    async with open_host(write_config(tmp_path, adder(tmp_path), ASKING), era="ungreeted") as host:
        await host.greet(capabilities={"elicitation": {}})
        for count, answer in enumerate(NO_ANSWERS, 1):
            number = await host.post_call("tool_call", {"id": "mcp:one:add", "args": {"n": 1}})
            question = await host.notified("elicitation/create", count)
            await host.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": answer}).encode() + b"\n")
            refused = part(await host.answer(number), "result")
            assert error_of(refused)["code"] == "approval_needed"
    assert sent(tmp_path) == []


async def test_a_person_is_asked_few_questions_at_a_time_and_none_for_a_call_that_was_given_up(tmp_path: Path) -> None:
    async with open_host(write_config(tmp_path, adder(tmp_path), ASKING), era="ungreeted") as host:
        await host.greet(capabilities={"elicitation": {}})
        numbers = [await host.post_call("tool_call", {"id": "mcp:one:add", "args": {"n": n}}) for n in range(20)]
        questions = [await host.notified("elicitation/create", times) for times in range(1, MOST_AT_ONCE + 1)]
        texts = [str(part(question, "params")["message"]) for question in questions]
        asked = [n for text in texts for n in range(20) if f'{{"n": {n}}}' in text]
        refused = [part(await host.answer(numbers[n]), "result") for n in range(20) if n not in asked]
        assert {str(error_of(answer)["code"]) for answer in refused} == {"approval_needed"}
        await host.say("notifications/cancelled", {"requestId": numbers[asked[0]]})
        yes = {"action": "accept", "content": {"allow": True}}
        await host.write(json.dumps({"jsonrpc": "2.0", "id": questions[0]["id"], "result": yes}).encode() + b"\n")
        last = await host.post_call("tool_call", {"id": "mcp:one:add", "args": {"n": 20}})
        question = await host.notified("elicitation/create", MOST_AT_ONCE + 1)
        await host.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": yes}).encode() + b"\n")
        assert "isError" not in part(await host.answer(last), "result")
        assert len([one for one in host.received if one.get("method") == "elicitation/create"]) == MOST_AT_ONCE + 1
    assert sent(tmp_path) == [{"n": 20}]


async def test_a_question_stands_for_its_caller_too(tmp_path: Path) -> None:
    async with gateway(tmp_path, adder(tmp_path), ASKING) as opened:
        questions: list[Question] = []

        async def ask(question: Question) -> bool:
            questions.append(question)
            return False

        for caller in (Caller(session="anne"), Caller(session="ben")):
            call = ToolRequest("tool_call", {"id": "mcp:one:add", "args": {"n": 1}}, {}, caller, ask)
            assert error_of(await opened.face.call_tool(call))["code"] == "approval_needed"
    assert questions[0].message == questions[1].message
    assert questions[0].digest != questions[1].digest


def test_an_answer_counts_once_and_for_the_question_that_was_asked() -> None:
    questions, one, other = OpenQuestions(), Question("?", "1"), Question("?", "2")
    yes = {"toolfold_approval": {"action": "accept", "content": {"allow": True}}}
    state = questions.put(one)["requestState"]
    assert questions.answer(other, {"requestState": state, "inputResponses": yes}) is None
    assert questions.answer(one, {"requestState": state, "inputResponses": yes}) is None
    state = questions.put(one)["requestState"]
    assert questions.answer(one, {"requestState": state, "inputResponses": yes}) is True
    assert questions.answer(one, {"requestState": state, "inputResponses": yes}) is None
    first = questions.put(one)["requestState"]
    for _ in range(MOST_OPEN):
        questions.put(other)
    assert questions.answer(one, {"requestState": first, "inputResponses": yes}) is None
