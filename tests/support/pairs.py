"""One suite of calls for every pair of a host and an upstream, driven by two tables: what is tried (CASES), and by which
tool of an upstream and with what outcome (`Upstream.asks`). A case that an upstream has no tool for is not tried with it.
"""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import anyio

from tests.support.sides import Side
from tests.support.upstreams import Script, command
from upstream_clients import JsonObject

WAIT_SECONDS: Final = 60.0

Block: TypeAlias = str | tuple[str, str, int]
"""A text, or of anything binary its type, its media type and how many bytes it has."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of one tool, and what is to come of it."""

    tool: str
    arguments: object = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    structured: JsonObject | None = None
    steps: tuple[tuple[float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Upstream:
    """One kind of upstream. `query` finds `asks["found"]`; `counts` tells how many calls it was told to give up."""

    owner: str
    query: str
    asks: Mapping[str, Ask]
    counts: str = ""

    def id(self, case: str) -> str:
        return f"mcp:{self.owner}:{self.asks[case].tool}"


Check: TypeAlias = Callable[[Side, Upstream, Ask], Awaitable[None]]


async def check(side: Side, upstream: Upstream, case: str) -> None:
    """Tries one case with one pair."""
    with anyio.fail_after(WAIT_SECONDS):
        await CASES[case](side, upstream, upstream.asks[case])


async def _is_found(side: Side, upstream: Upstream, ask: Ask) -> None:
    """By a search within all upstreams: beside it stand only the same tools of others."""
    answer = _structured(await side.call("tool_search", {"query": f"{upstream.owner} {upstream.query}", "limit": 20}))
    tools = answer["tools"]
    assert isinstance(tools, list)
    assert upstream.id("found") in [tool["id"] for tool in tools]


async def _is_described(side: Side, upstream: Upstream, ask: Ask) -> None:
    tool = _structured(await side.call("tool_describe", {"id": upstream.id("described")}))["tool"]
    assert isinstance(tool, dict)
    assert (tool["name"], sorted(tool["inputSchema"]["properties"])) == (ask.tool, ask.arguments)


async def _answers(side: Side, upstream: Upstream, ask: Ask) -> None:
    result = await _called(side, upstream, ask)
    assert _outcome(result) == (ask.blocks, ask.structured, False)
    assert _meta(result)["toolfold/tool"] == f"mcp:{upstream.owner}:{ask.tool}"


async def _fails(side: Side, upstream: Upstream, ask: Ask) -> None:
    """With the tool's own error."""
    assert _outcome(await _called(side, upstream, ask)) == (ask.blocks, ask.structured, True)


async def _is_repaired(side: Side, upstream: Upstream, ask: Ask) -> None:
    """`arguments` are those of `tool_call` but for the id, as a clumsy model sends them."""
    assert isinstance(ask.arguments, dict)
    result = await side.call("tool_call", {"id": f"mcp:{upstream.owner}:{ask.tool}", **ask.arguments})
    assert _outcome(result) == (ask.blocks, ask.structured, False)
    assert _meta(result)["toolfold/repairs"]


async def _is_refused(side: Side, upstream: Upstream, ask: Ask) -> None:
    """By us, with words on what to send."""
    error = _error(await _called(side, upstream, ask))
    assert (error["code"], bool(error["hint"])) == ("invalid_arguments", True)


async def _is_unknown(side: Side, upstream: Upstream, ask: Ask) -> None:
    error = _error(await _called(side, upstream, ask))
    assert error["code"] == "unknown_tool"


async def _reports_progress(side: Side, upstream: Upstream, ask: Ask) -> None:
    steps: list[tuple[float, float | None]] = []
    result = await _called(side, upstream, ask, lambda *step: steps.append(step))
    assert tuple(steps) == ask.steps
    assert _outcome(result) == (ask.blocks, ask.structured, False)


async def _is_cancelled(side: Side, upstream: Upstream, ask: Ask) -> None:
    """Once it is under way; the upstream is told, and answers the next call."""
    before, under_way = await _cancelled(side, upstream), anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_called, side, upstream, ask, lambda *_step: under_way.set())
        await under_way.wait()
        tasks.cancel_scope.cancel()
    while upstream.counts and await _cancelled(side, upstream) == before:
        continue  # it is told a moment later
    await check(side, upstream, "structured")


async def _cancelled(side: Side, upstream: Upstream) -> int:
    if not upstream.counts:
        return 0
    ((text,), _, _) = _outcome(await _called(side, upstream, Ask(upstream.counts)))
    return int(str(text))


async def _is_long(side: Side, upstream: Upstream, ask: Ask) -> None:
    """Beyond what a host takes: it is cut, and read on until the whole is there."""
    result = await _called(side, upstream, ask)
    ((shown,), _, _) = _outcome(result)
    ((whole,),) = (ask.blocks,)
    assert isinstance(shown, str)
    assert isinstance(whole, str)
    text, marker, rest = shown.partition("\n[toolfold: cut at byte ")
    assert marker
    ref = json.loads(rest[rest.index("{") : rest.rindex("}") + 1])["args"]
    offset: object = ref["offset"]
    while offset is not None:
        arguments: JsonObject = {"id": "toolfold:core:read_result", "args": {**ref, "offset": offset}}
        read = await side.call("tool_call", arguments)
        ((more,), _, _) = _outcome(read)
        text += str(more).partition("\n[toolfold: cut at byte ")[0]
        offset = _meta(read).get("toolfold/nextOffset")
    assert text == whole


CASES: Final[Mapping[str, Check]] = {
    "found": _is_found,
    "described": _is_described,
    "text": _answers,
    "structured": _answers,
    "binary": _answers,
    "error": _fails,
    "repaired": _is_repaired,
    "refused": _is_refused,
    "unknown": _is_unknown,
    "progress": _reports_progress,
    "cancelled": _is_cancelled,
    "long": _is_long,
}


async def _called(side: Side, upstream: Upstream, ask: Ask, steps: Callable[..., None] | None = None) -> JsonObject:
    return await side.call("tool_call", {"id": f"mcp:{upstream.owner}:{ask.tool}", "args": ask.arguments}, steps)


def _outcome(result: JsonObject) -> tuple[tuple[Block, ...], object, bool]:
    content = result["content"]
    assert isinstance(content, list)
    return tuple(map(_block, content)), result.get("structuredContent"), result.get("isError") is True


def _block(block: JsonObject) -> Block:
    if block["type"] == "text":
        return str(block["text"])
    return str(block["type"]), str(block["mimeType"]), len(base64.b64decode(str(block["data"])))


def _structured(result: JsonObject) -> JsonObject:
    content = result["structuredContent"]
    assert isinstance(content, dict)
    return content


def _meta(result: JsonObject) -> JsonObject:
    meta = result["_meta"]
    assert isinstance(meta, dict)
    return meta


def _error(result: JsonObject) -> JsonObject:
    assert result.get("isError") is True
    error = _structured(result)["error"]
    assert isinstance(error, dict)
    return error


# The garden: the tools of our own servers, the one that is written by hand and the one on the SDK.

_LITRES: Final[JsonObject] = {
    "type": "object",
    "properties": {"litres": {"type": "integer"}, "bed": {"type": "string"}},
    "required": ["litres"],
}
_TEXT: Final[JsonObject] = {"type": "object", "properties": {"text": {"type": "string"}}}
_NOTHING: Final[JsonObject] = {"type": "object", "properties": {}}
_DOES: Final[Mapping[str, Script]] = {
    "echo": {"do": "echo"},
    "water_plants": {"do": "structured"},
    "leaf": {"do": "binary", "bytes": 32},
    "harvest": {"do": "error", "text": "nothing is ripe"},
    "grow": [{"do": "progress", "steps": 3}, {"do": "text", "text": "grown"}],
    "wait": [{"do": "progress", "steps": 1}, {"do": "never"}],
    "count_cancelled": {"do": "tell_cancelled"},
    "recite": {"do": "text", "bytes": 100_000},
}
GARDEN: Final[list[JsonObject]] = [
    {
        "name": name,
        "description": f"The garden's: {name.replace('_', ' ')}.",
        "inputSchema": {"water_plants": _LITRES, "echo": _TEXT}.get(name, _NOTHING),
    }
    for name in _DOES
]


def garden_by_hand(era: str) -> JsonObject:
    """The entry of `mcpServers` for the garden of `scripted_server.py`, in an era of the protocol."""
    options = {"tools": GARDEN, "does": _DOES, "era": era}
    program, *arguments = command(**options)  # type: ignore[arg-type]
    return {"command": program, "args": arguments, "protocol": era}


def garden(owner: str) -> Upstream:
    litres: JsonObject = {"litres": 3}
    watered = Ask("water_plants", litres, (json.dumps(litres),), litres)
    asks = {
        "found": Ask("water_plants"),
        "described": Ask("water_plants", ["bed", "litres"]),
        "text": Ask("echo", {"text": "Grüße \u2028 🌿"}, ("Grüße \u2028 🌿",)),
        "structured": watered,
        "binary": Ask("leaf", {}, (("image", "image/png", 32),)),
        "error": Ask("harvest", {}, ("nothing is ripe",)),
        "repaired": Ask("water_plants", {"args": '{"litres": "3"}'}, watered.blocks, litres),
        "refused": Ask("water_plants", {"bed": "roses"}),
        "unknown": Ask("water_plant"),
        "progress": Ask("grow", {}, ("grown",), None, ((1, 3), (2, 3), (3, 3))),
        "cancelled": Ask("wait"),
        "long": Ask("recite", {}, ("x" * 100_000,)),
    }
    return Upstream(owner, "water plants", asks, "count_cancelled")
