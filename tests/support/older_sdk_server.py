"""The garden of `pairs.py` on version 1 of the Python SDK, over standard input and output: `older_sdk_server.py TOOLS`.

It runs in an environment of its own that has that version, so nothing here is checked against the one that tests use.
"""

import base64
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

types: Any = mcp.types
server: Any = Server("older garden")
cancelled: list[str] = []


def said(text: str, **beside: Any) -> Any:  # noqa: ANN401
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **beside)


async def progress(step: int, total: int) -> None:
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    if token is not None:
        await context.session.send_progress_notification(token, step, total, related_request_id=str(context.request_id))


async def echo(arguments: dict[str, Any]) -> Any:  # noqa: ANN401
    return said(arguments["text"])


async def water_plants(arguments: dict[str, Any]) -> Any:  # noqa: ANN401
    return said(json.dumps(arguments), structuredContent=arguments)


async def leaf(_arguments: object) -> Any:  # noqa: ANN401
    data = base64.b64encode(b"\x89" * 32).decode()
    return types.CallToolResult(content=[types.ImageContent(type="image", mimeType="image/png", data=data)])


async def harvest(_arguments: object) -> Any:  # noqa: ANN401
    return said("nothing is ripe", isError=True)


async def grow(_arguments: object) -> Any:  # noqa: ANN401
    for step in (1, 2, 3):
        await progress(step, 3)
    return said("grown")


async def wait(_arguments: object) -> Any:  # noqa: ANN401
    await progress(1, 1)
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.append("wait")


async def count_cancelled(_arguments: object) -> Any:  # noqa: ANN401
    return said(str(len(cancelled)))


async def recite(_arguments: object) -> Any:  # noqa: ANN401
    return said("x" * 100_000)


GARDEN: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
    "echo": echo,
    "water_plants": water_plants,
    "leaf": leaf,
    "harvest": harvest,
    "grow": grow,
    "wait": wait,
    "count_cancelled": count_cancelled,
    "recite": recite,
}


async def call_tool(name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401
    return await GARDEN[name](arguments)


async def list_tools() -> Any:  # noqa: ANN401
    return [types.Tool.model_validate(tool) for tool in json.loads(sys.argv[1])]


async def main() -> None:
    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
