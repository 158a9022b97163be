"""Answers that are not where they belong, and questions instead of answers: rows 15, 16 and 18."""

from collections import Counter
from typing import Final

import anyio

from tests.faults.matrix import Figures, Place, Row, Run, stays
from tests.faults.stage import Stage, hostile, staged
from tests.support.hosts import open_host, part
from tests.support.upstreams import Script, entry, received, write_config

CALLS: Final = 200
AT_ONCE: Final = 40
"""As many as one upstream may have, waiting ones included."""

ALL_CAPABILITIES: Final = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}
QUESTIONS: Final = ("sampling/createMessage", "elicitation/create", "roots/list")


async def wrong_ids(place: Place) -> Figures:
    bad = {**hostile(place, "doubling"), "timeout": 1_000}
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage:
        wrong = await _call_all(stage, "mcp:bad:echo")
        twice = [number for number, times in _answered(stage).items() if times > 1]
        code, _ = await stage.failure("mcp:bad:string")
        assert code == "upstream_timeout", "an answer under the id as a string is none"
        return {"wrong deliveries": wrong + len(twice)}


async def any_order(place: Place) -> Figures:
    bad = hostile(place, "shuffling", hold=8)
    async with staged(place, {"bad": bad}, warm=("mcp:bad:echo",)) as stage:
        return {"lost or crossed": await _call_all(stage, "mcp:bad:mixed")}


async def _call_all(stage: Stage, tool_id: str) -> int:
    """How many of `CALLS` calls did not get their own text back."""
    own = 0

    async def call(number: int) -> None:
        nonlocal own
        got = await stage.text(tool_id, text=f"number {number}")
        own += got == f"number {number}"

    for start in range(0, CALLS, AT_ONCE):
        async with anyio.create_task_group() as tasks:
            for number in range(start, start + AT_ONCE):
                tasks.start_soon(call, number)
    return CALLS - own


def _answered(stage: Stage) -> Counter[object]:
    """How often each request of the host was answered."""
    return Counter(message["id"] for message in stage.host.received if "method" not in message)


async def questions(place: Place) -> Figures:
    """The host could answer all of them."""
    log = place.folder / "log"
    asks: Script = [{"do": "request", "method": method, "id": method} for method in (*QUESTIONS, "ping")]
    bad = entry(does={"ask": [*asks, {"do": "text", "text": "asked"}]}, log=str(log), marker=place.marker)
    async with open_host(write_config(place.folder, {"bad": bad}), era="ungreeted") as host:
        await host.greet(capabilities=ALL_CAPABILITIES)
        stage = Stage(place, host)
        assert await stage.text("mcp:bad:ask") == "asked"
        assert await stage.text("mcp:bad:ask") == "asked", "all that it asked first has been answered by now"
        answers = {str(message["id"]): message for message in received(log) if "method" not in message}
        assert answers.pop("ping")["result"] == {}
        assert {method: part(answer, "error")["code"] for method, answer in answers.items()} == dict.fromkeys(
            QUESTIONS, -32601
        )
        return {"host was asked": sum("method" in message and "id" in message for message in host.received)}


ROWS: Final = (
    Row(
        15,
        "answers under wrong ids",
        "each of 200 calls answered under its id as text and as 1.0, under an unknown one, and twice",
        "first one wins, the rest counted; a string id is not matched",
        "0 wrong deliveries",
        (Run(wrong_ids, (stays("wrong deliveries", 0),)),),
    ),
    Row(
        16,
        "answers out of order",
        "200 calls, eight at a time, answered shuffled",
        "each to its caller",
        "200/200",
        (Run(any_order, (stays("lost or crossed", 0),)),),
    ),
    Row(
        18,
        "server asks the host",
        "sampling, elicitation and roots, within a call, of a host that has them all",
        "-32601",
        "no host traffic",
        (Run(questions, (stays("host was asked", 0),)),),
        "Such requests are refused one by one; nothing keeps a count of them.",
    ),
)
