"""One session with an HTTP server: how it is kept, renewed, listened to and ended."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from itertools import count

import anyio
import pytest

from tests.support.endpoints import endpoint_spec
from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.http_stub import (
    SESSION,
    Answer,
    Reply,
    Request,
    echo,
    events,
    http_stub,
    refusal,
    result,
    silence,
    status,
    tool,
)
from upstream_clients import JsonObject, State, UpstreamError

STREAM = {"content-type": "text/event-stream"}


def note(method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})


async def test_the_session_and_the_version_are_told_with_every_message() -> None:
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
        await fleet.call("a", "echo", {}, {})
    told = {
        request.what: (request.headers.get("mcp-session-id"), request.headers.get("mcp-protocol-version"))
        for request in stub.seen
        if request.what != "GET"
    }
    assert told == {
        "initialize": (None, None),
        "notifications/initialized": (SESSION, "2025-06-18"),
        "tools/list": (SESSION, "2025-06-18"),
        "tools/call": (SESSION, "2025-06-18"),
        "DELETE": (SESSION, "2025-06-18"),
    }


async def test_an_address_that_nobody_uses_is_left_and_greeted_again_for_the_next_call() -> None:
    async with http_stub() as stub:
        sleepy = replace(endpoint_spec("a", stub.url), lazy=True, idle_stop_seconds=0.2)
        async with fleet_of(sleepy) as (fleet, witness):
            for times in (1, 2):
                assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
                await witness.until(lambda: witness.states("a").count(State.ASLEEP) == times)  # noqa: B023
    assert [what for what in stub.whats() if what not in ("GET", "notifications/initialized")] == [
        "initialize", "tools/list", "tools/call", "DELETE", "initialize", "tools/list", "tools/call", "DELETE",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "gone",
    [
        status(404),
        refusal(404, -32600, "Session terminated"),
        refusal(404, -32001, "Session not found"),
        refusal(200, -32600, "Session terminated"),
        refusal(400, -32000, "Bad Request: No valid session ID provided"),
    ],
)
async def test_a_session_that_died_is_renewed_and_the_call_is_sent_once_more(gone: Answer) -> None:
    async with (
        http_stub({"tools/call": [gone, echo]}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness),
    ):
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
        assert State.DOWN not in witness.states("a")
    assert [what for what in stub.whats() if what not in ("GET", "notifications/initialized")] == [
        "initialize", "tools/list", "tools/call", "initialize", "tools/list", "tools/call", "DELETE",
    ]  # fmt: skip


async def test_many_calls_of_a_session_that_died_are_each_sent_once_more() -> None:
    sessions = count(1)
    ran: list[str] = []

    async def welcome(request: Request, reply: Reply) -> None:
        welcome = result(
            {"protocolVersion": "2025-06-18", "capabilities": {}}, **{"mcp-session-id": f"s{next(sessions)}"}
        )
        await welcome(request, reply)

    async def of_the_second(request: Request, reply: Reply) -> None:
        if request.headers["mcp-session-id"] == "s1":
            await status(404)(request, reply)
        else:
            ran.append(request.name)
            await echo(request, reply)

    async with (
        http_stub({"initialize": welcome, "tools/call": of_the_second}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness),
    ):
        await witness.until_state("a", State.READY)
        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(outcome, fleet, "a", f"t{number}")
    assert sorted(ran) == [f"t{number}" for number in range(10)]
    assert stub.count("initialize") == 2


async def test_a_call_that_may_have_run_is_not_sent_again_when_its_session_dies() -> None:
    async with http_stub() as stub:

        async def by_name(request: Request, reply: Reply) -> None:
            await (silence if request.name == "slow" else status(404))(request, reply)

        stub.answers["tools/call"] = by_name
        outcomes: list[JsonObject | UpstreamError] = []
        async with fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness):
            await witness.until_state("a", State.READY)

            async def slow() -> None:
                outcomes.append(await outcome(fleet, "a", "slow"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(slow)
                await stub.until(lambda: stub.count("tools/call") == 1)
                await outcome(fleet, "a", "other")
    (failed,) = outcomes
    assert isinstance(failed, UpstreamError)
    assert failed.ran
    assert [request.name for request in stub.seen if request.what == "tools/call"].count("slow") == 1


async def test_a_cancelled_call_is_cancelled_upstream_and_its_exchange_is_cut() -> None:
    async with http_stub({"tools/call": silence}) as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness):
        await witness.until_state("a", State.READY)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fleet.call, "a", "echo", {}, {})
            await stub.until(lambda: stub.count("tools/call") == 1)
            tasks.cancel_scope.cancel()
        await stub.until(lambda: stub.count("notifications/cancelled") == 1 and stub.cut != [])
        call = next(request for request in stub.seen if request.what == "tools/call")
        cancelled = next(request for request in stub.seen if request.what == "notifications/cancelled")
        assert cancelled.message["params"] == {"requestId": call.message["id"], "reason": "no longer awaited"}
        assert [request.what for request in stub.cut] == ["tools/call"]
        stub.answers.clear()
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


async def test_progress_on_the_answers_stream_keeps_a_call_alive() -> None:
    async def slow(request: Request, reply: Reply) -> None:
        await reply.head(200, STREAM)
        for step in range(6):
            token = request.message["params"]["_meta"]["progressToken"]  # type: ignore[index]
            await reply.event(note("notifications/progress", progressToken=token, progress=step, total=6))
            await asyncio.sleep(0.2)
        await reply.event(json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": {"content": []}}))

    seen: list[float] = []
    async with http_stub({"tools/call": slow}) as stub, fleet_of(endpoint_spec("a", stub.url, idle=0.6)) as (fleet, _):
        assert await fleet.call("a", "echo", {}, {}, lambda step, _total, _text: seen.append(step)) == {"content": []}
    assert seen == [0, 1, 2, 3, 4, 5]


async def test_a_stream_that_is_cut_is_resumed_where_it_broke_off() -> None:
    async def broken(request: Request, reply: Reply) -> None:
        await reply.head(200, STREAM)
        await reply.raw(b"id: 7\nretry: 10\ndata:\n\n")

    async def rest(request: Request, reply: Reply) -> None:
        if "last-event-id" not in request.headers:
            return await status(405)(request, reply)
        assert request.headers["last-event-id"] == "7"
        return await events('{"jsonrpc":"2.0","id":3,"result":{"content":[],"rest":true}}')(request, reply)

    async with (
        http_stub({"tools/call": broken, "GET": rest}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, _),
    ):
        assert await fleet.call("a", "echo", {}, {}) == {"content": [], "rest": True}
    assert stub.count("tools/call") == 1


async def test_a_changed_list_is_listed_again() -> None:
    changed = asyncio.Event()

    async def news(_request: Request, reply: Reply) -> None:
        await reply.head(200, STREAM)
        await changed.wait()
        await reply.event(note("notifications/tools/list_changed"))
        await asyncio.Event().wait()

    async with http_stub({"GET": news}) as stub, fleet_of(endpoint_spec("a", stub.url)) as (_, witness):
        await witness.until_state("a", State.READY)
        stub.tools.append(tool("more"))
        changed.set()
        await witness.until(lambda: len(witness.names("a")) == 2)
    assert witness.names("a") == [["echo"], ["echo", "more"]]


async def test_a_server_may_ask_for_nothing_but_a_ping() -> None:
    async def asks(request: Request, reply: Reply) -> None:
        await reply.head(200, STREAM)
        for number, method in enumerate(("ping", "sampling/createMessage")):
            await reply.event(json.dumps({"jsonrpc": "2.0", "id": f"s{number}", "method": method, "params": {}}))
        await reply.event(json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": {"content": []}}))

    def answers() -> list[JsonObject]:
        return [each.message for each in stub.seen if each.method == "POST" and "method" not in each.message]

    async with http_stub({"tools/call": asks}) as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
        await fleet.call("a", "echo", {}, {})
        await stub.until(lambda: len(answers()) == 2)
    assert answers() == [
        {"jsonrpc": "2.0", "id": "s0", "result": {}},
        {
            "jsonrpc": "2.0",
            "id": "s1",
            "error": {"code": -32601, "message": "toolfold does not serve 'sampling/createMessage'"},
        },
    ]


async def test_odd_results_arrive_as_they_were_sent() -> None:
    odd: JsonObject = {
        "content": [{"type": "hologram", "x": None}],
        "structuredContent": None,
        "vendor": {"a": [1, 2.5, "\U0001f33f"]},
        "_meta": {"k": None},
        "big": 10**30,
    }
    async with http_stub({"tools/call": result(odd)}) as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
        assert await fleet.call("a", "echo", {}, {}) == odd


async def test_a_tool_is_listed_as_it_was_sent() -> None:
    odd = tool("echo", defer_loading=True, annotations={"vendorHint": 1}, icons=[{"src": "x", "y": 2}])
    async with http_stub() as stub:
        stub.tools[:] = [odd]
        async with fleet_of(endpoint_spec("a", stub.url)) as (_, witness):
            await witness.until_state("a", State.READY)
    assert witness.listings[0].tools == (odd,)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_list_of_two_megabytes_is_taken_without_blocking_the_loop(streamed: bool) -> None:
    tools = [tool(f"tool-{number}", description="x" * 1000) for number in range(2000)]
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}})
    answer = events(body) if streamed else result({"tools": tools})
    async with (
        http_stub({"tools/list": answer}) as stub,
        fleet_of(endpoint_spec("a", stub.url, message_bytes=4 << 20)) as (_, witness),
    ):
        await witness.until_state("a", State.READY)
    assert witness.listings[0].tools == tuple(tools)


@pytest.mark.parametrize("what", ["DELETE", "tools/call", "initialize", "notifications/initialized"])
async def test_ending_does_not_wait_for_a_server_that_is_silent(what: str) -> None:
    async with http_stub({what: silence}) as stub:
        with anyio.fail_after(5):
            async with fleet_of(endpoint_spec("a", stub.url)) as (fleet, witness):
                if what == "tools/call":
                    await witness.until_state("a", State.READY)
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(outcome, fleet, "a", "echo")
                        await stub.until(lambda: stub.count(what) == 1)
                        tasks.cancel_scope.cancel()
                elif what == "DELETE":
                    await witness.until_state("a", State.READY)
                else:
                    await stub.until(lambda: stub.count(what) == 1)


async def test_a_notification_that_is_not_taken_holds_up_nothing_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        http_stub({"notifications/initialized": silence}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, _),
    ):
        monkeypatch.setattr("upstream_clients.http.guard.NOTIFY_SECONDS", 0.1)
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


async def test_a_lazy_upstream_is_connected_to_by_its_first_call() -> None:
    async with http_stub() as stub:
        spec = endpoint_spec("a", stub.url)
        object.__setattr__(spec, "lazy", True)
        async with fleet_of(spec) as (fleet, _):
            assert stub.seen == []
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(outcome, fleet, "a", "echo")
    assert (stub.count("initialize"), stub.count("tools/call")) == (1, 3)


def test_without_addresses_nothing_of_http_is_imported() -> None:
    code = (
        "import sys, upstream_clients, server.app\n"
        "print([name for name in ('mcp', 'mcp_types', 'httpx2', 'upstream_clients.http') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "[]\n"
