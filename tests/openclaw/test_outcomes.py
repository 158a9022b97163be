"""What a call comes to: results, soft failures, and an error of its own for each status, saying what to do."""

import anyio

from tests.support.fleets import fleet_of, outcome
from tests.support.openclaw_gateway import (
    VERSION,
    Answer,
    Call,
    FakeGateway,
    Reply,
    openclaw_gateway,
    refusal,
    result,
)
from tests.support.openclaw_specs import spec_of
from upstream_clients import JsonObject, Patience, State, UpstreamError, UpstreamTimeout


async def comes_to(answer: Answer, name: str = "llm-task") -> JsonObject | UpstreamError:
    async with openclaw_gateway(answers={name: answer}) as there, fleet_of(spec_of(there)) as (fleet, _):
        return await outcome(fleet, "openclaw", name)


def error(kind: str, message: str, **beside: object) -> JsonObject:
    return {"ok": False, "error": {"type": kind, "message": message, **beside}}


SOFT: tuple[tuple[JsonObject, object], ...] = (
    ({"status": "error", "error": "No session found"}, True),
    ({"status": "forbidden", "error": "restricted"}, True),
    ({"status": "timeout", "runId": "1"}, True),
    ({"status": "accepted", "runId": "1"}, None),
    ({"json": 1}, None),
)


async def test_details_are_structured_content_and_a_soft_failure_is_an_error() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, _):
        for details, is_error in SOFT:
            there.answers["llm-task"] = result(details, "text")
            came = await outcome(fleet, "openclaw", "llm-task")
            assert isinstance(came, dict)
            shown = (came["structuredContent"], came["content"], came.get("isError"))
            assert shown == (details, [{"type": "text", "text": "text"}], is_error)


async def test_details_that_are_no_object_are_left_to_the_text() -> None:
    assert await comes_to(result([1], "text")) == {"content": [{"type": "text", "text": "text"}]}


STATUSES: tuple[tuple[int, object, str, str, str, bool], ...] = (
    (400, error("tool_error", "sessionKey required"), "invalid_arguments", "The tool refuses", "description", False),
    (400, error("invalid_request", 'Unknown agent id "zz"'), "invalid_arguments", 'Unknown agent id "zz"', "Correct", False),
    (403, error("tool_call_blocked", "ask", requiresApproval=True), "approval_needed", "approved first", "A person", False),
    (403, error("tool_call_blocked", "no", requiresApproval=False), "call_blocked", "not let this call", "policy", False),
    (404, error("not_found", "Tool not available: x"), "tool_unavailable", "no tool llm-task", "gateway.tools.allow", False),
    (404, "nothing", "upstream_protocol", "no OpenClaw Gateway", '"url"', False),
    (405, "Method Not Allowed", "upstream_protocol", "does not take calls", '"url"', False),
    (408, {}, "upstream_timeout", "HTTP 408", "Try again", False),
    (413, {"error": {"message": "Payload too large"}}, "arguments_too_large", "HTTP 413", "2 MiB", False),
    (429, {}, "upstream_busy", "too many requests", "Try again later", False),
    (500, error("tool_error", "tool execution failed"), "tool_failed", "only in its log", "allowModelOverride", True),
    (503, {"error": {"message": "x", "type": "unavailable"}}, "upstream_busy", "drains", "Try again later", False),
    (302, {}, "upstream_protocol", "none of OpenClaw's (HTTP 302)", '"url"', True),
)  # fmt: skip


async def test_each_status_has_an_error_of_its_own_that_says_what_to_do() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, _):
        for status, body, code, message, hint, ran in STATUSES:
            await fleet.settled(["openclaw"])
            there.answers["llm-task"] = refusal(status, body)
            came = await outcome(fleet, "openclaw", "llm-task")
            assert isinstance(came, UpstreamError)
            assert (came.code, came.ran, message in came.message, hint in came.hint) == (code, ran, True, True), status


async def test_a_token_that_is_not_accepted_ends_the_connection() -> None:
    refused = refusal(401, {"error": {"message": "Unauthorized", "type": "unauthorized"}})
    async with openclaw_gateway(answers={"llm-task": refused}) as there, fleet_of(spec_of(there)) as (fleet, witness):
        came = await outcome(fleet, "openclaw", "llm-task")
        status = await witness.until_state("openclaw", State.DOWN)
    assert isinstance(came, UpstreamError)
    assert (came.code, came.ran) == ("upstream_unauthorized", False)
    assert "OPENCLAW_GATEWAY_TOKEN" in came.hint
    assert status.error == "OpenClaw does not accept the token (HTTP 401)"


def test_no_two_statuses_sound_alike() -> None:
    assert len({(code, message) for _, _, code, message, _, _ in STATUSES}) == len(STATUSES)


async def test_a_wait_that_the_gateway_names_is_waited_and_the_call_made_again() -> None:
    tries: list[Call] = []

    async def busy_once(call: Call, reply: Reply) -> None:
        tries.append(call)
        again = result({"json": 1}) if len(tries) > 1 else refusal(429, {}, {"retry-after": "0"})
        await again(call, reply)

    came = await comes_to(busy_once)
    assert isinstance(came, dict)
    assert came["structuredContent"] == {"json": 1}
    assert len(tries) == 2


