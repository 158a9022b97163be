"""A server on the Python SDK, over HTTP on loopback: `sdk_server.py [legacy-sse]`. Prints its port as its first line.

Streamable HTTP speaks both eras; `legacy-sse` is the older transport. Tools: `echo`, `slow` (progress, then waits to be
cancelled, and says so on standard output), `add_tool` (and tells of the change), `region` (its argument goes into a header).
"""

import functools
import socket
import sys
import weakref
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
legacy: "weakref.WeakSet[Any]" = weakref.WeakSet()


async def remember(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401
    if ctx.protocol_version != "2026-07-28":
        legacy.add(ctx.session._connection)
    return await call_next(ctx)


async def on_list_tools(_ctx: object, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=list(TOOLS.values()))


async def on_call_tool(ctx: Any, params: Any) -> types.CallToolResult:  # noqa: ANN401
    text = str((params.arguments or {}).get("text", ""))
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
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app(server, older="legacy-sse" in sys.argv), log_level="critical", lifespan="auto")
    uvicorn.Server(config).run(sockets=[listener])


main()
