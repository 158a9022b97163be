"""The MCP face of the gateway: `tools/list` and `tools/call` as wire dictionaries, for either era and any transport.

Turns the three tools and the direct-only names into calls of the gateway, and its answers and errors into results. The
same payload goes as text and as structured content, because hosts show one or the other.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.access import Caller
from server.calling import Call
from server.clearance import Ask
from server.client_tools import CLIENT, run_by_the_host
from server.errors import GatewayError
from server.found import whole_limit
from server.gateway import Gateway
from server.modes import CodeRequest, not_run_here
from server.surface import Surface
from server.ways import CALL, CODE, DESCRIBE, SEARCH, calling
from upstream_clients import HOLDER_META, PATH_META, JsonObject, Progress

Answer: TypeAlias = Callable[[Gateway, JsonObject], Awaitable[JsonObject]]
RunCode: TypeAlias = Callable[[Gateway, CodeRequest], Awaitable[tuple[JsonObject, GatewayError | None]]]

CARRIED_META: Final = frozenset({"traceparent", "tracestate", "baggage", PATH_META, HOLDER_META})
"""What of the host's `_meta` goes further: trace context, and what gateways say to each other, which none but gateways
are told. All else is for this hop alone."""


BY_EXACT_NAME: Final = frozenset({"directory", "off"})
"""The modes in which a model knows names that are not listed: what they stand for is called as if it were."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A well-formed `tools/call`. `meta` is what of the host's `_meta` may go upstream."""

    name: str
    arguments: JsonObject
    meta: JsonObject
    caller: Caller
    ask: Ask | None = None


def read_request(params: Mapping[str, object], caller: Caller, ask: Ask | None = None) -> ToolRequest:
    """The params of a `tools/call`.

    Raises:
        ValueError: the request itself is broken: no name, or arguments that are not an object.
    """
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str):
        raise ValueError("tools/call needs a string 'name'")
    if arguments is not None and not isinstance(arguments, dict):
        raise ValueError("'arguments' must be an object")
    carried = {key: meta[key] for key in CARRIED_META if key in meta} if isinstance(meta, dict) else {}
    return ToolRequest(name, arguments or {}, carried, caller, ask)


class Face:
    """One gateway, seen through the protocol."""

    def __init__(self, gateway: Gateway, run_code: RunCode = not_run_here) -> None:
        self._gateway = gateway
        self._run_code = run_code
        self._ours: Mapping[str, Answer] = {SEARCH: _search, DESCRIBE: _describe}

    def surface(self, caller: Caller) -> Surface:
        """What this caller is shown."""
        return self._gateway.seen_by(caller).surface()

    def list_tools(self, caller: Caller) -> JsonObject:
        """The result of `tools/list`: one page, always."""
        return {"tools": list(self.surface(caller).tools)}

    def list_behind(self, caller: Caller, meta: Mapping[str, object], cursor: object) -> JsonObject:
        """The result of `tools/list` for another gateway, whose path is in `meta`: one page of what is behind us, as far as
        the caller may see it.

        Raises:
            GatewayError: the gateway is this one, or too far away.
        """
        return self._gateway.seen_by(caller).behind(meta, cursor)

    async def call_tool(self, request: ToolRequest, on_progress: Progress | None = None) -> JsonObject:
        """The result of `tools/call`. What stands in the way of a call is a result with `isError`, never an exception."""
        try:
            return await self._answer(request, on_progress)
        except GatewayError as error:
            return _failure(error)

    async def _answer(self, request: ToolRequest, on_progress: Progress | None) -> JsonObject:
        gateway = self._gateway.seen_by(request.caller)
        if request.name == CALL:
            reference, envelope = _reference(request.arguments)
            return await gateway.call(Call(reference, envelope, "envelope", request.meta, on_progress, ask=request.ask))
        if request.name == CODE:
            payload, failure = await self._run_code(gateway, CodeRequest(request.arguments, request.meta))
            return _success(payload) if failure is None else {**_failure(failure), "structuredContent": payload}
        ours = self._ours.get(request.name)
        if ours is not None:
            return _success(await ours(gateway, request.arguments))
        surface = gateway.surface()
        tool_id = surface.direct.get(request.name)
        if tool_id is None and surface.mode in BY_EXACT_NAME:
            tool_id = (await gateway.find(request.name)).id
        if tool_id is None:
            raise await _not_published(gateway, request.name)
        call = Call(tool_id, request.arguments, "direct", request.meta, on_progress, "direct", request.ask)
        return await gateway.call(call)


async def _search(gateway: Gateway, arguments: JsonObject) -> JsonObject:
    query, queries, limit = arguments.get("query"), _queries(arguments), arguments.get("limit")
    if queries:
        every = [query, *queries] if isinstance(query, str) else queries
        return await gateway.search_all(list(dict.fromkeys(every)), whole_limit(limit))
    if not isinstance(query, str) or (not query.strip() and gateway.surface().mode == "directory"):
        return gateway.directory()
    return await gateway.search(query, whole_limit(limit))


def _queries(arguments: JsonObject) -> list[str]:
    """Several queries: a list of texts, the JSON of one, or a single text; none if there are none.

    Raises:
        GatewayError: it is something else, and there is no query that could be meant instead.
    """
    query, written = arguments.get("query"), arguments.get("queries")
    if isinstance(written, str):
        written = _listed(written)
    if isinstance(written, list) and all(isinstance(one, str) for one in written):
        return written
    if written is None or (not isinstance(written, list) and isinstance(query, str) and query.strip()):
        return []
    raise GatewayError("invalid_arguments", "'queries' is a list of texts.", '{"queries": ["read a file"]}')


def _listed(text: str) -> object:
    try:
        listed = json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        listed = None
    return listed if isinstance(listed, list) else [text] if text.strip() else []


async def _describe(gateway: Gateway, arguments: JsonObject) -> JsonObject:
    return await gateway.describe(_reference(arguments)[0])


async def _not_published(gateway: Gateway, name: str) -> GatewayError:
    """A model that calls a catalogue tool by its own name is told the id; nothing else is different for it."""
    try:
        tool = await gateway.find(name)
    except GatewayError as error:
        return error
    if tool.source == CLIENT:
        return run_by_the_host(tool)
    how = calling(gateway.mode(), tool.id)
    return GatewayError("not_published", f"{name!r} is not called by its own name here.", how)


def _reference(arguments: JsonObject) -> tuple[str, JsonObject]:
    """The id, and all else that came with it."""
    rest = dict(arguments)
    for key in ("id", "tool_id", "tool", "name"):
        if isinstance(rest.get(key), str):
            return str(rest.pop(key)), rest
    raise GatewayError("invalid_arguments", "There is no 'id'.", '{"id": "mcp:github:create_issue"}')


def _success(payload: JsonObject) -> JsonObject:
    return {"content": [_text(payload)], "structuredContent": payload}


def _failure(error: GatewayError) -> JsonObject:
    payload: JsonObject = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
    return {"content": [{"type": "text", "text": str(error)}], "structuredContent": payload, "isError": True}


def _text(payload: JsonObject) -> JsonObject:
    return {"type": "text", "text": json.dumps(payload, separators=(",", ":"), ensure_ascii=False)}
