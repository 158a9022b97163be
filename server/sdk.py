"""The SDK's server: the only file outside the demo that imports `mcp`. It speaks the protocol; the face gives the answers.

Our middleware answers `tools/list` and `tools/call` with wire dictionaries, so that an upstream's result passes through
untouched; everything else of the protocol, in both eras, is the SDK's own. Importing this module takes over a second of
processor time: do it in a worker thread.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import anyio
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from server.face import Face, ToolRequest, read_request
from server.front import INVALID_REQUEST, MODERN_VERSION, SERVER_KEY, Front, Identity, modern_result
from upstream_clients import JsonObject

logger = logging.getLogger(__name__)

Context: TypeAlias = ServerRequestContext[Any, Any]
Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]

PROGRESS_BACKLOG: Final = 16
"""Progress that the host has not taken yet; what comes beyond it is dropped, since the next says more."""


class SdkServer:
    """The SDK's server over one face."""

    def __init__(self, face: Face, identity: Identity) -> None:
        self._face = face
        self._server_info = identity.server_info
        self._bus = InMemorySubscriptionBus()
        self._server: Server[Any] = Server(
            str(identity.server_info["name"]),
            version=str(identity.server_info["version"]),
            title=str(identity.server_info["title"]),
            instructions=identity.instructions,
            on_list_tools=_answered_by_middleware,
            on_call_tool=_answered_by_middleware,
            on_subscriptions_listen=ListenHandler(self._bus),
            get_tool_input_schema=lambda _name: None,
        )
        self._server.middleware = [self._answer]
        self._options = self._server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def run_behind(self, front: Front) -> None:
        """Serves what the front hands on, until cancelled."""
        await self._server.run(_FromHost(front), _ToHost(front), self._options)

    async def listing_changed(self) -> None:
        """Tells the hosts of the modern era that listen."""
        await self._bus.publish(ToolsListChanged())

    async def _answer(self, ctx: Context, call_next: CallNext) -> Any:  # noqa: ANN401
        """The middleware: raw answers for the two methods that carry upstream data."""
        if ctx.method == "tools/list":
            listing = self._face.list_tools()
            return modern_result(listing, self._server_info) if ctx.protocol_version == MODERN_VERSION else listing
        if ctx.method != "tools/call":
            return await call_next(ctx)
        result = await self._call(ctx)
        if ctx.protocol_version != MODERN_VERSION:
            return result
        meta = result.get("_meta")
        stamp = {SERVER_KEY: self._server_info}
        return {**result, "resultType": "complete", "_meta": {**(meta if isinstance(meta, dict) else {}), **stamp}}

    async def _call(self, ctx: Context) -> JsonObject:
        try:
            request = read_request(ctx.params or {})
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        meta = (ctx.params or {}).get("_meta")
        try:
            if isinstance(meta, dict) and "progressToken" in meta:
                return await self._call_with_progress(request, ctx.session.report_progress)
            return await self._face.call_tool(request)
        except Exception:  # the protocol boundary: no text of an exception reaches the wire
            logger.exception("tools/call failed unexpectedly")
            raise MCPError(INTERNAL_ERROR, "toolfold failed unexpectedly; its log says why") from None

    async def _call_with_progress(self, request: ToolRequest, report: Report) -> JsonObject:
        send, receive = anyio.create_memory_object_stream[tuple[float, float | None, str | None]](PROGRESS_BACKLOG)

        def keep(progress: float, total: float | None, message: str | None) -> None:
            with suppress(anyio.WouldBlock):
                send.send_nowait((progress, total, message))

        async def pass_on() -> None:
            async with receive:
                async for step in receive:
                    await report(*step)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pass_on)
            with send:
                result = await self._face.call_tool(request, keep)
        return result


class _Stream:
    """What the SDK asks of both of its streams. They end with the session, not before."""

    def __init__(self, front: Front) -> None:
        self._front = front

    async def aclose(self) -> None:
        """The front owns the pipes."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class _FromHost(_Stream):
    """The host's messages, in order. One that is no JSON-RPC at all is refused here, so that its sender hears of it."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self.receive()

    async def receive(self) -> SessionMessage | Exception:
        while True:
            message = await self._front.next_for_sdk()
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
            except ValidationError:
                if not {"result", "error"} & message.keys():  # an answer gets no answer
                    self._front.refuse(message.get("id"), INVALID_REQUEST, "Invalid Request")


class _ToHost(_Stream):
    """The SDK's messages, written as they come; waits while the host does not read."""

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCResponse):  # results can be large: they go through uncopied
            self._front.from_sdk({"jsonrpc": "2.0", "id": message.id, "result": message.result})
        else:
            self._front.from_sdk(message.model_dump(by_alias=True, mode="python", exclude_unset=True))
        await self._front.drained()


async def _answered_by_middleware(_ctx: object, _params: object) -> Any:  # noqa: ANN401
    raise NotImplementedError("the middleware answers this")
