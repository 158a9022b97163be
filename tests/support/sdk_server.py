"""A server on the Python SDK: `sdk_server.py streamable|legacy-sse|stdio [TOOLS]`. At an address, which is one of loopback,
it prints its port as its first line; on standard input and output it prints nothing of its own.

Streamable HTTP and stdio speak both eras; `legacy-sse` is the older transport. Tools: `echo`, `slow` (progress, then waits
to be cancelled, and says so on standard output), `add_tool` (and tells of the change), `region` (its argument goes into a
header). TOOLS are more of them, as raw definitions in JSON, whose names are `echo` or among GARDEN.
"""

import base64
import functools
import json
import socket
import sys
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

OBJECT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
REGION: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Region"}}}
TOOLS = {
    "echo": types.Tool(name="echo", input_schema=OBJECT),
    "slow": types.Tool(name="slow", input_schema=OBJECT),
    "add_tool": types.Tool(name="add_tool", input_schema=OBJECT),
    "region": types.Tool(name="region", input_schema=REGION),
}
bus = InMemorySubscriptionBus()
cancelled: list[str] = []
legacy: "weakref.WeakSet[Any]" = weakref.WeakSet()


async def remember(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401
    if ctx.protocol_version != "2026-07-28":
        legacy.add(ctx.session._connection)
    return await call_next(ctx)


async def on_list_tools(_ctx: object, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=list(TOOLS.values()))


async def on_call_tool(ctx: Any, params: Any) -> types.CallToolResult:  # noqa: ANN401
    arguments = params.arguments or {}
    if params.name in GARDEN:
        return await GARDEN[params.name](ctx, arguments)
    text = str(arguments.get("text", ""))
    if params.name == "add_tool":
        TOOLS[text] = types.Tool(name=text, input_schema=OBJECT)
        await bus.publish(ToolsListChanged())
        for connection in list(legacy):
            await connection.send_tool_list_changed()
    if params.name == "slow":
        await ctx.session.report_progress(1, 2, "half-way")
        try:
            await anyio.sleep_forever()
        finally:
            print("cancelled", flush=True)
    return types.CallToolResult(content=[types.TextContent(text=text)])


def said(text: str, **beside: Any) -> types.CallToolResult:  # noqa: ANN401
    return types.CallToolResult(content=[types.TextContent(text=text)], **beside)


async def water_plants(_ctx: object, arguments: dict[str, Any]) -> types.CallToolResult:
    return said(json.dumps(arguments), structured_content=arguments)


async def leaf(_ctx: object, _arguments: object) -> types.CallToolResult:
    data = base64.b64encode(b"\x89" * 32).decode()
    return types.CallToolResult(content=[types.ImageContent(mime_type="image/png", data=data)])


async def harvest(_ctx: object, _arguments: object) -> types.CallToolResult:
    return said("nothing is ripe", is_error=True)


async def grow(ctx: Any, _arguments: object) -> types.CallToolResult:  # noqa: ANN401
    for step in (1, 2, 3):
        await ctx.session.report_progress(step, 3)
    return said("grown")


async def wait(ctx: Any, _arguments: object) -> types.CallToolResult:  # noqa: ANN401
    await ctx.session.report_progress(1, 1)
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.append("wait")
    raise NotImplementedError


async def count_cancelled(_ctx: object, _arguments: object) -> types.CallToolResult:
    return said(str(len(cancelled)))


async def recite(_ctx: object, _arguments: object) -> types.CallToolResult:
    return said("x" * 100_000)


GARDEN: dict[str, Callable[[Any, dict[str, Any]], Awaitable[types.CallToolResult]]] = {
    "water_plants": water_plants,
    "leaf": leaf,
    "harvest": harvest,
    "grow": grow,
    "wait": wait,
    "count_cancelled": count_cancelled,
    "recite": recite,
}


def app(server: Server[Any], *, older: bool) -> Any:  # noqa: ANN401
    if not older:
        return server.streamable_http_app()
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def stream(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    return Starlette(routes=[Route("/sse", stream), Mount("/messages/", app=transport.handle_post_message)])


async def on_pipes(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    server: Server[Any] = Server(
        "sdk",
        version="1",
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    server.middleware.append(remember)
    options = functools.partial(server.create_initialization_options, NotificationOptions(tools_changed=True))
    server.create_initialization_options = options  # type: ignore[method-assign]
    mode, tools = [*sys.argv[1:], "[]"][:2]
    TOOLS.update({tool["name"]: types.Tool.model_validate(tool) for tool in json.loads(tools)})
    if mode == "stdio":
        anyio.run(on_pipes, server)
        return
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app(server, older=mode == "legacy-sse"), log_level="critical", lifespan="auto")
    uvicorn.Server(config).run(sockets=[listener])


main()
