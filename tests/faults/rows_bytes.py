"""What comes out of an upstream's pipes and is no acceptable line: rows 5, 6, 8, 9, 10 and 32."""

from typing import Final

from tests.faults.matrix import Bound, Figures, Place, Row, Run, stays, takes
from tests.faults.stage import beside, hostile, staged
from tests.support.upstreams import Script, entry

CANARY: Final = "canary 0f3a9c51d7e24b86 sings"
"""No credential by its looks: the configuration's own are masked in the log, which would hide that a line is logged."""
BANNERS: Final = 20
GIANT_BYTES: Final = 64 << 20


async def banners(place: Place) -> Figures:
    """Before the greeting, after it, and in the middle of a call."""
    junk = [f"Debug {number}: {CANARY}" for number in range(BANNERS)]
    chatty: Script = [{"do": "write", "line": f"calling with {CANARY}"}, {"do": "echo"}]
    bad = entry(junk_before=junk, junk_after=junk, does={"echo": chatty}, marker=place.marker)
    loud = {"log": {"level": "debug"}}
    async with staged(place, {"bad": bad}, loud, warm=("mcp:bad:echo",)) as stage:
        for number in range(BANNERS):
            assert await stage.text("mcp:bad:echo", text=str(number)) == str(number)
        await stage.until_state("bad", "ready")
        return {"canaries": stage.written().count(CANARY.encode())}


def fault(step: str, *bounds: Bound) -> Run:
    """A call is answered with this step of a scripted server. That call fails, nobody else's, and the server comes back."""

    async def measure(place: Place) -> Figures:
        does: dict[str, Script] = {"echo": {"do": "echo"}, "bad": {"do": step, "bytes": GIANT_BYTES}}
        bad = entry(does=does, marker=place.marker)
        async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
            stage.count_on()
            code, seconds = await stage.failure("mcp:bad:bad")
            assert code == "upstream_protocol"
            await stage.back("mcp:bad:echo")
            await neighbour.calls()
            figures = {"error after": seconds, "memory more by": stage.grown(), "others' p99": neighbour.p99()}
            return {bound.figure: figures[bound.figure] for bound in bounds}

    return Run(measure, bounds)


async def unreadable(place: Place) -> Figures:
    twice = '{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"first","text":"last"}]}}'
    steps = {"deep": {"do": "deep"}, "nan": {"do": "nan"}, "twice": {"do": "write", "line": twice}}
    servers = {
        name: entry(does={"echo": {"do": "echo"}, "bad": step}, marker=place.marker) for name, step in steps.items()
    }
    async with staged(place, servers, warm=tuple(f"mcp:{name}:echo" for name in steps)) as stage:
        failures = {name: await stage.failure(f"mcp:{name}:bad") for name in ("deep", "nan")}
        assert {code for code, _ in failures.values()} == {"upstream_protocol"}
        assert await stage.text("mcp:twice:bad") == "last"
        assert stage.host.received[-1]["result"] == {
            "content": [{"type": "text", "text": "last"}],
            "_meta": {"toolfold/tool": "mcp:twice:bad"},
        }
        for name in steps:
            await stage.back(f"mcp:{name}:echo")
        return {"error after": max(seconds for _, seconds in failures.values())}


def stderr_flood(megabytes: int, how: str, *, quick: bool) -> Run:
    async def measure(place: Place) -> Figures:
        bad = hostile(place, "flooding", megabytes=megabytes)
        async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
            stage.count_on()
            assert await stage.text("mcp:bad:flood", text="drained") == "drained"
            await neighbour.calls()
            return {"memory more by": stage.grown(), "others' p99": neighbour.p99()}

    return Run(measure, (stays("memory more by", 4, "MiB"), takes("others' p99", 100, "ms")), quick, how)


GIANT_BOUNDS: Final = (takes("error after", 2), stays("memory more by", 16, "MiB"), takes("others' p99", 100, "ms"))

ROWS: Final = (
    Row(
        5,
        "banners on standard output",
        "20 lines before the greeting, 20 after it, one in each call",
        "skipped; content not logged",
        "0 canary bytes in log",
        (Run(banners, (stays("canaries", 0),)),),
        "Such lines are skipped at any time, and counted: servers that print while they work are common and harmless.",
    ),
    Row(
        6,
        "invalid UTF-8",
        "`\\xff` in a result",
        "that call fails at once, connection recycled",
        "< 0.5 s",
        (fault("utf8", takes("error after", 0.5)),),
    ),
    Row(
        8,
        "giant line",
        "a result of 64 MiB",
        "dropped at 4 MiB, connection recycled",
        "RSS + < 16 MiB; < 2 s; other calls p99 < 100 ms",
        (fault("giant", *GIANT_BOUNDS),),
        "The code is `upstream_protocol` for whatever is no acceptable line; the message says that it was too long.",
    ),
    Row(
        9,
        "endless line",
        "bytes without a line end, until it is killed",
        "as row 8",
        "as row 8",
        (fault("endless", *GIANT_BOUNDS),),
    ),
    Row(
        10,
        "deep JSON, NaN, doubled keys",
        "100,000 `[`; `NaN`; a key twice",
        "`upstream_protocol`",
        "< 0.5 s",
        (Run(unreadable, (takes("error after", 0.5),)),),
        "Of a key that comes twice the last value counts. It is read once, and what is passed on has it once, so that "
        "nobody can read it otherwise than we did.",
    ),
    Row(
        32,
        "flood on standard error",
        "1 GiB within a call",
        "drained, the last 64 KiB kept",
        "RSS + < 4 MiB",
        (stderr_flood(64, "64 MiB", quick=True), stderr_flood(1024, "1 GiB", quick=False)),
    ),
)
