"""Hosts that leave, and signals: how the gateway ends, and what is left of it."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.to_thread
import httpx2

from tests.faults.matrix import Figures, Place, Row, Run, stays, takes
from tests.support.hosts import SERVE, Host, JsonObject, open_host, part, text_of
from tests.support.http_gateways import (
    HttpGateway,
    answer_in,
    call_request,
    http_client,
    open_http_gateway,
    open_session,
)
from tests.support.processes import all_there, descendants, running
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

CALLS: Final = 20
IN_FLIGHT: Final = 8
"""Of one upstream; the others wait for their turn (`IN_FLIGHT` in upstream_clients/bulkhead.py)."""

PROCESSES: Final = 6
"""Three upstreams, and three processes that one of them has started."""

DRAINING: Final = -32000

HOST_PROCESS: Final = """
import subprocess, sys
gateway = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
while content := sys.stdin.buffer.read1(65536):
    gateway.stdin.write(content)
    gateway.stdin.flush()
"""
"""A host in a process of its own, which can be killed: it starts the gateway and hands on what it is told to say."""

Ending: TypeAlias = Callable[[], Awaitable[None]]


def configured(place: Place) -> Path:
    """Two upstreams that answer once the gate is open, and one that never does. That, and what it has started, ignores
    every signal and the end of its input."""
    log = str(place.folder / "log")
    wait = [{"do": "gate", "path": str(gate(place))}, {"do": "text", "text": "finished"}]
    plain = entry(does={"wait": wait}, log=log, marker=place.marker)
    stubborn = entry(
        does={"wait": {"do": "never"}},
        log=log,
        marker=place.marker,
        ignore_eof=True,
        ignore_sigterm=True,
        children=["holding", "detached", "escaped"],
    )
    return write_config(place.folder, {"one": plain, "two": plain, "stubborn": stubborn})


def gate(place: Place) -> Path:
    return place.folder / "gate"


def heard(place: Place, method: str) -> int:
    """How many messages of this method have reached the upstreams."""
    return sum(message.get("method") == method for message in received(place.folder / "log"))


async def under_way(place: Place, host: Host) -> list[int]:
    """The ids of so many calls, once all of them have reached their upstreams."""
    await anyio.to_thread.run_sync(all_there, place.marker, PROCESSES)
    owners = [*["one"] * IN_FLIGHT, *["two"] * IN_FLIGHT, *["stubborn"] * (CALLS - 2 * IN_FLIGHT)]
    calls = [await host.post_call("tool_call", {"id": f"mcp:{owner}:wait"}) for owner in owners]
    await until(lambda: heard(place, "tools/call") == CALLS)
    return calls


def by(process_id: int, number: signal.Signals) -> Ending:
    async def end() -> None:
        os.kill(process_id, number)

    return end


async def gone(process_id: int, end: Ending) -> float:
    """Ends a process, and returns the seconds until it and all that it had started are gone."""
    family = {process_id, *descendants(process_id)}
    assert len(family) > PROCESSES
    began = time.monotonic()
    await end()
    await until(lambda: running(family) == set())
    return time.monotonic() - began


def drained(answers: Sequence[JsonObject]) -> int:
    """How many of the calls were told that the gateway ends."""
    errors = [part(answer, "error") for answer in answers]
    return sum(error["code"] == DRAINING and str(error["message"]).startswith("draining") for error in errors)


async def closed_input(place: Place) -> Figures:
    async with open_host(configured(place)) as host:
        calls = await under_way(place, host)
        seconds = await gone(host.process.pid, host.close_input)
        assert drained([await host.answer(number) for number in calls]) == CALLS
        assert await host.ended() == 0
    assert heard(place, "notifications/cancelled") == CALLS
    return {"all gone after": seconds}


async def host_killed(place: Place) -> Figures:
    async with open_host(configured(place), command=(sys.executable, "-I", "-c", HOST_PROCESS, *SERVE)) as host:
        await under_way(place, host)
        seconds = await gone(host.process.pid, by(host.process.pid, signal.SIGKILL))
        assert await host.ended() == -signal.SIGKILL
    assert "Traceback" not in host.stderr
    return {"all gone after": seconds}


async def gateway_killed(place: Place) -> Figures:
    async with open_host(configured(place)) as host:
        await under_way(place, host)
        seconds = await gone(host.process.pid, by(host.process.pid, signal.SIGKILL))
    return {"all gone after": seconds}


async def terminated(place: Place) -> Figures:
    async with open_host(configured(place)) as host:
        calls = await under_way(place, host)
        seconds = await gone(host.process.pid, by(host.process.pid, signal.SIGTERM))
        told = drained([await host.answer(number) for number in calls])
        assert await host.ended() == 0
    return {"calls without an answer": CALLS - told, "all gone after": seconds}


async def interrupted(place: Place) -> Figures:
    async with open_host(configured(place)) as host:
        await under_way(place, host)
        seconds = await gone(host.process.pid, by(host.process.pid, signal.SIGINT))
        assert await host.ended() == 0
    return {"all gone after": seconds}


async def terminated_twice(place: Place) -> Figures:
    async with open_host(configured(place)) as host:

        async def end() -> None:
            os.kill(host.process.pid, signal.SIGTERM)
            await host.said("SIGTERM")
            os.kill(host.process.pid, signal.SIGTERM)

        await under_way(place, host)
        seconds = await gone(host.process.pid, end)
        assert await host.ended() in (0, -signal.SIGTERM)
    return {"all gone after": seconds}


@asynccontextmanager
async def called_over_http(place: Place, *owners: str) -> AsyncIterator[tuple[HttpGateway, list[httpx2.Response]]]:
    """A gateway with so many calls to these upstreams under way. The list has what came of them after the context."""
    answers: list[httpx2.Response] = []
    async with open_http_gateway(configured(place)) as gateway, http_client() as client:
        session = await open_session(client, gateway.url)

        async def ask(number: int) -> None:
            call = call_request(f"mcp:{owners[number % len(owners)]}:wait", {}, number)
            with suppress(httpx2.TransportError):  # a connection that is cut brings no answer
                answers.append(await client.post(gateway.url, json=call, headers=session))

        async with anyio.create_task_group() as tasks:
            for number in range(CALLS):
                tasks.start_soon(ask, number)
            await anyio.to_thread.run_sync(all_there, place.marker, PROCESSES)
            await until(lambda: heard(place, "tools/call") == IN_FLIGHT * len(owners))
            yield gateway, answers


async def finished_over_http(place: Place) -> Figures:
    """Those under way finish, and so do those that wait for their turn."""
    async with called_over_http(place, "one", "two") as (gateway, answers):
        gateway.process.terminate()
        await gateway.said("ending on")
        await anyio.Path(gate(place)).touch()
        assert await gateway.ended() == 0
    finished = [text_of(part(answer_in(answer), "result")) for answer in answers]
    assert finished == ["finished"] * len(answers)
    return {"calls without an answer": CALLS - len(answers)}


async def given_up_over_http(place: Place) -> Figures:
    """Those that do not finish in time are told."""
    async with called_over_http(place, "stubborn") as (gateway, answers):
        seconds = await gone(gateway.process.pid, by(gateway.process.pid, signal.SIGTERM))
        assert await gateway.ended() == 0
    told = drained([answer_in(answer) for answer in answers])
    return {"calls without an answer": CALLS - told, "all gone after": seconds}


async def terminated_twice_over_http(place: Place) -> Figures:
    async with called_over_http(place, "stubborn") as (gateway, answers):

        async def end() -> None:
            gateway.process.terminate()
            await gateway.said("ending on")
            gateway.process.terminate()

        seconds = await gone(gateway.process.pid, end)
        assert await gateway.ended() == 0
    told = drained([answer_in(answer) for answer in answers])
    return {"calls without an answer": CALLS - told, "all gone after": seconds}


NO_CALL_IS_LOST: Final = stays("calls without an answer", 0)

ROWS: Final = (
    Row(
        19,
        "host leaves during calls",
        "its end of our input is closed",
        "the upstreams are told that the calls are cancelled, and all ends",
        "exit < 3 s, 0 children",
        (Run(closed_input, (takes("all gone after", 3),)),),
    ),
    Row(
        20,
        "killed with -9",
        "SIGKILL",
        "end of input and watchdog end all",
        "0 orphans < 5 s",
        (
            Run(host_killed, (takes("all gone after", 5),), how="the host"),
            Run(gateway_killed, (takes("all gone after", 5),), quick=False, how="the gateway"),
        ),
        "A third upstream, and three processes that it has started, ignore every signal and the end of their input.",
    ),
    Row(
        21,
        "SIGTERM with 20 calls under way",
        "signal",
        "they finish, or are answered that the gateway drains; exit 0",
        "0 lost replies for calls < 10 s",
        (
            Run(terminated, (NO_CALL_IS_LOST, takes("all gone after", 1.5)), how="stdio"),
            Run(finished_over_http, (NO_CALL_IS_LOST,), how="HTTP, finishing"),
            Run(given_up_over_http, (NO_CALL_IS_LOST, takes("all gone after", 12)), quick=False, how="HTTP, hanging"),
        ),
        "On stdio all are answered with `draining` at once: hosts kill two seconds after they close the input.",
    ),
    Row(
        22,
        "SIGTERM twice, SIGINT",
        "signal",
        "at once",
        "< 1 s",
        (
            Run(terminated_twice, (takes("all gone after", 1),), how="SIGTERM twice, stdio"),
            Run(interrupted, (takes("all gone after", 1),), quick=False, how="SIGINT, stdio"),
            Run(
                terminated_twice_over_http,
                (NO_CALL_IS_LOST, takes("all gone after", 1)),
                quick=False,
                how="SIGTERM twice, HTTP",
            ),
        ),
    ),
)
