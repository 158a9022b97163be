"""The front answers as the SDK's server would, and leaves to it what it does not plainly understand."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest

from server.access import OWNER
from server.face import Face
from server.front import REPLAYED_ID, Front
from server.identity import Identity
from server.sdk import SdkServer
from tests.support.gateways import Opened, gateway
from tests.support.hosts import ENVELOPE, part
from tests.support.upstreams import entry
from upstream_clients import JsonObject

IDENTITY = Identity({"name": "toolfold", "title": "toolfold", "version": "0"}, "How to use it.\n- one", "us")
CLIENT = {"name": "hand", "version": "1"}


class Lines:
    """The host's end: every message that was written to it."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self.calls: list[str] = []
        self._news = anyio.Event()

    def write(self, line: bytes) -> None:
        self.messages.append(json.loads(line))
        self._news.set()

    async def drained(self) -> None:
        """There is always room."""

    def pause_reading(self) -> None:
        self.calls.append("pause")

    def resume_reading(self) -> None:
        self.calls.append("resume")

    async def holds(self, count: int) -> list[JsonObject]:
        with anyio.fail_after(20):
            while len(self.messages) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self.messages


class Open(Front):
    """A front that answers nothing itself: what comes back is the SDK's own."""

    def _answer(self, message: JsonObject) -> JsonObject | None:
        return None


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    """One upstream with two direct-only tools."""
    schema = {"type": "object", "properties": {"text": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}}
    tools = [{"name": "echo", "title": "Echo", "description": "Says it again.", "inputSchema": schema}]
    one = entry(tools=[*tools, {**tools[0], "name": "read.file"}])
    async with gateway(tmp_path_factory.mktemp("front"), {"one": {**one, "alwaysLoad": True}}) as opened:
        yield opened


@asynccontextmanager
async def behind(front: Front, opened: Opened) -> AsyncIterator[Lines]:
    """A connection on which the SDK's server stands behind this front."""
    lines = Lines()
    front.connect(lines)
    server = SdkServer(Face(opened.running.gateway), IDENTITY, OWNER)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run_behind, front)
        yield lines
        tasks.cancel_scope.cancel()


async def answers(
    make: Callable[[Identity, Callable[[], JsonObject | None]], Front], opened: Opened, messages: Sequence[JsonObject]
) -> list[JsonObject]:
    """What a host hears that sends these messages one after the other, each after the answer to the one before."""
    front = make(IDENTITY, partial(Face(opened.running.gateway).list_tools, OWNER))
    heard = 0
    async with behind(front, opened) as lines:
        for message in messages:
            front.take_line(json.dumps(message).encode())
            heard += "id" in message
            await lines.holds(heard)
        return lines.messages


def request(number: object, method: str, params: object = None) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def initialize(number: object = 0, **params: object) -> JsonObject:
    whole = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT, **params}
    return request(number, "initialize", {key: value for key, value in whole.items() if value is not None})


def modern(number: object, method: str, **params: object) -> JsonObject:
    return request(number, method, {**params, "_meta": ENVELOPE})


INITIALIZED: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = request(1, "tools/list")

FRONT_ANSWERS: dict[str, list[JsonObject]] = {
    **{
        f"initialize {version}": [initialize(protocolVersion=version), INITIALIZED]
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", "")
    },
    "a list of the handshake era": [initialize(), INITIALIZED, LIST],
    "a list before the notification": [initialize(), LIST],
    "a list with a progress token": [initialize(), request("a", "tools/list", {"_meta": {"progressToken": 5}})],
    "a list with an empty cursor": [initialize(), request(1, "tools/list", {"cursor": ""})],
    "a ping after the handshake": [initialize(), request(1, "ping")],
    "discovery": [modern(1, "server/discover")],
    "a list of the modern era": [modern("x", "tools/list")],
    "an envelope without a client": [
        request(1, "tools/list", {"_meta": {k: v for k, v in ENVELOPE.items() if not k.endswith("clientInfo")}})
    ],
    "a host that says more of itself": [
        initialize(
            capabilities={"roots": {"listChanged": True}, "sampling": {}, "experimental": {"x": {}}},
            clientInfo={**CLIENT, "title": "Hand", "websiteUrl": "https://example.org"},
        ),
        LIST,
    ],
}


@pytest.mark.parametrize("messages", FRONT_ANSWERS.values(), ids=FRONT_ANSWERS)
async def test_the_front_answers_exactly_as_the_sdk_does(opened: Opened, messages: list[JsonObject]) -> None:
    front = await answers(Front, opened, messages)
    assert all("result" in message for message in front)
    assert front == await answers(Open, opened, messages)


