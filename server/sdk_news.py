"""Which hosts of the SDK's server hear that a list has changed: each by the list that it is shown itself. Imports `mcp`, for
`server.sdk` alone.

Law: what only others are shown is no news, and tells nothing by coming.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, SubscriptionsListenRequestParams

from server.access import Caller
from upstream_clients import JsonObject

TELL_SECONDS: Final = 5.0
"""For a host to take the news of another list. One that does not read its stream must not keep the others waiting."""

MOST_STREAMS: Final = 1024
"""Hosts of the modern era that listen, at a time: the SDK's own bound."""

Shown: TypeAlias = Callable[[Caller], tuple[JsonObject, ...]]
"""The list that a caller is shown now."""


@dataclass(slots=True)
class _Told:
    """Who a host is, and the list that it has been told of."""

    caller: Caller
    tools: tuple[JsonObject, ...]


class News:
    """The hosts, of both eras. A gateway is shown another list, and hears of every change."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._hosts: WeakKeyDictionary[Connection, _Told] = WeakKeyDictionary()  # of the handshake era
        self._gateways: WeakSet[Connection] = WeakSet()
        self._streams: dict[InMemorySubscriptionBus, _Told | None] = {}  # None: a gateway's

    def met(self, host: Connection, caller: Caller) -> None:
        """A host of the handshake era has asked something."""
        known = self._hosts.get(host)
        if known is None or known.caller != caller:
            self._hosts[host] = _Told(caller, self._shown(caller))

    def met_gateway(self, host: Connection) -> None:
        self._gateways.add(host)

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams, caller: Caller | None
    ) -> Any:  # noqa: ANN401
        """Serves one stream of the modern era, for as long as it lasts. No caller: a gateway."""
        if len(self._streams) >= MOST_STREAMS:
            raise MCPError(INTERNAL_ERROR, "Subscription limit reached")
        bus = InMemorySubscriptionBus()
        self._streams[bus] = None if caller is None else _Told(caller, self._shown(caller))
        try:
            return await ListenHandler(bus)(ctx, params)
        finally:
            del self._streams[bus]

    async def tell_modern_hosts(self) -> None:
        for bus, told in list(self._streams.items()):
            if told is None or self._is_another(told):
                await bus.publish(ToolsListChanged())

    async def tell_all_hosts(self) -> None:
        """Tells the hosts of both eras."""
        await self.tell_modern_hosts()
        changed = [host for host, told in list(self._hosts.items()) if self._is_another(told)]
        async with anyio.create_task_group() as tasks:
            for host in {*changed, *self._gateways}:
                tasks.start_soon(_tell, host)

    def _is_another(self, told: _Told) -> bool:
        """Whether the list is another one than was told of; from now on it is the one that was."""
        before, told.tools = told.tools, self._shown(told.caller)
        return told.tools != before


async def _tell(host: Connection) -> None:
    with anyio.move_on_after(TELL_SECONDS):
        await host.send_tool_list_changed()
