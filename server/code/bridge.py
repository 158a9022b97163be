"""The code's calls take the one road: the gateway's own search, describe and call, and what is counted of them.

Law: nothing here decides what may be called, checks arguments or touches a result. The gateway does, as for any surface.
"""

from collections import Counter
from collections.abc import Mapping

from server.calling import TOOL_META, Call
from server.code.run import Method
from server.errors import GatewayError
from server.found import whole_limit
from server.gateway import Gateway
from upstream_clients import JsonObject


class Bridge:
    """The road for one run. `meta` is what of the host's `_meta` may go upstream."""

    def __init__(self, gateway: Gateway, meta: Mapping[str, object]) -> None:
        self._gateway = gateway
        self._meta = meta
        self._counts: Counter[str] = Counter()
        self._called: list[str] = []
        self.notes: list[str] = []

    async def ask(self, method: Method, values: list[object]) -> object:
        """Answers one bridged call. Raises GatewayError."""
        self._counts[method] += 1
        subject, options = (*values, None, None)[:2]
        if not isinstance(subject, str):
            raise GatewayError("invalid_arguments", f"{method} needs a text.", "Give it as the first argument.")
        if method == "search":
            return await self._search(subject, options)
        if method == "describe":
            described = await self._gateway.describe(subject, via="code")
            return {key: value for key, value in described.items() if key != "call"}  # that is for another surface
        return await self._call(subject, options)

    def telemetry(self) -> JsonObject:
        """What was there and what was asked; no arguments, no results."""
        sources = self._gateway.sources()
        return {
            "catalogSize": sum(sources.values()),
            "sources": dict(sources),
            "searchCount": self._counts["search"],
            "describeCount": self._counts["describe"],
            "callCount": self._counts["call"],
            "called": list(self._called),
        }

    async def _search(self, query: str, options: object) -> object:
        """The hits as a list. What the answer says beside them goes to the logs."""
        limit = options.get("limit") if isinstance(options, dict) else options
        answer = await self._gateway.search(query, whole_limit(limit), via="code")
        if note := answer.get("note"):
            self.notes.append(f"search: {note}")
        return answer["tools"]

    async def _call(self, reference: str, arguments: object) -> JsonObject:
        if not isinstance(arguments, dict):
            raise GatewayError("invalid_arguments", "The arguments must be an object.", "call(id, { name: value })")
        result = await self._gateway.call(Call(reference, arguments, "direct", self._meta, via="code"))
        meta = result.get("_meta")
        tool_id = str(meta[TOOL_META]) if isinstance(meta, dict) and TOOL_META in meta else reference
        self._called.append(tool_id)
        source, _, rest = tool_id.partition(":")
        return {"tool": {"id": tool_id, "source": source, "name": rest.partition(":")[2]}, "result": result}
