"""Upstreams at an address, through the whole gateway: found, called, stored, and never with a secret in any text."""

from pathlib import Path
from typing import Final

from server.status import describe_state
from tests.support.gateways import error_of, gateway
from tests.support.hosts import text_of
from tests.support.http_stub import http_stub, refusal, status, tool
from upstream_clients import State

SECRET: Final = "hunter2-hunter2"


async def test_a_tool_at_an_address_is_found_described_and_called(tmp_path: Path) -> None:
    async with http_stub() as stub:
        stub.tools[:] = [tool("water_plants", description="Waters the plants.")]
        async with gateway(tmp_path, {"garden": {"url": stub.url}}) as opened:
            assert await opened.found("water plants") == ["mcp:garden:water_plants"]
            assert (await opened.describe("mcp:garden:water_plants"))["id"] == "mcp:garden:water_plants"
            assert text_of(await opened.call("mcp:garden:water_plants")) == "water_plants"


async def test_the_listing_of_an_address_is_there_at_the_next_start(tmp_path: Path) -> None:
    async with http_stub() as stub:
        url = stub.url
        stub.tools[:] = [tool("water_plants")]
        async with gateway(tmp_path, {"garden": {"url": url}}):
            pass
    async with gateway(tmp_path, {"garden": {"url": url}}) as opened:
        assert await opened.found("water plants") == ["mcp:garden:water_plants"]
        assert opened.running.statuses()["garden"].state is State.DOWN
        assert error_of(await opened.call("mcp:garden:water_plants"))["code"] == "upstream_down"
    async with gateway(tmp_path, {"garden": {"url": f"{url}/other"}}) as opened:
        assert await opened.found("water plants") == []


async def test_a_failure_says_what_to_do_and_holds_no_secret(tmp_path: Path) -> None:
    async with http_stub(
        {"tools/call": refusal(400, -32000, f"bad key {SECRET}"), "initialize": [status(401)]}
    ) as stub:
        entry = {
            "url": f"{stub.url.replace('127.0.0.1', f'ann:{SECRET}@127.0.0.1')}?api_key={SECRET}",
            "headers": {"Authorization": f"Bearer {SECRET}"},
        }
        async with gateway(tmp_path, {"garden": entry}) as opened:
            shown = describe_state(opened.running)
            failed = error_of(await opened.call("mcp:garden:echo"))
            del stub.answers["initialize"]
            await opened.until_state("garden", State.READY)
            refused = error_of(await opened.call("mcp:garden:echo"))
    upstreams = shown["upstreams"]
    assert isinstance(upstreams, list)
    (upstream,) = upstreams
    assert upstream["state"] == "down"
    assert upstream["hint"] == 'Renew the token in its "headers", or the variable that it comes from.'
    assert "HTTP 401" in upstream["error"]
    assert refused["message"] == "garden refused the call: bad key [redacted] (JSON-RPC error -32000)."
    assert SECRET not in f"{shown}{failed}{refused}{opened.running}{opened.settings}"


async def test_upstreams_at_addresses_and_in_processes_live_side_by_side(tmp_path: Path) -> None:
    async with http_stub() as good, http_stub({"initialize": status(500)}) as bad:
        servers = {"good": {"url": good.url}, "bad": {"url": bad.url}, "gone": {"command": "no-such-program"}}
        async with gateway(tmp_path, servers) as opened:
            assert text_of(await opened.call("mcp:good:echo")) == "echo"
            await opened.until_state("bad", State.DOWN)  # and not just now at its next try
            states = {owner: state.state for owner, state in opened.running.statuses().items()}
    assert states == {"good": State.READY, "bad": State.DOWN, "gone": State.DOWN}
