"""Schemas of a Gateway's tools, from the MCP server that it opens on its own machine for those it grants access to.

The only live source of them. A grant is asked for over the WebSocket, kept while it is good, and asked for anew before it
expires. Whatever fails here costs the schemas alone: bundled ones take their place, and calls never come by this way.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import anyio

from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.frames import ADMIN_SCOPE, Refused
from upstream_clients.openclaw.socket import GatewaySocket
from upstream_clients.openclaw.target import OpenClawGateway, is_loopback
from upstream_clients.openclaw.web import Answer, Web

logger = logging.getLogger(__name__)

GRANT: Final = "attach.grant"
REVOKE: Final = "attach.revoke"
ASK_SECONDS: Final = 15.0
FAREWELL_SECONDS: Final = 0.2
RENEWED_BEFORE_SECONDS: Final = 60.0
"""Of a grant's hour: what is left then is not begun with."""

LIST: Final[JsonObject] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
NOTHING: Final[Mapping[str, JsonObject]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Grant:
    """Access to the loopback server. `expires` is in seconds since the epoch."""

    url: str
    token: str = field(repr=False)
    expires: float


class Loopback:
    """Where one connection gets its schemas. `now` is the time in seconds since the epoch."""

    def __init__(self, gateway: OpenClawGateway, web: Web, now: Callable[[], float] = time.time) -> None:
        self._gateway = gateway
        self._web = web
        self._now = now
        self._grant: Grant | None = None
        self._is_closed = not (gateway.asks_for_schemas and gateway.is_here)

    async def schemas(self, socket: GatewaySocket) -> Mapping[str, JsonObject]:
        """The definitions of what the loopback server lists, by name; empty where it is closed to us."""
        if self._is_closed or GRANT not in socket.hello.methods or ADMIN_SCOPE not in socket.hello.scopes:
            return NOTHING
        try:
            answer = await self._listed(socket)
        except (Refused, UpstreamError) as error:
            self._give_up(error.code)
            return NOTHING
        tools = _tools(answer)
        if tools is None:
            self._give_up(f"HTTP {answer.status}")
        return tools or NOTHING

    async def leave(self, socket: GatewaySocket) -> None:
        """Gives the grant back, for what it is worth: it would end by itself. Nobody waits for the answer."""
        if self._grant is not None:
            grant, self._grant = self._grant, None
            with anyio.move_on_after(FAREWELL_SECONDS, shield=True), suppress(UpstreamError):
                await socket.tell(REVOKE, {"token": grant.token})

    async def _listed(self, socket: GatewaySocket) -> Answer:
        grant = await self._granted(socket)
        answer = await self._ask(grant)
        if answer.status != 401:
            return answer
        self._grant = None  # it was revoked, or the Gateway has been restarted
        return await self._ask(await self._granted(socket))

    async def _ask(self, grant: Grant) -> Answer:
        headers = {"authorization": f"Bearer {grant.token}", "accept": "application/json, text/event-stream"}
        return await self._web.post(grant.url, headers, LIST)

    async def _granted(self, socket: GatewaySocket) -> Grant:
        if self._grant is None or self._grant.expires - self._now() < RENEWED_BEFORE_SECONDS:
            whom: JsonObject = {"sessionKey": self._gateway.session_key}
            if self._gateway.agent_id:
                whom["agentId"] = self._gateway.agent_id
            self._grant = _grant(await socket.ask(GRANT, whom, ASK_SECONDS))
        return self._grant

    def _give_up(self, why: str) -> None:
        """For the life of this connection: granting counts against a small allowance of the Gateway's."""
        self._is_closed = True
        logger.info("openclaw: its own schemas are not to be had (%s); the bundled ones are used", why)


def _grant(payload: JsonObject) -> Grant:
    """Raises UpstreamError: it leads to another machine, or nowhere. The token goes to this machine only."""
    config = _object(_object(_object(payload.get("mcpConfig")).get("mcpServers")).get("openclaw"))
    url, token, expires = config.get("url"), payload.get("token"), payload.get("expiresAtMs")
    if not isinstance(url, str) or not isinstance(token, str) or not (url.startswith("http://") and is_loopback(url)):
        raise UpstreamError("its grant does not lead to this machine")
    return Grant(url, token, expires / 1000 if isinstance(expires, (int, float)) else 0.0)


def _tools(answer: Answer) -> dict[str, JsonObject] | None:
    """By name; None if the answer is none. The fault "authority closed" comes as a JSON-RPC error, or as no tools."""
    tools = _object(answer.body.get("result")).get("tools")
    if answer.status != 200 or not isinstance(tools, list):
        return None
    return {str(tool.get("name")): tool for tool in tools if isinstance(tool, dict)}


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
