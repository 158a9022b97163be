"""Between our messages and the SDK's, for streamable HTTP: the headers that each era wants, and raw answers back.

Laws
1. A result is handed on as it came, once it is known to be what `framing` accepts; but of a list of the modern era, tools
   are dropped that want arguments in headers in a way that its protocol forbids, as that protocol says.
2. What the SDK's transport says in the place of an answer becomes an error of ours; its texts never go further.
"""

import logging
import re
from collections.abc import Mapping
from typing import Final

import anyio.to_thread
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from upstream_clients.era import VERSION_KEY
from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamProtocolFault
from upstream_clients.framing import JsonObject, NotAMessage, check
from upstream_clients.network import too_large

LISTED_SCHEMAS: Final = 10_000
"""As many as a listing may have (`era`)."""

logger = logging.getLogger(__name__)

_VERSION: Final = re.compile(r"[0-9A-Za-z.-]{1,32}")


class Envelopes:
    """Wraps and unwraps the messages of one connection. Remembers what later headers are made of."""

    def __init__(self, message_bytes: int) -> None:
        self._message_bytes = message_bytes
        self._version = ""
        self._is_modern = False
        self._asked: dict[object, str] = {}  # what the open requests ask for, of those whose answers matter here
        self._schemas: dict[str, JsonObject] = {}

    def wrap(self, message: JsonObject) -> SessionMessage:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        method = message.get("method")
        if method in ("initialize", "tools/list"):
            self._asked[message.get("id")] = str(method)
            if method == "tools/list" and "cursor" not in params:
                self._schemas.clear()
        headers = self._headers(str(method), params)
        return SessionMessage(
            jsonrpc_message_adapter.validate_python(message, by_name=False),
            ClientMessageMetadata(headers=headers) if headers else None,
        )

    async def unwrap(self, message: SessionMessage) -> JsonObject | tuple[int, UpstreamError]:
        """The message, or the request that has failed and why."""
        body = message.message
        if isinstance(body, JSONRPCResponse):
            raw: JsonObject = {"jsonrpc": "2.0", "id": body.id, "result": body.result}
            try:
                await anyio.to_thread.run_sync(check, raw)
            except NotAMessage as fault:
                error = UpstreamProtocolFault(f"it sent a message that is not acceptable: {fault}", ran=True)
                return (body.id, error) if isinstance(body.id, int) else raw
            if learnt := self._learn(body.id, body.result):
                raw["result"] = learnt
            return raw
        if isinstance(body, JSONRPCError) and isinstance(body.id, int):
            self._asked.pop(body.id, None)
            instead = self._in_its_place(body.error.code, body.error.message)
            if instead is not None:
                return body.id, instead
        return body.model_dump(by_alias=True, mode="python", exclude_unset=True)

    def _headers(self, method: str, params: JsonObject) -> dict[str, str]:
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        self._is_modern = isinstance(version, str)
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get("name")
        if method == "tools/call" and isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            headers |= self._of_arguments(name, params.get("arguments"))
        return headers

    def _of_arguments(self, name: str, arguments: object) -> Mapping[str, str]:
        """Arguments that the tool's schema wants to have in headers as well."""
        schema = self._schemas.get(name)
        if schema is None or not isinstance(arguments, dict) or find_invalid_x_mcp_header(schema) is not None:
            return {}
        return mcp_param_headers(x_mcp_header_map(schema), arguments)

    def _learn(self, request_id: object, result: JsonObject) -> JsonObject | None:
        """Remembers what later headers are made of. What is to be handed on instead of a list, if it is another one."""
        asked = self._asked.pop(request_id, "")
        if asked == "initialize":
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) and _VERSION.fullmatch(version) else ""
        tools = result.get("tools") if asked == "tools/list" else None
        if not isinstance(tools, list):
            return None
        kept = [tool for tool in tools if not (self._is_modern and _misuses_headers(tool))]
        for tool in kept:
            schema = tool.get("inputSchema") if isinstance(tool, dict) else None
            if isinstance(schema, dict) and len(self._schemas) < LISTED_SCHEMAS:
                self._schemas[str(tool.get("name"))] = schema
        return {**result, "tools": kept} if len(kept) < len(tools) else None

    def _in_its_place(self, code: int, text: str) -> UpstreamError | None:
        if code == CONNECTION_CLOSED and text.startswith("SSE stream"):
            if "byte limit" in text:
                return too_large(self._message_bytes)
            return UpstreamGone("its answer was cut off", ran=True)
        if code == PARSE_ERROR and text.startswith("Failed to parse "):
            return UpstreamProtocolFault("it sent a message that is not acceptable", ran=True)
        return None


def _misuses_headers(tool: object) -> bool:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict) or find_invalid_x_mcp_header(schema) is None:
        return False
    logger.warning("a tool was left out: it wants an argument in a header that may not be there")  # its name is theirs
    return True