LEFT_TO_SDK: dict[str, list[JsonObject]] = {
    "no client info": [initialize(clientInfo=None)],
    "no version of the protocol": [initialize(protocolVersion=None)],
    "a version that is a number": [initialize(protocolVersion=20251125)],
    "capabilities that are a list": [initialize(capabilities=[])],
    "a client without a version": [initialize(clientInfo={"name": "hand"})],
    "params that are a list": [initialize(), request(1, "tools/list", [1])],
    "a list without a handshake": [LIST],
    "a list without a handshake, then one with it": [LIST, initialize(2), INITIALIZED, request(3, "tools/list")],
    "a ping without a handshake": [request(1, "ping"), initialize(2), request(3, "ping")],
    "an envelope without capabilities": [
        request(1, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
    ],
    "an envelope of an unknown version": [
        request(1, "server/discover", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}})
    ],
    "an envelope whose client is odd": [
        request(1, "tools/list", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": 5}}})
    ],
    "a discovery without an envelope": [request(1, "server/discover")],
    "a ping of the modern era": [modern(1, "ping")],
    "a list of the modern era after a handshake": [initialize(), modern(1, "tools/list")],
    "a half-built envelope after a handshake": [
        initialize(),
        request(1, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
    ],
    "discovery after a handshake": [initialize(), modern(1, "server/discover")],
    "a handshake after a call of the modern era": [
        modern(1, "tools/call", name="tool_call", arguments={"id": "mcp:one:echo", "args": {"text": "x"}}),
        initialize(2),
    ],
    "a second handshake": [initialize(), INITIALIZED, initialize(1), request(2, "tools/list")],
    "an unknown method": [initialize(), request(1, "nobody/knows")],
    "a method that is not served": [initialize(), request(1, "resources/list")],
    "a call without a name": [initialize(), request(1, "tools/call", {"arguments": {}})],
    "a call whose arguments are a list": [initialize(), request(1, "tools/call", {"name": "echo", "arguments": []})],
    "no method": [initialize(), {"jsonrpc": "2.0", "id": 1}],
    "another version of JSON-RPC": [initialize(), {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}],
    "a method that is a number": [initialize(), {"jsonrpc": "2.0", "id": 1, "method": 5}],
    "an id that is a boolean": [initialize(), request(True, "tools/list")],
    "an id that is an object": [initialize(), request({}, "tools/list")],
    "an id that is null": [initialize(), request(None, "tools/list")],
}


@pytest.mark.parametrize("messages", LEFT_TO_SDK.values(), ids=LEFT_TO_SDK)
async def test_what_the_front_does_not_plainly_understand_gets_the_sdks_answer(
    opened: Opened, messages: list[JsonObject]
) -> None:
    assert await answers(Front, opened, messages) == await answers(Open, opened, messages)


async def test_a_handshake_works_after_a_discovery_that_the_front_has_answered(opened: Opened) -> None:
    """A host may ask for the modern era, give up too early and shake hands; the SDK has seen nothing of it yet."""
    call = request(3, "tools/call", {"name": "tool_call", "arguments": {"id": "mcp:one:echo", "args": {"text": "x"}}})
    messages = [modern(0, "server/discover"), modern(1, "tools/list"), initialize(2), INITIALIZED, call]
    heard = await answers(Front, opened, messages)
    assert [message["id"] for message in heard] == [0, 1, 2, 3]
    assert heard[3]["result"] == {
        "content": [{"type": "text", "text": "x"}],
        "_meta": {"toolfold/tool": "mcp:one:echo"},
    }


async def test_a_handshake_with_flaws_that_the_front_does_not_look_at_still_leads_to_calls(opened: Opened) -> None:
    flawed = initialize(capabilities={"roots": 5}, clientInfo={**CLIENT, "icons": "none", "title": 5})
    heard = await answers(Front, opened, [flawed, INITIALIZED, request(1, "tools/call", {"name": "tool_search"})])
    assert "result" in heard[1]


async def test_the_sdk_never_answers_the_replayed_handshake_to_the_host(opened: Opened) -> None:
    heard = await answers(Front, opened, [initialize(), INITIALIZED, request(1, "resources/list")])
    assert [message["id"] for message in heard] == [0, 1]
    assert REPLAYED_ID not in json.dumps(heard)


def listening() -> tuple[Front, Lines]:
    front, lines = Front(IDENTITY, lambda: {"tools": []}), Lines()
    front.connect(lines)
    return front, lines


def send(front: Front, *messages: JsonObject) -> None:
    for message in messages:
        front.take_line(json.dumps(message).encode())


def test_the_list_of_tools_waits_until_it_can_be_known() -> None:
    known: list[JsonObject] = []
    front, lines = Front(IDENTITY, lambda: known[0] if known else None), Lines()
    front.connect(lines)
    send(front, modern(1, "tools/list"), initialize(2), request(3, "tools/list"))
    assert [message["id"] for message in lines.messages] == [2]
    known.append({"tools": [{"name": "x"}]})
    front.catalogue_known()
    front.catalogue_known()
    assert [(message["id"], set(part(message, "result"))) for message in lines.messages[1:]] == [
        (1, {"ttlMs", "cacheScope", "tools", "resultType", "_meta"}),
        (3, {"tools"}),
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (None, -32600),
        (b"[1]", -32700),
        (b"{", -32700),
        (b'{"a": NaN}', -32700),
        (b'"\xff"', -32700),
        (b"hello", -32700),
    ],
)
def test_a_line_that_is_no_message_is_refused_and_the_next_one_is_answered(line: bytes | None, code: int) -> None:
    front, lines = listening()
    front.take_line(line)
    send(front, initialize())
    refusal, answer = lines.messages
    error = refusal["error"]
    assert isinstance(error, dict)
    assert (refusal["id"], error["code"], answer["id"]) == (None, code, 0)


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'{"jsonrpc": "2.0", "method": "a", "params": {"x": NaN, "id": 5}, "id": 4}', 4),
        (b'{"jsonrpc": "2.0", "id": "four", "method": "a", "params": {"x": ', "four"),
        (b'{"method": "a", "id": 4} {}', 4),
        (b'{"id": 4, "method": "a", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 4),
        (b'{"id": 4, "method": "a", "params": {"x": ' + b"9" * 5_000 + b"}}", 4),
        (b'{"method": "a", "params": {"id": 4, "x": ', None),
        (b'{"id": true, "method": "a", "params": NaN}', None),
        (b'{"id": 4, "result": NaN}', None),
        (b'{"id": 7, "method": "a", "params": NaN}', None),
    ],
)
def test_a_request_that_cannot_be_taken_is_refused_under_its_id_where_that_can_be_read(
    line: bytes, request_id: object
) -> None:
    front, lines = listening()
    send(front, initialize(), request(7, "prompts/list"))  # still open, for the SDK
    front.take_line(line)
    refusal = lines.messages[-1]
    assert (refusal["id"], "error" in refusal) == (request_id, True)


