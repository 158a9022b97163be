"""Tool lists that do not stand still: rows 13 and 14."""

from pathlib import Path
from typing import Final

import anyio

from tests.faults.matrix import Figures, Measure, Place, Row, Run, stays, takes
from tests.faults.stage import beside, hostile, staged
from upstream_clients import JsonObject

NOTIFICATIONS: Final = 20_000
FLAPPING_TOOLS: Final = 1_000
LAST_TOOL: Final = "mcp:bad:aftermath"


async def storm(place: Place) -> Figures:
    times = place.folder / "times"
    bad = hostile(place, "storming", times=str(times), notifications=NOTIFICATIONS)
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage, beside(stage) as neighbour:
        neighbour.forget()
        await stage.text("mcp:bad:storm")
        with anyio.fail_after(30):
            while LAST_TOOL not in await stage.search("aftermath"):  # noqa: ASYNC110  (nobody tells)
                await anyio.sleep(0.1)
        await neighbour.calls()
        return {"lists in a second": _most_in_a_second(times), "others' p99": neighbour.p99()}


def _most_in_a_second(times: Path) -> int:
    at = [float(line) for line in times.read_text(encoding="ascii").split()]
    return max(sum(start <= other < start + 1 for other in at) for start in at)


def flapping(searches: int, generations: int) -> Measure:
    """So many searches at least, and until so many generations of the list were seen in their answers."""

    async def measure(place: Place) -> Figures:
        bad = hostile(place, "flapping", tools=FLAPPING_TOOLS)
        async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage:
            seen: set[str] = set()
            mixed = asked = wrongly_empty = 0
            while asked < searches or len(seen) < generations:
                asked += 1
                answer = await stage.search_answer(f"flap {asked % FLAPPING_TOOLS}")
                found = _generations(answer)
                mixed += len(found) > 1
                wrongly_empty += not found and "bad" not in _unseen(answer)
                seen |= found
            return {"mixed": mixed, "wrongly empty": wrongly_empty}

    return measure


def _generations(answer: JsonObject) -> set[str]:
    """Those that the hits are of."""
    hits = answer["tools"]
    assert isinstance(hits, list)
    return {str(hit["id"]).split("_")[1] for hit in hits}


def _unseen(answer: JsonObject) -> list[str]:
    """The upstreams that the answer says it could not search."""
    unseen = answer.get("starting", [])
    assert isinstance(unseen, list)
    return unseen


FLAPPING_BOUNDS: Final = (stays("mixed", 0), stays("wrongly empty", 0))

ROWS: Final = (
    Row(
        13,
        "storm of list_changed",
        "20,000 notifications in three seconds",
        "coalesced: ≤ 1 listing in flight + 1 pending, ≥ 1 s apart; the last change is taken",
        "≤ 3 lists/s; other call p99 < 100 ms",
        (Run(storm, (stays("lists in a second", 3), takes("others' p99", 100, "ms"))),),
    ),
    Row(
        14,
        "flapping catalogue",
        "each listing has 1,000 other tools than the last, and is outdated at once",
        "snapshot swap; search never errors or mixes generations",
        "0 inconsistent pages in 1,000 searches",
        (
            Run(flapping(150, 2), FLAPPING_BOUNDS, how="150 searches"),
            Run(flapping(1_000, 3), FLAPPING_BOUNDS, quick=False, how="1,000 searches"),
        ),
        "While the index of a new list is being built, an answer without hits says whose tools it has not seen.",
    ),
)
