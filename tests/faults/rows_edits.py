"""The configuration is edited while calls are under way."""

import time
from typing import Final

from tests.faults.matrix import Figures, Place, Row, Run, takes
from tests.faults.stage import NEIGHBOUR, beside, staged
from tests.support.hosts import part, text_of
from tests.support.processes import marked
from tests.support.state_files import state_of
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until

LOOKED_AT_SECONDS: Final = 2.0
"""The files are looked at once a second, and taken when they have stopped changing."""


def echo(place: Place) -> dict[str, object]:
    return entry(does={"echo": {"do": "echo"}}, marker=place.marker)


async def spoilt_and_mended(place: Place) -> Figures:
    """Somebody calls all the while, and each of the calls is answered rightly."""
    async with staged(place, {}) as stage, beside(stage) as neighbour:
        began = time.monotonic()
        (place.folder / "mcp.json").write_text('{"mcpServers": {"added": ', encoding="utf-8")
        await until(lambda: "refused" in state_of(place.folder, stage.pid))
        told = time.monotonic() - began
        neighbour.forget()
        await neighbour.calls()
        began = time.monotonic()
        write_config(place.folder, {NEIGHBOUR: echo(place), "added": echo(place)})
        await until(lambda: stage.upstream("added") != {})
        await until(lambda: "refused" not in state_of(place.folder, stage.pid))
        taken = time.monotonic() - began
        assert await stage.text("mcp:added:echo", text="new") == "new"
        neighbour.forget()
        await neighbour.calls()
    return {"told after": told, "in force after": taken}


async def taken_out_in_use(place: Place) -> Figures:
    """A call under way is finished, whoever calls now is told that there is no such tool, and then its process ends."""
    own_marker, gate, log = f"{place.marker}-used", place.folder / "gate", place.folder / "log"
    wait = [{"do": "gate", "path": str(gate)}, {"do": "text", "text": "finished"}]
    used = entry(does={"echo": {"do": "echo"}, "wait": wait}, marker=own_marker, log=str(log))
    async with staged(place, {"used": used}, warm=("mcp:used:echo",)) as stage, beside(stage) as neighbour:
        await stage.until_state("used", "ready")
        under_way = await stage.host.post_call("tool_call", {"id": "mcp:used:wait"})
        await until(lambda: received(log)[-1].get("method") == "tools/call")
        began = time.monotonic()
        write_config(place.folder, {NEIGHBOUR: echo(place)})
        await until(lambda: stage.upstream("used") == {})
        taken = time.monotonic() - began
        assert (await stage.failure("mcp:used:echo"))[0] == "unknown_tool"
        assert "mcp:used:echo" not in await stage.search("echo")
        neighbour.forget()
        await neighbour.calls()
        began = time.monotonic()
        gate.touch()
        assert text_of(part(await stage.host.answer(under_way), "result")) == "finished"
        await until(lambda: marked(own_marker) == {})
        ended = time.monotonic() - began
    return {"in force after": taken, "its process gone after": ended}


ROWS: Final = (
    Row(
        23,
        "bad configuration while running",
        "invalid JSON is written, then a good file",
        "the old one stays in force and status says why; then the new one",
        "0 failed calls during both",
        (Run(spoilt_and_mended, (takes("told after", LOOKED_AT_SECONDS), takes("in force after", LOOKED_AT_SECONDS))),),
        "A call that fails fails the row.",
    ),
    Row(
        24,
        "an upstream in use is taken out",
        "edit of the configuration",
        "the call under way finishes, then it is closed",
        "0 errors",
        (
            Run(
                taken_out_in_use,
                (takes("in force after", LOOKED_AT_SECONDS), takes("its process gone after", 1)),
            ),
        ),
        "A call that fails fails the row.",
    ),
)
