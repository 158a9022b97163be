"""Upstreams that end, or never begin."""

from typing import Final

from tests.faults.matrix import Figures, Place, Row, Run, takes
from tests.faults.stage import beside, staged
from tests.support.upstreams import entry


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
)
