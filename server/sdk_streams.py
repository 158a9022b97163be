"""The two streams of the SDK's server where it serves behind the front. Imports `mcp`, for `server.sdk` alone."""

from types import TracebackType
from typing import Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from server.front import INVALID_REQUEST, Front


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


class FromHost(_Stream):
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


class ToHost(_Stream):
    """The SDK's messages, written as they come; waits while the host does not read."""

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCResponse):  # results can be large: they go through uncopied
            self._front.from_sdk({"jsonrpc": "2.0", "id": message.id, "result": message.result})
        else:
            self._front.from_sdk(message.model_dump(by_alias=True, mode="python", exclude_unset=True))
        await self._front.drained()
