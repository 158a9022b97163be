"""Mode code loses what isolates it: its child, its Node, its walls."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Final

from server.code import Gate
from tests.faults.matrix import Figures, NotTried, Place, Row, Run, stays, takes
from tests.support.engine import DATA, usable_node, why_no_code
from tests.support.hosts import Host, open_host, part, tool_names
from tests.support.processes import descendants, marked
from tests.support.state_files import state_of
from tests.support.upstreams import entry, received, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject

ECHO: Final = "'mcp:one:echo', { text: 'reached' }"
CALLS: Final = f"return (await tools.call({ECHO})).tool.name"
"""Code that leaves a trace: a call that its upstream logs."""

THREE_TOOLS: Final = ["tool_call", "tool_describe", "tool_search"]
WITHOUT_LAUNCHER: Final = (
    sys.executable,
    "-P",
    "-c",
    "import platform; platform.system = lambda: 'Darwin'; from server.cli import main; main()",
    "serve",
)
"""A gateway that takes this system for one where Node's own permissions are all that there is."""


def configured(place: Place) -> Path:
    """Raises NotTried."""
    if why := why_no_code():
        raise NotTried(why)
    one = entry(does={"echo": {"do": "echo"}}, log=str(place.folder / "log"), marker=place.marker)
    return write_config(place.folder, {"one": one}, {"toolSearch": {"mode": "code"}})


async def passes(place: Place, node: Path) -> None:
    """Leaves the verdict that this Node passes, for which a start has less time than a busy machine may take."""
    verdict = await Gate(node, DATA, place.folder / "toolfold-cache").verdict()
    assert verdict.runtime is not None, verdict.why


def variables(**more: str) -> dict[str, str]:
    return {"TOOLFOLD_DATA_DIR": str(DATA), **more}


def has_run(place: Place) -> bool:
    """Whether code has come as far as its call."""
    return any(message.get("method") == "tools/call" for message in received(place.folder / "log"))


async def failure(host: Host, code: str) -> JsonObject:
    result = await host.call("tool_search_code", {"code": code})
    assert result.get("isError") is True, result
    return part(result, "structuredContent", "error")


async def child_killed(place: Place) -> Figures:
    """It is told; the next run has a child of its own, and succeeds."""
    config = configured(place)
    await passes(place, Path(usable_node().program))
    async with open_host(config, added=variables()) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_search_code"]
        under_way = await host.post_call("tool_search_code", {"code": f"await tools.call({ECHO}); for (;;) {{}}"})
        await until(lambda: has_run(place))
        [child] = children(host)
        began = time.monotonic()
        os.kill(child, signal.SIGKILL)
        failed = part(await host.answer(under_way), "result", "structuredContent", "error")
        seconds = time.monotonic() - began
        again = await host.call("tool_search_code", {"code": CALLS})
    assert failed["code"] == "child_exit"
    assert part(again, "structuredContent")["value"] == "echo"
    return {"error after": seconds}


def children(host: Host) -> list[int]:
    """The code children of a gateway."""
    ours = descendants(host.process.pid)
    return [pid for pid, command in marked("--eval").items() if pid in ours]


async def node_removed(place: Place) -> Figures:
    """A run fails from then on; at the next start there are the three tools, and status says why."""
    config, node = configured(place), place.folder / "node"
    shutil.copy2(usable_node().program, node)
    await passes(place, node)
    added = variables(TOOLFOLD_NODE=str(node))
    async with open_host(config, added=added) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_search_code"]
        node.rename(place.folder / "elsewhere")
        gone = await failure(host, CALLS)
    async with open_host(config, added=added) as host:
        names = tool_names(await host.ask("tools/list"))
        refused = await failure(host, CALLS)
        await until(lambda: state_of(place.folder, host.process.pid) != {})
        state = state_of(place.folder, host.process.pid)
    assert (gone["code"], refused["code"]) == ("runtime_unavailable", "runtime_unavailable")
    assert names == THREE_TOOLS
    assert (state["mode"], part(state, "fallback")["to"]) == ("tools", "tools")
    return {"weaker runs": has_run(place)}


async def walls_missing(place: Place) -> Figures:
    """With a verdict from better days a run fails; without one there are the three tools from the start."""
    config = configured(place)
    if usable_node().denies_network:
        raise NotTried("this Node isolates code without a launcher, too")
    await passes(place, Path(usable_node().program))
    async with open_host(config, added=variables(), command=WITHOUT_LAUNCHER) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_search_code"]
        open_door = await failure(host, CALLS)
    (place.folder / "toolfold-cache" / "code" / "verdict.json").unlink()
    async with open_host(config, added=variables(), command=WITHOUT_LAUNCHER) as host:
        names = tool_names(await host.ask("tools/list"))
        refused = await failure(host, CALLS)
    assert (open_door["code"], refused["code"]) == ("runtime_unavailable", "runtime_unavailable")
    assert str(open_door["message"]).startswith("The isolated Node is not isolated: ")
    assert names == THREE_TOOLS
    return {"weaker runs": has_run(place)}


NO_WEAKER_RUN: Final = stays("weaker runs", 0)

ROWS: Final = (
    Row(
        31,
        "mode code loses its isolation",
        "kill -9 of the child; Node is renamed; Node 20 without the launcher",
        "an error, and mode tools at the next start; no weaker run",
        "0 runs without gate",
        (
            Run(child_killed, (takes("error after", 0.5),), how="child killed"),
            Run(node_removed, (NO_WEAKER_RUN,), quick=False, how="Node removed"),
            Run(walls_missing, (NO_WEAKER_RUN,), how="walls missing"),
        ),
        "The code that is run calls a tool, whose upstream would have a log of that.",
    ),
)
