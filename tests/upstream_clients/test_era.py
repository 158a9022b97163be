import asyncio

import anyio
import pytest

from tests.support.virtual_time import in_virtual_time
from tests.support.wire import Answer, Wire, error, in_turn, result, silence
from upstream_clients import (
    JsonObject,
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
)
from upstream_clients.era import Greeter, Greeting
from upstream_clients.peer import Peer

CLIENT: JsonObject = {"name": "toolfold", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}

INITIALIZED = result(
    {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "old", "version": "1"},
        "capabilities": {"tools": {}},
        "instructions": "Be kind.",
    }
)
DISCOVERED = result(
    {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": True}},
        "instructions": "Be kind.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "1"}},
    }
)

OLD = Greeting("legacy", "2025-06-18", {"name": "old", "version": "1"}, {"tools": {}}, "Be kind.")
NEW = Greeting("modern", "2026-07-28", {"name": "new", "version": "1"}, {"tools": {"listChanged": True}}, "Be kind.")

UNKNOWN_METHOD = error(-32601)
UNSUPPORTED_VERSION = error(-32022)


def connected(wire: Wire) -> Peer:
    peer = Peer(wire.write, lambda _method, _params: None)
    wire.receive = peer.receive
    return peer


async def test_the_handshake_greets_once_and_confirms() -> None:
    wire = Wire({"initialize": INITIALIZED})
    assert await Greeter(CLIENT).greet(connected(wire), "legacy", None, 60) == OLD
    assert wire.sent == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": CLIENT,
                "_meta": {"progressToken": 1},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


async def test_a_modern_server_is_asked_what_it_can_do_in_the_envelope() -> None:
    wire = Wire({"server/discover": DISCOVERED})
    assert await Greeter(CLIENT).greet(connected(wire), "modern", None, 60) == NEW
    assert wire.sent == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "server/discover",
            "params": {"_meta": {**ENVELOPE, "progressToken": 1}},
        }
    ]


@pytest.mark.parametrize(
    ("answers", "known", "greeting", "methods"),
    [
        ({"server/discover": DISCOVERED}, None, NEW, ["server/discover"]),
        ({"server/discover": DISCOVERED}, "modern", NEW, ["server/discover"]),
        (
            {"server/discover": UNKNOWN_METHOD, "initialize": INITIALIZED},
            None,
            OLD,
            ["server/discover", "initialize", "notifications/initialized"],
        ),
        (
            {"server/discover": silence, "initialize": INITIALIZED},
            None,
            OLD,
            ["server/discover", "initialize", "notifications/initialized"],
        ),
        (
            {"server/discover": result({"supportedVersions": ["2027-01-01"]}), "initialize": INITIALIZED},
            None,
            OLD,
            ["server/discover", "initialize", "notifications/initialized"],
        ),
        ({"initialize": INITIALIZED}, "legacy", OLD, ["initialize", "notifications/initialized"]),
        (
            {"server/discover": UNKNOWN_METHOD, "initialize": INITIALIZED},
            "modern",
            OLD,
            ["server/discover", "initialize", "notifications/initialized"],
        ),
        (  # a slow modern server: the late probe has closed it to handshakes
            {"server/discover": in_turn(silence, DISCOVERED), "initialize": UNSUPPORTED_VERSION},
            None,
            NEW,
            ["server/discover", "initialize", "server/discover"],
        ),
    ],
)
def test_auto_finds_the_era(answers: dict[str, Answer], known: object, greeting: Greeting, methods: list[str]) -> None:
    async def body() -> None:
        wire = Wire(answers)
        assert known in (None, "legacy", "modern")
        met = await Greeter(CLIENT).greet(connected(wire), "auto", known, 60)
        assert met == greeting
        assert wire.methods() == methods

    in_virtual_time(body())


def test_the_probe_of_auto_takes_five_seconds_at_most() -> None:
    async def body() -> None:
        await Greeter(CLIENT).greet(connected(Wire({"initialize": INITIALIZED})), "auto", None, 60)
        assert anyio.current_time() == 5

    in_virtual_time(body())


@pytest.mark.parametrize(
    ("protocol", "answers", "failure"),
    [
        ("legacy", {"initialize": error(-32602)}, UpstreamRefused),
        ("legacy", {}, UpstreamTimeout),
        ("modern", {"server/discover": UNKNOWN_METHOD}, UpstreamRefused),
        ("modern", {"server/discover": result({"supportedVersions": "all"})}, UpstreamProtocolFault),
        ("modern", {}, UpstreamTimeout),
        ("auto", {"server/discover": UNKNOWN_METHOD, "initialize": error(-32602)}, UpstreamRefused),
        ("auto", {"initialize": UNSUPPORTED_VERSION}, UpstreamTimeout),
        ("auto", {}, UpstreamTimeout),
    ],
)
def test_a_server_that_cannot_be_greeted(
    protocol: object, answers: dict[str, Answer], failure: type[UpstreamError]
) -> None:
    async def body() -> None:
        assert protocol in ("legacy", "auto", "modern")
        with pytest.raises(failure):
            await Greeter(CLIENT).greet(connected(Wire(answers)), protocol, None, 60)

    in_virtual_time(body())


async def test_a_server_that_dies_of_the_probe_comes_with_a_hint() -> None:
    def dies(_request: JsonObject) -> None:
        asyncio.get_running_loop().call_soon(peer.end, UpstreamGone("it ended with exit code 1"))

    peer = connected(Wire({"server/discover": dies}))
    with pytest.raises(UpstreamGone) as gone:
        await Greeter(CLIENT).greet(peer, "auto", None, 60)
    assert '"protocol": "legacy"' in gone.value.hint


@pytest.mark.parametrize("junk", [{}, {"serverInfo": 5, "capabilities": [], "instructions": {}, "protocolVersion": 1}])
async def test_a_handshake_full_of_junk_still_is_one(junk: JsonObject) -> None:
    wire = Wire({"initialize": result(junk)})
    met = await Greeter(CLIENT).greet(connected(wire), "legacy", None, 60)
    assert met == Greeting("legacy", "2025-11-25", {}, {}, "")


def test_the_stamp_of_each_era() -> None:
    greeter = Greeter(CLIENT)
    params = {"name": "x", "_meta": {"trace": "t"}}
    assert greeter.stamp("legacy", params) == params
    assert greeter.stamp("modern", params) == {"name": "x", "_meta": {"trace": "t", **ENVELOPE}}
    assert greeter.stamp("modern", {"_meta": 5}) == {"_meta": ENVELOPE}
