"""Those at either end who do not answer or do not read: rows 4, 7, 11 and 12."""

import os
import signal
from pathlib import Path
from typing import Final

import anyio

from tests.faults.matrix import Figures, Measure, Place, Row, Run, stays, takes
from tests.faults.stage import Stage, beside, staged
from tests.support.hosts import part
from tests.support.upstreams import entry, received
from tests.support.waiting import until
from upstream_clients import JsonObject

DEADLINE_SECONDS: Final = 1.0
WAIT: Final = {"timeout": 1000 * DEADLINE_SECONDS}

CANCELLED: Final = "notifications/cancelled"
STILL_LOOKS: Final = 40
LOOK_SECONDS: Final = 0.01
BATCH: Final = 50
"""Requests that a host writes at once."""


async def hang_in_a_call(place: Place) -> Figures:
    log = place.folder / "log"
    bad = {**entry(does={"never": {"do": "never"}}, log=str(log), marker=place.marker), **WAIT}
    async with staged(place, {"bad": bad}) as stage, beside(stage):
        code, seconds = await stage.failure("mcp:bad:never")
        assert code == "upstream_timeout"
        await until(lambda: _of(log, CANCELLED) != [])
        [asked], [cancelled] = _of(log, "tools/call"), _of(log, CANCELLED)
        assert part(cancelled, "params")["requestId"] == asked["id"]
        return {"after the deadline": seconds - DEADLINE_SECONDS}


async def half_a_line(place: Place) -> Figures:
    """The rest never comes, so that whatever comes next can't be told from it."""
    does = {"echo": {"do": "echo"}, "half": {"do": "half"}}
    bad = {**entry(does=does, marker=place.marker), **WAIT}
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
        code, seconds = await stage.failure("mcp:bad:half")
        assert code == "upstream_timeout"
        code, _ = await stage.failure("mcp:bad:echo", text="glued to the half")
        assert code == "upstream_protocol"
        await stage.back("mcp:bad:echo")
        await neighbour.calls()
        return {"after the deadline": seconds - DEADLINE_SECONDS, "others' slowest call": neighbour.slowest()}


def slow_host(requests: int) -> Measure:
    """Descriptions of a tool with a large schema, asked for without reading one."""

    async def measure(place: Place) -> Figures:
        schema = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(100)}}
        large = {"name": "large", "description": "Has many fields.", "inputSchema": schema}
        async with staged(
            place, {"wide": entry(tools=[large], marker=place.marker)}, warm=("mcp:wide:large",)
        ) as stage:
            first = await _describe_unread(stage, requests)
            answers = [await stage.host.answer(number) for number in range(first, first + requests)]
            sizes = [len(str(part(answer, "result")["content"])) for answer in answers]
            assert min(sizes) == max(sizes)
            assert 2 * sum(sizes) > 16 << 20, "text and structure are more than may be kept"
            return {"memory more by": stage.grown(), "lost": requests - len(answers)}

    return measure


async def _describe_unread(stage: Stage, requests: int) -> int:
    """The id of the first of so many requests. The host reads on once no more of them are taken."""
    first, sent = 1_000_000, 0

    async def flood() -> None:
        nonlocal sent
        for start in range(first, first + requests, BATCH):
            await stage.host.write(b"".join(map(_description, range(start, min(start + BATCH, first + requests)))))
            sent += BATCH

    stage.count_on()
    stage.host.stop_reading()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flood)
        looks = [-1]
        while len(looks) < STILL_LOOKS or looks[-1] != looks[-STILL_LOOKS]:
            await anyio.sleep(LOOK_SECONDS)
            looks.append(sent)
        assert sent < requests, "a host that does not read is not read from"
        stage.host.read_on()
    return first


def _description(number: int) -> bytes:
    call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}\n'
    return call % (number, b'{"name":"tool_describe","arguments":{"id":"mcp:wide:large"}}')


def stopped(*, for_good: bool) -> Measure:
    """It is stopped by a signal, and is sent arguments of 1 MiB. `for_good`: it is never continued."""

    async def measure(place: Place) -> Figures:
        starts, text = place.folder / "starts", "x" * (1 << 20)
        bad = {**entry(does={"echo": {"do": "echo"}}, starts=str(starts), marker=place.marker), **WAIT}
        async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
            [pid] = _pids(starts)
            os.kill(pid, signal.SIGSTOP)
            code, seconds = await stage.failure("mcp:bad:echo", text=text)
            assert code == "upstream_timeout"
            if not for_good:
                os.kill(pid, signal.SIGCONT)
            await stage.back("mcp:bad:echo")
            assert len(_pids(starts)) == (2 if for_good else 1)
            await neighbour.calls()
            return {"after the deadline": seconds - DEADLINE_SECONDS, "others' p99": neighbour.p99()}

    return measure


def _pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text(encoding="ascii").split()]


def _of(log: Path, method: str) -> list[JsonObject]:
    """The messages of this method that an upstream has received."""
    return [message for message in received(log) if message.get("method") == method]


SLOW_BOUNDS: Final = (stays("memory more by", 16, "MiB"), stays("lost", 0))
STOPPED_BOUNDS: Final = (takes("after the deadline", 0.5), takes("others' p99", 100, "ms"))

ROWS: Final = (
    Row(
        4,
        "hang in a call",
        "never answers",
        "deadline error, `notifications/cancelled` sent",
        "deadline + 0.2 s; stub saw cancel",
        (Run(hang_in_a_call, (takes("after the deadline", 0.2),)),),
    ),
    Row(
        7,
        "half a line, then nothing",
        "30 bytes of an answer",
        "deadline; connection recycled with the next answer",
        "no loop stall > 50 ms",
        (Run(half_a_line, (takes("after the deadline", 0.2), takes("others' slowest call", 50, "ms"))),),
        "A stall of the loop is seen from outside: no call of another upstream, 100 in a row, took longer.",
    ),
    Row(
        11,
        "host reads slowly",
        "stops reading the gateway's standard output, and asks on",
        "bounded queue, calls stop being accepted, all answered in the end",
        "RSS + < 16 MiB over 10k results",
        (
            Run(slow_host(3_000), SLOW_BOUNDS, how="3,000 results"),
            Run(slow_host(10_000), SLOW_BOUNDS, quick=False, how="10,000 results"),
        ),
        "Each result is a description of 8 KB. What waits are the answers to one read of the pipe, 64 KiB of requests: "
        "larger answers take more.",
    ),
    Row(
        12,
        "upstream does not read",
        "SIGSTOP, arguments of 1 MiB",
        "deadline; after five unanswered calls a ping, then recycled",
        "deadline + 0.5 s",
        (
            Run(stopped(for_good=False), STOPPED_BOUNDS, how="and goes on"),
            Run(stopped(for_good=True), STOPPED_BOUNDS, quick=False, how="for good"),
        ),
    ),
)
