"""The older HTTP with SSE: one stream for all answers, and an address for what is sent. Real sockets."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import pytest

from tests.support.endpoints import MESSAGE_BYTES, endpoint_spec
from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.http_stub import Answer, HttpStub, Reply, Request, accepted, http_stub, reset, silence, status, tool
from upstream_clients import (
    JsonObject,
    State,
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamTimeout,
    UpstreamUnauthorized,
)
from upstream_clients.bulkhead import IN_FLIGHT

SSE: Final = ("sse",)


class EventServer:
    """The server's side: `say` writes to its stream, and messages that are posted are answered there."""

    def __init__(self, stub: HttpStub, place: str = "/messages?sessionId=1") -> None:
        self.stub = stub
        self.place = place
        self.opened = 0
        self.results: dict[str, Callable[[Request], str | bytes | None]] = {}
        self._said: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        stub.answers["GET"] = self._stream
        for method in ("initialize", "tools/list", "tools/call"):
            stub.answers[method] = self._post

    def say(self, what: str | bytes | None) -> None:
        self._said.put_nowait(what)

    async def _stream(self, _request: Request, reply: Reply) -> None:
        self.opened += 1
        await reply.head(200, {"content-type": "text/event-stream; charset=utf-8"})
        await reply.event(self.place, "endpoint")
        while (what := await self._said.get()) is not None:
            await (reply.raw(what) if isinstance(what, bytes) else reply.event(what))

    async def _post(self, request: Request, reply: Reply) -> None:
        await accepted(request, reply)
        plain: dict[str, JsonObject] = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {}},
            "tools/list": {"tools": list(self.stub.tools)},
            "tools/call": {"content": [{"type": "text", "text": request.name}]},
        }
        if request.what in self.results:
            self.say(self.results[request.what](request))
        else:
            self.say(json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": plain[request.what]}))


@pytest.mark.parametrize("attempts", [("sse",), ("sse", "http"), ("http", "sse")])
async def test_an_older_server_is_spoken_to_whatever_is_tried_first(attempts: tuple[str, ...]) -> None:
    async with http_stub() as stub:
        server = EventServer(stub)
        if attempts[0] == "http":
            post = stub.answers["initialize"]
            assert not isinstance(post, Sequence)
            stub.answers["initialize"] = [status(404), post]
        async with fleet_of(endpoint_spec("a", stub.url, attempts)) as (fleet, witness):  # type: ignore[arg-type]
            ready = await witness.until_state("a", State.READY)
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
    assert ready.protocol_version == "2024-11-05"
    assert server.opened == 1
    posts = [request.path for request in stub.seen if request.method == "POST"]
    assert posts == ["/mcp"] * (attempts[0] == "http") + ["/messages?sessionId=1"] * 4


async def test_a_newer_server_at_an_address_that_looks_older_is_spoken_to() -> None:
    async with (
        http_stub() as stub,
        fleet_of(endpoint_spec("a", f"{stub.base}/sse", ("sse", "http"))) as (fleet, _),
    ):
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
    assert stub.whats()[0] == "GET"


async def test_answers_find_their_calls_in_any_order() -> None:
    held: list[str] = []

    def shuffled(request: Request) -> str | bytes:
        body = {"content": [{"type": "text", "text": request.name}]}
        held.append(json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": body}))
        return (
            "".join(f"data: {each}\n\n" for each in reversed(held)).encode()
            if len(held) == IN_FLIGHT
            else b": more\n\n"
        )

    got: dict[str, str] = {}
    async with http_stub() as stub:
        EventServer(stub).results["tools/call"] = shuffled
        async with fleet_of(endpoint_spec("a", stub.url, SSE)) as (fleet, _), anyio.create_task_group() as tasks:

            async def call(name: str) -> None:
                got[name] = text_of(await fleet.call("a", name, {}, {}))

            for number in range(IN_FLIGHT):
                tasks.start_soon(call, f"t{number}")
    assert got == {f"t{number}": f"t{number}" for number in range(IN_FLIGHT)}


async def test_a_large_message_arrives_and_the_limit_is_ours() -> None:
    def large(request: Request) -> str:
        body = {"content": [{"type": "text", "text": "x" * (2 << 20)}]}
        return json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": body})

    async with http_stub() as stub:
        EventServer(stub).results["tools/call"] = large
        async with fleet_of(endpoint_spec("a", stub.url, SSE, message_bytes=4 << 20)) as (fleet, _):
            assert len(text_of(await fleet.call("a", "echo", {}, {}))) == 2 << 20


async def test_a_changed_list_is_listed_again() -> None:
    async with http_stub() as stub:
        server = EventServer(stub)
        async with fleet_of(endpoint_spec("a", stub.url, SSE)) as (_, witness):
            await witness.until_state("a", State.READY)
            stub.tools.append(tool("more"))
            server.say('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
            await witness.until(lambda: len(witness.names("a")) == 2)
    assert witness.names("a") == [["echo"], ["echo", "more"]]


async def test_a_cancelled_call_is_cancelled_upstream() -> None:
    async with http_stub() as stub:
        EventServer(stub).results["tools/call"] = lambda _request: b": nothing\n\n"
        async with fleet_of(endpoint_spec("a", stub.url, SSE)) as (fleet, witness):
            await witness.until_state("a", State.READY)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fleet.call, "a", "echo", {}, {})
                await stub.until(lambda: stub.count("tools/call") == 1)
                tasks.cancel_scope.cancel()
            await stub.until(lambda: stub.count("notifications/cancelled") == 1)


@dataclass(frozen=True)
class Case:
    """What the stream says in the place of an answer, or how the POST is answered."""

    name: str
    kind: type[UpstreamError]
    says: str
    ran: bool
    streamed: str | bytes | None = b""
    posted: Answer | None = None
    lives: bool = False


CASES: Final = [
    Case("the stream ends", UpstreamGone, "it closed its event stream", True, None),
    Case("bad JSON", UpstreamProtocolFault, "not acceptable: invalid JSON", True, "{hunter2"),
    Case("NaN", UpstreamProtocolFault, "NaN or infinity", True, '{"jsonrpc":"2.0","id":3,"result":{"a":NaN}}'),
    Case("too long", UpstreamProtocolFault, "over the limit", True, b"data: " + b"x" * MESSAGE_BYTES * 2),
    Case("no answer", UpstreamTimeout, "no answer and no progress", True, b": nothing\n\n", lives=True),
    Case("401", UpstreamUnauthorized, "HTTP 401", False, posted=status(401)),
    Case("429", UpstreamError, "HTTP 429", False, posted=status(429), lives=True),
    Case("500", UpstreamError, "HTTP 500", True, posted=status(500), lives=True),
    Case("reset", UpstreamGone, "cut before it had answered", True, posted=reset, lives=True),
    Case("redirect", UpstreamError, "redirects to", False, posted=status(307, location="http://x.test/"), lives=True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_call_ends_in_a_clear_error(case: Case) -> None:
    async with http_stub() as stub:
        server = EventServer(stub)
        if case.posted is None:
            server.results["tools/call"] = lambda _request: case.streamed
        else:
            stub.answers["tools/call"] = case.posted
        idle = 0.3 if case.kind is UpstreamTimeout else 20
        async with fleet_of(endpoint_spec("a", stub.url, SSE, idle=idle)) as (fleet, witness):
            await witness.until_state("a", State.READY)
            failed = await outcome(fleet, "a", "echo")
            assert isinstance(failed, UpstreamError), failed
            assert (type(failed).code, failed.ran) == (case.kind.code, case.ran)
            assert case.says in failed.message
            server.results.clear()
            stub.answers["tools/call"] = stub.answers["tools/list"]
            await witness.until(lambda: case.lives or State.DOWN in witness.states("a"))
            await witness.until(lambda: witness.states("a")[-1] is State.READY)
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
    assert server.opened == (1 if case.lives else 2)


async def test_a_session_that_died_is_renewed_and_the_call_is_sent_once_more() -> None:
    async with http_stub() as stub:
        server = EventServer(stub)
        post = stub.answers["tools/call"]
        assert not isinstance(post, Sequence)
        stub.answers["tools/call"] = [status(404), post]
        async with fleet_of(endpoint_spec("a", stub.url, SSE)) as (fleet, witness):
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
            assert State.DOWN not in witness.states("a")
    assert (server.opened, stub.count("tools/call")) == (2, 2)


@pytest.mark.parametrize("place", ["http://x.test/messages", "//x.test/messages", "https://127.0.0.1/", "http://["])
async def test_an_address_elsewhere_is_not_followed(place: str) -> None:
    async with http_stub() as stub:
        EventServer(stub, place)
        async with fleet_of(endpoint_spec("a", stub.url, SSE, headers={"X-Key": "k"})) as (_, witness):
            down = await witness.until_state("a", State.DOWN)
    assert down.error.startswith("it redirects to ")
    assert stub.whats() == ["GET"]


@pytest.mark.parametrize("what", ["GET", "tools/call"])
async def test_ending_does_not_wait_for_a_server_that_is_silent(what: str) -> None:
    async with http_stub() as stub:
        EventServer(stub)
        stub.answers[what] = silence
        with anyio.fail_after(5):
            async with fleet_of(endpoint_spec("a", stub.url, SSE)) as (fleet, _), anyio.create_task_group() as tasks:
                tasks.start_soon(outcome, fleet, "a", "echo")
                await stub.until(lambda: stub.count(what) == 1)
                tasks.cancel_scope.cancel()