def test_a_message_nested_too_deep_is_refused() -> None:
    front, lines = listening()
    front.take_line(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert [message["id"] for message in lines.messages] == [None]


async def test_a_host_that_sends_faster_than_the_sdk_takes_is_paused_and_read_again() -> None:
    front, lines = listening()
    send(front, initialize(), *(request(number, "tools/call") for number in range(1, 257)))
    assert lines.calls == ["pause"]
    taken = [await front.next_for_sdk() for _ in range(192)]
    assert lines.calls == ["pause"]
    taken += [await front.next_for_sdk()]
    assert lines.calls == ["pause", "resume"]
    assert [message["id"] for message in taken] == [REPLAYED_ID, *range(1, 193)]


def test_what_is_open_at_the_end_is_answered_as_draining() -> None:
    front, lines = Front(IDENTITY, lambda: None), Lines()
    front.connect(lines)
    cancel: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    send(
        front,
        initialize(),
        *(request(number, "tools/call") for number in (1, 2, "three")),
        cancel,
        request(4, "tools/list"),
    )
    front.from_sdk({"jsonrpc": "2.0", "id": 1, "result": {}})
    front.drain()
    front.drain()
    assert [message["id"] for message in lines.messages] == [0, 1, "three", 4]
    assert lines.messages[2]["error"] == {
        "code": -32000,
        "message": "draining: the gateway is shutting down; the call was given up",
    }


def test_an_id_that_is_still_open_is_refused_and_the_first_request_is_answered() -> None:
    front, lines = listening()
    send(front, initialize(), request(1, "tools/call"), request(1, "tools/call"))
    front.from_sdk({"jsonrpc": "2.0", "id": 1, "result": {}})
    send(front, request(1, "tools/call"))
    front.drain()
    told = [(message["id"], "result" in message) for message in lines.messages]
    assert told == [(0, True), (1, False), (1, True), (1, False)]


def test_a_request_that_was_refused_is_not_answered_again_at_the_end() -> None:
    front, lines = listening()
    send(front, initialize(), {"jsonrpc": "1.0", "id": 1, "method": "tools/call"})
    front.refuse(1, -32600, "Invalid Request")
    front.drain()
    assert [message["id"] for message in lines.messages] == [0, 1]


def test_a_host_hears_of_a_changed_list_once_it_has_said_that_it_is_initialized() -> None:
    front, lines = listening()
    front.listing_changed(published=True)
    send(front, initialize())
    front.listing_changed(published=True)
    send(front, INITIALIZED)
    front.listing_changed(published=True)
    assert lines.messages[1:] == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]


def test_a_modern_host_is_not_told_by_the_front() -> None:
    front, lines = listening()
    send(front, modern(1, "tools/list"), INITIALIZED)
    front.listing_changed(published=True)
    assert [message.get("id") for message in lines.messages] == [1]


def test_what_long_lived_objects_show_of_themselves_is_one_line() -> None:
    front, _ = listening()
    send(front, initialize(), request(1, "tools/call"))
    assert repr(front) == "<Front 2 waiting, 1 open>"
