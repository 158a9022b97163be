"""The machine under the gateway: its clock is set, or it gives out no more descriptors."""

import os
import re
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tests.faults.matrix import Figures, Place, Row, Run, stays, takes
from tests.faults.stage import Stage
from tests.support.hosts import SERVE, open_host, part, text_of
from tests.support.http_gateways import answer_in, call_request, http_client, open_http_gateway, open_session
from tests.support.state_files import state_of
from tests.support.upstreams import Script, entry, received, write_config
from tests.support.waiting import until

CLOCK: Final = Path(__file__).parents[1] / "support" / "clock"
HOUR: Final = 3600.0
IDLE_SECONDS: Final = 1.5
"""What a call that hangs is given. Above what the other one takes on a busy machine."""

REFERENCE: Final = re.compile(r'"ref": "([^"]+)"')

UPSTREAMS: Final = 20
DESCRIPTORS: Final = 64
REASON: Final = "Too many open files"
WITHOUT_DESCRIPTORS: Final = ("sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", *SERVE)
KEPT_FREE: Final = 24
A_START: Final = 8
"""Of descriptors (`KEPT_FREE` in upstream_clients/platform/posix.py)."""

HOSTS: Final = 8


async def clock_set(place: Place) -> Figures:
    """An hour on and back again, each time with two calls under way: one that is answered then, and one that hangs."""
    gate, log, clock = place.folder / "gate", place.folder / "log", place.folder / "clock"
    does: dict[str, Script] = {
        "echo": {"do": "echo"},
        "wait": [{"do": "gate", "path": str(gate)}, {"do": "text", "text": "finished"}],
        "hang": {"do": "never"},
        "crash": {"do": "crash"},
        "long": {"do": "text", "text": "x" * 5_000},
    }
    limits = {"callIdleMs": round(IDLE_SECONDS * 1_000), "resultBytes": 1_024}
    config = write_config(
        place.folder, {"one": entry(does=does, log=str(log), marker=place.marker)}, {"limits": limits}
    )
    late, back = [], []
    async with open_host(config, added={"CLOCK": str(clock), "PYTHONPATH": str(CLOCK)}) as host:
        stage = Stage(place, host)
        assert await stage.text("mcp:one:echo", text="warm") == "warm"
        for times, jump in enumerate((HOUR, 0.0), 1):
            gate.unlink(missing_ok=True)
            kept = REFERENCE.search(await stage.text("mcp:one:long"))
            began = time.monotonic()
            hang, wait = [await host.post_call("tool_call", {"id": f"mcp:one:{name}"}) for name in ("hang", "wait")]
            await until(lambda: heard(log, "wait") == times)  # noqa: B023  (awaited here and now)
            clock.write_text(str(jump), encoding="ascii")
            for number in range(5):
                assert await stage.text("mcp:one:echo", text=f"{number}") == f"{number}"
            gate.touch()
            assert text_of(part(await host.answer(wait), "result")) == "finished"
            timed_out = part(await host.answer(hang), "result", "structuredContent", "error")
            late.append(time.monotonic() - began - IDLE_SECONDS)
            assert timed_out["code"] == "upstream_timeout"
            assert kept is not None
            assert "xxx" in await stage.text("toolfold:core:read_result", ref=kept[1], offset=4_000)
            assert (await stage.failure("mcp:one:crash"))[0] == "upstream_gone"
            back.append(await stage.back("mcp:one:echo"))
            await until(lambda: abs(written(stage) - time.time() - jump) < HOUR / 2)  # noqa: B023
    assert min(late) >= 0
    return {"deadline missed by": max(late), "back after": max(back)}


def heard(log: Path, name: str) -> int:
    """How many calls of this tool have come to the upstream."""
    return sum(part(message, "params").get("name") == name for message in received(log) if "params" in message)


def written(stage: Stage) -> float:
    """When the state file was written, by the gateway's own clock."""
    at = state_of(stage.place.folder, stage.pid)["written"]
    assert isinstance(at, float)
    return at


