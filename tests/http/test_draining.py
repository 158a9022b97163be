"""From the first answer to the last: ready when the cache is read, and an end that loses no call which can still finish."""

import signal
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx2
import pytest

from server.http.address import Address, address_of, listen
from tests.support.hosts import hold_sdk
from tests.support.http_gateways import (
    INITIALIZE,
    HttpGateway,
    http_client,
    open_http_gateway,
    open_session,
    request,
    run_http_gateway,
)
from tests.support.processes import all_gone
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

SOON_SECONDS = 6.0
"""Less than what draining may take, and far more than an end needs when nothing is under way."""


def call(tool: str) -> dict[str, object]:
    return request("tools/call", {"name": "tool_call", "arguments": {"id": f"mcp:one:{tool}"}}, number=7)


async def is_refused(gateway: HttpGateway) -> bool:
    try:
        async with http_client() as client:
            await client.get(gateway.at("/healthz"))
    except httpx2.ConnectError:
        return True
    return False


async def test_it_is_ready_when_the_cache_is_read_and_the_protocol_is_there(tmp_path: Path) -> None:
    with listen(Address("127.0.0.1", 0)) as listener:
        address = address_of(listener)
    config, url = write_config(tmp_path, {}), f"http://{address}"
    async with (
        run_http_gateway(config, ["--http", str(address)], hold_sdk(tmp_path)) as gateway,
        http_client() as client,
    ):
        await gateway.said("mcp is wanted")
        before = [(await client.get(f"{url}{path}")).status_code for path in ("/healthz", "/readyz")]
        early = await client.post(f"{url}/mcp", json=request("initialize", INITIALIZE))
        with (tmp_path / "gate").open("w"):
            pass
        await gateway.said("serving MCP at")
        after = [(await client.get(f"{url}{path}")).status_code for path in ("/healthz", "/readyz")]
    assert (before, after) == ([200, 503], [200, 200])
    assert (early.status_code, early.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_end_waits_for_the_call_under_way_and_takes_no_other(tmp_path: Path, number: signal.Signals) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    steps = [{"do": "gate", "path": str(go)}, {"do": "text", "text": "finished"}]
    config = write_config(tmp_path, {"one": entry(does={"slow": steps}, log=str(log), marker=str(tmp_path))})
    answers: list[httpx2.Response] = []
    async with open_http_gateway(config) as gateway, http_client() as client, anyio.create_task_group() as tasks:
        session = await open_session(client, gateway.url)

        async def ask() -> None:
            answers.append(await client.post(gateway.url, json=call("slow"), headers=session))

        tasks.start_soon(ask)
        await until(lambda: bool(received(log)) and received(log)[-1]["method"] == "tools/call")
        gateway.process.send_signal(number)
        await gateway.said("ending on")
        with anyio.fail_after(SOON_SECONDS):
            while not await is_refused(gateway):
                await anyio.lowlevel.checkpoint()
        await anyio.Path(go).touch()
        assert await gateway.ended() == 0
    assert [(answer.status_code, "finished" in answer.text) for answer in answers] == [(200, True)]
    assert all_gone(str(tmp_path)) == {}


async def test_a_call_that_does_not_finish_is_answered_before_the_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    config = write_config(tmp_path, {"one": entry(does={"wait": {"do": "never"}}, log=str(log))})
    answers: list[httpx2.Response] = []
    async with open_http_gateway(config) as gateway, http_client() as client, anyio.create_task_group() as tasks:
        session = await open_session(client, gateway.url)

        async def ask() -> None:
            answers.append(await client.post(gateway.url, json=call("wait"), headers=session))

        tasks.start_soon(ask)
        await until(lambda: bool(received(log)) and received(log)[-1]["method"] == "tools/call")
        gateway.process.terminate()
        assert await gateway.ended() == 0
    assert [(answer.status_code, "draining" in answer.text, "-32000" in answer.text) for answer in answers] == [
        (200, True, True)
    ]


@pytest.mark.parametrize("is_calling", [False, True])
async def test_streams_that_only_listen_keep_nothing_waiting_and_at_a_second_signal_a_call_is_told(
    tmp_path: Path, is_calling: bool
) -> None:
    log = tmp_path / "log"
    config = write_config(tmp_path, {"one": entry(does={"wait": {"do": "never"}}, log=str(log), marker=str(tmp_path))})
    statuses: list[int] = []
    answers: list[str] = []
    async with open_http_gateway(config) as gateway, http_client() as client, anyio.create_task_group() as tasks:
        session = await open_session(client, gateway.url)

        async def ask() -> None:
            answers.append((await client.post(gateway.url, json=call("wait"), headers=session)).text)

        async def listen_on() -> None:
            async with client.stream("GET", gateway.url, headers=session) as stream:
                statuses.append(stream.status_code)
                assert [line async for line in stream.aiter_lines() if line.startswith("data:")] == []

        tasks.start_soon(listen_on)
        await until(lambda: statuses == [200])
        if is_calling:
            tasks.start_soon(ask)
            await until(lambda: bool(received(log)) and received(log)[-1]["method"] == "tools/call")
        gateway.process.terminate()
        if is_calling:
            await gateway.said("ending on")
            gateway.process.terminate()
        with anyio.fail_after(SOON_SECONDS):
            assert await gateway.ended() == 0
    assert ["draining" in answer for answer in answers] == [True] * is_calling
    assert all_gone(str(tmp_path)) == {}
    assert "Traceback" not in gateway.stderr