async def test_a_wait_longer_than_the_patience_is_told_instead() -> None:
    came = await comes_to(refusal(429, {}, {"retry-after": "300"}))
    assert isinstance(came, UpstreamError)
    assert came.hint == "Try again in 300 s."


async def test_a_tool_that_is_not_found_is_marked_until_the_gateway_has_changed() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, witness):
        await outcome(fleet, "openclaw", "llm-task")
        await witness.until(lambda: len(witness.listings) >= 2)
        there.answers["llm-task"] = result({"json": 1})
        await there.emit("plugins.changed", {})
        await witness.until(lambda: len(witness.listings) >= 3)
        reasons = [
            {str(tool["name"]): tool["_meta"] for tool in listing.tools}["llm-task"] for listing in witness.listings[:3]
        ]
    why = 'OpenClaw has answered that it is not available (404). To open it, add "llm-task" to gateway.tools.allow'
    assert reasons[0] == reasons[2]
    assert isinstance(reasons[1], dict)
    assert str(reasons[1]["toolfold/unavailable"]).startswith(why)


async def until_called(there: FakeGateway, name: str) -> None:
    await there.until(lambda: bool(there.called(name)))


async def test_a_call_that_is_cancelled_closes_its_request() -> None:
    left = anyio.Event()

    async def endless(_call: Call, reply: Reply) -> None:
        await reply.left()
        left.set()

    async with openclaw_gateway(answers={"llm-task": endless}) as there, fleet_of(spec_of(there)) as (fleet, _):
        await fleet.settled(["openclaw"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcome, fleet, "openclaw", "llm-task")
            await until_called(there, "llm-task")
            tasks.cancel_scope.cancel()
        await left.wait()


SHORT = Patience(idle=0.2, total=0.2)


async def test_an_answer_that_comes_too_late_is_not_waited_for() -> None:
    async def late(_call: Call, reply: Reply) -> None:
        await reply.left()

    async with (
        openclaw_gateway(answers={"llm-task": late}) as there,
        fleet_of(spec_of(there, patience=SHORT)) as (fleet, _),
    ):
        await fleet.settled(["openclaw"])
        came = await outcome(fleet, "openclaw", "llm-task")
        there.answers["llm-task"] = result({"json": 1})
        again = await outcome(fleet, "openclaw", "llm-task")
    assert isinstance(came, UpstreamTimeout)
    assert came.ran
    assert isinstance(again, dict)


async def test_a_request_that_is_cut_may_have_run_and_costs_no_other() -> None:
    async def cut(_call: Call, reply: Reply) -> None:
        reply.cut()

    answers = {"llm-task": cut, "session_status": result({"ok": True})}
    async with openclaw_gateway(answers=answers) as there, fleet_of(spec_of(there)) as (fleet, _):
        came = await outcome(fleet, "openclaw", "llm-task")
        other = await outcome(fleet, "openclaw", "session_status")
        (status,) = fleet.statuses()
    assert isinstance(came, UpstreamError)
    assert (came.code, came.ran) == ("upstream_gone", True)
    assert isinstance(other, dict)
    assert status.state is State.READY


async def test_an_answer_of_25_mib_is_refused_alone() -> None:
    async def huge(_call: Call, reply: Reply) -> None:
        text = b"x" * (25 * 1024 * 1024)
        content = b'{"ok":true,"result":{"content":[{"type":"text","text":"' + text + b'"}]}}'
        await reply.whole(200, content, {"content-type": "application/json"})

    answers = {"llm-task": huge, "session_status": result({"ok": True})}
    async with openclaw_gateway(answers=answers) as there, fleet_of(spec_of(there)) as (fleet, _):
        came = await outcome(fleet, "openclaw", "llm-task")
        other = await outcome(fleet, "openclaw", "session_status")
    assert isinstance(came, UpstreamError)
    assert (came.code, came.hint, came.ran) == ("upstream_protocol", "Raise gateway.limits.lineBytes.", True)
    assert isinstance(other, dict)


async def test_an_answer_that_is_none_is_not_taken_for_one() -> None:
    bodies = [b'{"ok":true,"result":NaN}', b'{"ok":true}', b"not json", b"[]", b""]

    async def odd(_call: Call, reply: Reply) -> None:
        await reply.whole(200, bodies.pop(), {"content-type": "application/json"})

    async with openclaw_gateway(answers={"llm-task": odd}) as there, fleet_of(spec_of(there)) as (fleet, _):
        while bodies:
            came = await outcome(fleet, "openclaw", "llm-task")
            assert isinstance(came, UpstreamError)
            assert (came.code, came.ran) == ("upstream_protocol", True)


def test_the_stand_in_is_of_the_version_that_the_bundle_was_taken_from() -> None:
    from upstream_clients.openclaw.bundled import read_bundle

    assert read_bundle().version == VERSION
