"""Upstreams that end, or never begin: rows 1, 2, 3 and 17."""

import time
from typing import Final

import anyio

from tests.benchmarks.measuring import processor_seconds
from tests.faults.matrix import Figures, Measure, Place, Row, Run, stays, takes
from tests.faults.stage import Stage, beside, staged
from tests.support.hosts import open_host
from tests.support.processes import GONE_SECONDS, descendants, running
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until

GOOD: Final = ("one", "two", "three", "four")


async def crash_in_a_call(place: Place) -> Figures:
    bad = entry(does={"echo": {"do": "echo"}, "crash": {"do": "crash"}}, marker=place.marker)
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
        await neighbour.calls()
        before = neighbour.p99()
        neighbour.forget()
        code, seconds = await stage.failure("mcp:bad:crash")
        back = await stage.back("mcp:bad:echo")
        await neighbour.calls()
        assert code == "upstream_gone"
        return {"error after": seconds, "others' p99 more by": max(0, neighbour.p99() - before), "back after": back}


def crash_loop(seconds: float) -> Measure:
    """It worked once and is known; now it ends at every start."""

    async def measure(place: Place) -> Figures:
        starts, broken = place.folder / "starts", place.folder / "broken"
        does = {"echo": {"do": "echo"}, "crash": {"do": "crash"}}
        bad = entry(does=does, marker=place.marker, starts=str(starts), exit_while=str(broken))
        async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage:
            broken.touch()
            code, _ = await stage.failure("mcp:bad:crash")
            assert code == "upstream_gone"
            used = await _processor(stage, seconds)
            started = len(starts.read_text(encoding="ascii").splitlines()) - 1
            assert "mcp:bad:echo" in await stage.search("echo"), "what it listed last is still found"
            down, refused_after = await stage.failure("mcp:bad:echo")
            assert down == "upstream_down"
            return {"starts": started, "refused after": refused_after, "processor": 100 * used / seconds}

    return measure


async def _processor(stage: Stage, seconds: float) -> float:
    """What the gateway itself uses of its processor in this time."""
    before = processor_seconds(stage.pid)
    await anyio.sleep(seconds)
    after = processor_seconds(stage.pid)
    assert before is not None
    assert after is not None
    return after - before


async def hang_at_the_start(place: Place) -> Figures:
    good = entry(does={"echo": {"do": "echo"}}, marker=place.marker)
    hangs = {**entry(hang=True, marker=place.marker), "startupTimeout": 4_000}
    config = write_config(place.folder, {"hangs": hangs, **dict.fromkeys(GOOD, good)})
    start = time.monotonic()
    async with open_host(config) as host:
        await host.ask("tools/list")
        listed = time.monotonic() - start
        stage = Stage(place, host)
        for owner in GOOD:
            assert await stage.text(f"mcp:{owner}:echo", text="ready") == "ready"
        called = time.monotonic() - start
        status = await stage.until_state("hangs", "down")
        assert "not ready within 4 s" in str(status["error"])
        return {"tools listed after": listed, "the four answer after": called}


async def grandchild_holds_the_pipes(place: Place) -> Figures:
    """It ignores signals, and its parent is gone."""
    starts = place.folder / "starts"
    does = {"echo": {"do": "echo"}, "crash": {"do": "crash"}}
    bad = entry(does=does, children=["holding"], starts=str(starts), marker=place.marker)
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage:
        parent = int(starts.read_text(encoding="ascii"))
        family = {parent, *descendants(parent)}
        assert len(family) == 2
        code, seconds = await stage.failure("mcp:bad:crash")
        assert code == "upstream_gone"
        start = time.monotonic()
        with anyio.move_on_after(GONE_SECONDS):
            await until(lambda: running(family) == set())
        gone = time.monotonic() - start
        left = len(running(family))
        await stage.back("mcp:bad:echo")
        return {"error after": seconds, "gone after": gone, "survivors": left}


ROWS: Final = (
    Row(
        1,
        "crash in a call",
        "`os._exit(3)` on tools/call",
        "call error `upstream_gone`; restart with back-off; others unaffected",
        "error < 0.5 s; second upstream p99 + < 20 ms; back < 3 s",
        (
            Run(
                crash_in_a_call,
                (takes("error after", 0.5), takes("others' p99 more by", 20, "ms"), takes("back after", 3)),
            ),
        ),
    ),
    Row(
        2,
        "crash loop",
        "exit at every start",
        "back-off; tools stale but found; calls refused at once",
        "≤ 6 spawns/min; CPU < 5 %",
        (
            Run(
                crash_loop(3),
                (stays("starts", 2), takes("refused after", 0.1), takes("processor", 5, "%")),
                how="for 3 s",
            ),
            Run(
                crash_loop(60),
                (stays("starts", 6), takes("refused after", 0.1), takes("processor", 5, "%")),
                quick=False,
                how="for a minute",
            ),
        ),
    ),
    Row(
        3,
        "hang at the start",
        "never answers `initialize`",
        "start-up not blocked; upstream failed: timeout",
        "gateway ready < 2 s with 1 of 5 hung",
        (Run(hang_at_the_start, (takes("tools listed after", 2), takes("the four answer after", 2))),),
    ),
    Row(
        17,
        "upstream ends, grandchild holds its pipes",
        "`os._exit(3)` with a child that ignores signals",
        "group killed, pipes closed",
        "0 survivors after 5 s",
        (
            Run(
                grandchild_holds_the_pipes,
                (takes("error after", 0.5), stays("gone after", GONE_SECONDS, "s"), stays("survivors", 0)),
            ),
        ),
    ),
)
