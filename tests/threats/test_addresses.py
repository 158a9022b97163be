"""What an upstream at an address can make us fetch or send: nothing but what its entry says. Real sockets."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.gateways import error_of, gateway
from tests.support.hosts import part
from tests.support.http_stub import HttpStub, Reply, Request, http_stub, result, status, tool
from tests.support.sdk_servers import sdk_server
from tests.support.upstreams import entry
from upstream_clients import JsonObject, State


@contextmanager
def listener() -> Iterator[socket.socket]:
    """An address at which nobody may call."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening
        with pytest.raises(BlockingIOError):
            listening.accept()


def remote(stub: HttpStub, **beside: object) -> dict[str, Mapping[str, object]]:
    return {"far": {"url": stub.url, "type": "http", **beside}}


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1"])
async def test_what_a_server_says_of_signing_in_is_never_fetched_opened_or_followed(tmp_path: Path, host: str) -> None:
    with listener() as elsewhere:
        address = f"http://{host}:{elsewhere.getsockname()[1]}"
        metadata: JsonObject = {
            "resource": f"{address}/mcp",
            "authorization_servers": [address],
            "issuer": f"{address}/another",
            "authorization_endpoint": f"file:///x$(touch {tmp_path / 'pwned'})",
        }
        challenge = f'Bearer resource_metadata="{address}/meta", scope="all"'
        refused = status(401, json.dumps(metadata).encode(), "application/json", www_authenticate=challenge)
        async with http_stub({"initialize": refused, "server/discover": refused}) as stub:
            stub.answers["GET"] = refused
            async with gateway(tmp_path, remote(stub, headers={"X-Key": "k"})) as opened:
                await opened.until_state("far", State.DOWN)
                error = error_of(await opened.call("mcp:far:echo"))
    assert error["code"] == "upstream_down"
    assert {request.path for request in stub.seen} == {"/mcp"}
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("code", [302, 307])
async def test_a_redirect_to_another_address_is_not_followed_by_a_call_either(tmp_path: Path, code: int) -> None:
    with listener() as elsewhere:
        address = f"http://[::ffff:127.0.0.1]:{elsewhere.getsockname()[1]}/latest/meta-data"
        async with (
            http_stub({"tools/call": status(code, location=address)}) as stub,
            gateway(tmp_path, remote(stub)) as opened,
        ):
            error = error_of(await opened.call("mcp:far:echo"))
    assert "redirects to" in str(error["message"])


@pytest.mark.parametrize("key", ["$ref", "$schema", "$id", "$dynamicRef"])
async def test_a_schema_that_refers_to_an_address_has_nothing_fetched(tmp_path: Path, key: str) -> None:
    with listener() as elsewhere:
        address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/s"
        referring: JsonObject = {"type": "object", "properties": {"v": {key: address, "type": "string"}}}
        far = {"name": "far", "inputSchema": referring, "outputSchema": {key: address, "type": "object"}}
        root = {"name": "root", "inputSchema": {key: address, "type": "object"}}
        one: JsonObject = {**entry(tools=[far, root], does={"far": {"do": "echo"}}), "trusted": True}
        async with gateway(tmp_path, {"one": one}, {"directTools": ["*"], "hints": "safe"}) as opened:
            for name in ("far", "root"):
                await opened.ask("tool_describe", {"id": f"mcp:one:{name}"})
                await opened.call(f"mcp:one:{name}", {"v": "x"})
            await opened.search("far root")
            tools = {tool.name: str(tool.exposure) for tool in opened.running.library.snapshot.catalog.tools()}
    assert tools.keys() == {"far", "root"}
    if key == "$ref":
        assert tools == {"far": "quarantined", "root": "quarantined"}


async def test_arguments_go_into_the_body_alone_whatever_is_in_them(tmp_path: Path) -> None:
    sly: JsonObject = {
        "path": "../../admin?x=1#",
        "line": "a\r\nX-Evil: 1\r\n\r\nGET /admin",
        "url": "http://evil.test/",
    }
    async with http_stub() as stub, gateway(tmp_path, remote(stub)) as opened:
        assert "isError" not in await opened.call("mcp:far:echo", sly)
    [call] = [request for request in stub.seen if request.what == "tools/call"]
    assert (call.method, call.path, part(call.message, "params", "arguments")) == ("POST", "/mcp", sly)
    assert "x-evil" not in call.headers
    assert "evil" not in json.dumps(dict(call.headers))


INVALID_HEADERS: Mapping[str, JsonObject] = {
    "line_end": {"v": {"type": "string", "x-mcp-header": "A\r\nX-Evil: 1"}},
    "twice": {"v": {"type": "string", "x-mcp-header": "A"}, "w": {"type": "string", "x-mcp-header": "a"}},
    "in_items": {"v": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}},
    "an_object": {"v": {"type": "object", "x-mcp-header": "A"}},
    "no_text": {"v": {"type": "string", "x-mcp-header": 5}},
}


async def test_a_tool_that_wants_an_argument_in_a_header_where_none_may_be_is_left_out(tmp_path: Path) -> None:
    tools = [
        {"name": name, "inputSchema": {"type": "object", "properties": properties}}
        for name, properties in {**INVALID_HEADERS, "echo": {"v": {"type": "string", "x-mcp-header": "V"}}}.items()
    ]
    with sdk_server("streamable", json.dumps(tools)) as served:
        far = {"url": served.url, "type": "http", "protocol": "modern"}
        async with gateway(tmp_path, {"far": far}) as opened:
            known = {tool.name for tool in opened.running.library.snapshot.catalog.tools()}
    assert "echo" in known
    assert known & INVALID_HEADERS.keys() == set()


async def test_in_the_older_era_such_a_wish_puts_nothing_into_a_header(tmp_path: Path) -> None:
    async with http_stub() as stub:
        stub.tools = [
            tool(name, inputSchema={"type": "object", "properties": properties})
            for name, properties in INVALID_HEADERS.items()
        ]
        async with gateway(tmp_path, remote(stub)) as opened:
            for name in INVALID_HEADERS:
                await opened.call(
                    f"mcp:far:{name}", {"v": "marked-by-us"} if name != "in_items" else {"v": ["marked-by-us"]}
                )
    assert stub.count("tools/call") >= len(INVALID_HEADERS) - 1
    assert not [request for request in stub.seen if "marked-by-us" in json.dumps(dict(request.headers))]


async def test_a_long_answer_that_would_unpack_to_more_is_not_unpacked(tmp_path: Path) -> None:
    async def bomb(_request: Request, reply: Reply) -> None:
        await reply.whole(
            200, {"content-type": "application/json", "content-encoding": "gzip"}, b"\x1f\x8b" + b"\0" * 1000
        )

    async with http_stub({"tools/call": bomb}) as stub, gateway(tmp_path, remote(stub)) as opened:
        error = error_of(await opened.call("mcp:far:echo"))
        assert "accept-encoding" in stub.seen[-1].headers
        assert stub.seen[-1].headers["accept-encoding"] == "identity"
        stub.answers["tools/call"] = result({"content": []})
        assert "isError" not in await opened.call("mcp:far:echo")
    assert "compressed" in str(error["message"])
