"""The two sides of the pairs of `pairs.py`: a host that is connected to toolfold, by whichever road and in whichever era."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, cast

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.support.hosts import SERVE, Host, environment, open_host
from tests.support.http_gateways import http_client
from upstream_clients import JsonObject

Steps: TypeAlias = Callable[[float, float | None], None]
"""Gets each step of progress, and of how many."""

SideName: TypeAlias = Literal[
    "hand, stdio, legacy", "hand, stdio, modern", "SDK, stdio, legacy", "SDK, stdio, modern",
    "SDK, HTTP, legacy", "SDK, HTTP, modern",
]  # fmt: skip

SIDES: Final[tuple[SideName, ...]] = (
    "hand, stdio, legacy", "hand, stdio, modern", "SDK, HTTP, legacy", "SDK, HTTP, modern",
)  # fmt: skip
"""Each road in each era once."""

MORE_SIDES: Final[tuple[SideName, ...]] = (*SIDES, "SDK, stdio, legacy", "SDK, stdio, modern")

READY_SECONDS: Final = 60.0


class Side(Protocol):
    """A host. A call that is cancelled here is cancelled as a host does it."""

    async def call(self, name: str, arguments: JsonObject, on_progress: Steps | None = None) -> JsonObject: ...


class ByHand:
    """JSON-RPC written by hand, over standard input and output."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._tokens = itertools.count(1)

    async def call(self, name: str, arguments: JsonObject, on_progress: Steps | None = None) -> JsonObject:
        token = f"pair-{next(self._tokens)}"
        number = await self._host.post_call(name, arguments, {"progressToken": token} if on_progress else None)
        try:
            return await self._answer(number, token, on_progress)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):  # bounded: `write` is
                await self._host.say("notifications/cancelled", {"requestId": number})
            raise

    async def _answer(self, number: int, token: str, on_progress: Steps | None) -> JsonObject:
        def concerns_it(message: JsonObject) -> bool:
            params = message.get("params")
            is_progress = isinstance(params, dict) and params.get("progressToken") == token
            return is_progress or ("method" not in message and message.get("id") == number)

        for times in itertools.count(1):
            message = await self._host.seen(concerns_it, times)
            if "method" not in message:
                break
            params = cast("dict[str, float]", message["params"])
            assert on_progress is not None
            on_progress(params["progress"], params.get("total"))
        result = message["result"]
        assert isinstance(result, dict)
        return result


class BySdk:
    """The SDK's client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, name: str, arguments: JsonObject, on_progress: Steps | None = None) -> JsonObject:
        async def step(progress: float, total: float | None, message: str | None) -> None:
            assert on_progress is not None
            on_progress(progress, total)

        result = await self._client.call_tool(name, arguments, progress_callback=step if on_progress else None)
        assert isinstance(result, CallToolResult)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)


@asynccontextmanager
async def open_side(name: SideName, config: Path, url: str) -> AsyncIterator[Side]:
    """A host that has started toolfold over this configuration, or has connected to the one at `url`, once all is ready."""
    async with _open(name, config, url) as side:
        with anyio.fail_after(READY_SECONDS):
            while not await _is_ready(side):  # noqa: ASYNC110  (another process tells nobody)
                await anyio.sleep(0.05)
        yield side


@asynccontextmanager
async def _open(name: SideName, config: Path, url: str) -> AsyncIterator[Side]:
    maker, road, era = name.split(", ")
    mode = "legacy" if era == "legacy" else "2026-07-28"
    if maker == "hand":
        async with open_host(config, era="legacy" if era == "legacy" else "modern") as host:
            yield ByHand(host)
    elif road == "stdio":
        program, *arguments = (*SERVE, "--config", str(config))
        server = StdioServerParameters(command=program, args=arguments, env=environment(config.parent))
        async with Client(server, mode=mode) as client:
            yield BySdk(client)
    else:
        async with http_client() as http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield BySdk(client)


async def _is_ready(side: Side) -> bool:
    """Whether no upstream is missing from a search."""
    answer = (await side.call("tool_search", {"query": "water"}))["structuredContent"]
    assert isinstance(answer, dict)
    return not {"starting", "unavailable"} & answer.keys()