def crowded(place: Place) -> Path:
    one = entry(does={"echo": {"do": "echo"}}, marker=place.marker)
    return write_config(place.folder, {f"u{number}": one for number in range(UPSTREAMS)})


async def no_descriptors(place: Place) -> Figures:
    """Those that run are called and searched, and each of the others has its reason."""
    async with open_host(crowded(place), command=WITHOUT_DESCRIPTORS) as host:
        stage = Stage(place, host)
        ready, down = await tried(place, stage.pid)
        for _ in range(10):
            for owner in ready:
                assert await stage.text(f"mcp:{owner}:echo", text=owner) == owner
        assert set(await stage.search("echo")) <= {f"mcp:{owner}:echo" for owner in ready}
        code, seconds = await stage.failure(f"mcp:{next(iter(down))}:echo")
        taken = len(os.listdir(f"/proc/{stage.pid}/fd"))
        assert code == "upstream_down"
    assert "Traceback" not in host.stderr
    reasonless = sum(REASON not in reason for reason in down.values())
    return {"without a reason": reasonless, "refused after": seconds, "descriptors taken": taken}


async def no_descriptors_over_http(place: Place) -> Figures:
    """There is room left for hosts, and for what is imported for them when all upstreams have been tried."""
    async with open_http_gateway(crowded(place), command=WITHOUT_DESCRIPTORS) as gateway, AsyncExitStack() as stack:
        ready, down = await tried(place, gateway.process.pid)
        for number in range(HOSTS):
            client = await stack.enter_async_context(http_client())
            session = await open_session(client, gateway.url)
            owner = ready[number % len(ready)]
            answer = await client.post(
                gateway.url, json=call_request(f"mcp:{owner}:echo", {"text": owner}), headers=session
            )
            assert text_of(part(answer_in(answer), "result")) == owner
        taken = len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
    assert "Traceback" not in gateway.stderr
    reasonless = sum(REASON not in reason for reason in down.values())
    return {"without a reason": reasonless, "descriptors taken": taken - HOSTS}


async def tried(place: Place, process_id: int) -> tuple[list[str], dict[str, str]]:
    """The upstreams that run, and why the others do not, once each has been tried."""
    await until(lambda: len(reasons(place, process_id, "ready") | reasons(place, process_id, "down")) == UPSTREAMS)
    ready, down = reasons(place, process_id, "ready"), reasons(place, process_id, "down")
    assert ready != {}
    assert down != {}
    return list(ready), down


def reasons(place: Place, process_id: int, state: str) -> dict[str, str]:
    """The upstreams in this state and why, as the state file has it."""
    upstreams = state_of(place.folder, process_id).get("upstreams", [])
    assert isinstance(upstreams, list)
    return {one["upstream"]: one.get("error", "") for one in upstreams if one["state"] == state}


EACH_HAS_A_REASON: Final = stays("without a reason", 0)
SOME_ARE_LEFT: Final = stays("descriptors taken", DESCRIPTORS - KEPT_FREE + A_START)

ROWS: Final = (
    Row(
        28,
        "the clock jumps by an hour, and back",
        "`time.time` and `datetime` of a real gateway are set while calls are under way",
        "all deadlines are monotonic",
        "no early or late timeouts",
        (Run(clock_set, (takes("deadline missed by", 0.2), takes("back after", 3))),),
        "A deadline that comes early fails the row. Back-off after a crash and results that are kept for reading on are"
        " tried as well.",
    ),
    Row(
        29,
        "no more file descriptors",
        f"RLIMIT_NOFILE {DESCRIPTORS}, {UPSTREAMS} upstreams",
        "more upstreams are refused, and those that run are served",
        "no crash",
        (
            Run(no_descriptors, (EACH_HAS_A_REASON, SOME_ARE_LEFT, takes("refused after", 0.5)), how="stdio"),
            Run(no_descriptors_over_http, (EACH_HAS_A_REASON, SOME_ARE_LEFT), quick=False, how="HTTP"),
        ),
        "No upstream is started with the last descriptors: the SDK is imported later, files are stored, hosts come in.",
    ),
)
