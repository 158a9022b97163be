"""The SDK's server. It speaks the protocol, the face answers. With its streams (`server.sdk_streams`) and its news
(`server.sdk_news`) the only file of this room but the demo's that imports `mcp`.

Our middleware answers `tools/list` and `tools/call` with wire dictionaries, so that an upstream's result passes through
untouched; everything else of the protocol, in both eras, is the SDK's own. Importing this module takes over a second of
processor time: do it in a worker thread.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import anyio
import mcp  # noqa: F401  (whole and first: another thread may import it too, and would else see half of it)
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ServerCapabilities,
    SubscriptionsListenRequestParams,
)
from pydantic import ValidationError

from server import tracing
from server.access import Caller
from server.asking import SCHEMA, OpenQuestions, is_yes
from server.clearance import Question
from server.eras import MODERN_VERSION, SERVER_KEY, modern_result
from server.errors import GatewayError
from server.face import Face, ToolRequest, read_request
from server.front import DRAINING, DRAINING_WORDS, INVALID_REQUEST, Front
from server.http.gate import Behind, Receive, Scope, Send
from server.http.tokens import Bearer
from server.identity import Identity
from server.sdk_news import News
from server.sdk_streams import FromHost, ToHost
from upstream_clients import JsonObject, mark_of, path_in, sayable

logger = logging.getLogger(__name__)

Context: TypeAlias = ServerRequestContext[Any, Any]
Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]

PROGRESS_BACKLOG: Final = 16
"""Progress that the host has not taken yet; what comes beyond it is dropped, since the next says more."""


CALLER_KEY: Final = "toolfold.caller"
"""Where a request's scope holds who it came from."""

SESSION_HEADER: Final = "mcp-session-id"

HTTP_SESSIONS: Final = 1000
"""Of the handshake era, at a time; the SDK closes idle ones after half an hour. Each keeps some 50 KB."""

GREETINGS: Final = frozenset({"initialize", "server/discover"})
"""What is answered with instructions: over HTTP, with those of whoever asks."""


class SdkServer:
    """The SDK's server over one face, for one host behind the front or for many over HTTP."""

    def __init__(self, face: Face, identity: Identity, caller: Caller) -> None:
        self._face = face
        self._caller = caller
        self._server_info = identity.server_info
        self._news = News(lambda caller: face.surface(caller).tools)
        self._calls: set[anyio.CancelScope] = set()
        self._questions = OpenQuestions()
        self._server = _Server(
            str(identity.server_info["name"]),
            version=str(identity.server_info["version"]),
            title=str(identity.server_info["title"]),
            instructions=identity.instructions,
            on_list_tools=_answered_by_middleware,
            on_call_tool=_answered_by_middleware,
            on_subscriptions_listen=self._listen_for_changes,
            get_tool_input_schema=lambda _name: None,
        )
        self._server.mark = mark_of(identity.node)
        self._outermost = list(self._server.middleware) if tracing.is_on() else []  # the SDK's own span, and no other
        self._server.middleware = [*self._outermost, self._answer]

    def adopt(self, identity: Identity) -> None:
        """What a host that comes later is told."""
        self._server.instructions = identity.instructions

    async def run_behind(self, front: Front) -> None:
        """Serves what the front hands on, until cancelled."""
        await self._server.run(FromHost(front), ToHost(front), self._server.create_initialization_options())

    @asynccontextmanager
    async def over_http(self, body_bytes: int) -> AsyncIterator[Behind]:
        """Serves both eras to what passes the door. Leaving the context ends every session and stream."""
        manager = StreamableHTTPSessionManager(
            self._server, max_request_body_size=body_bytes, max_sessions=HTTP_SESSIONS
        )

        async def handle(bearer: Bearer | None, scope: Scope, receive: Receive, send: Send) -> None:
            scope = {**scope, CALLER_KEY: self._caller}
            if bearer is not None:  # the SDK binds a session to this identity, and to others it does not exist
                token = AccessToken(token="", client_id=bearer.principal, scopes=[])
                known = Caller(bearer.profile or self._caller.profile, session=bearer.principal)
                scope = {**scope, "user": AuthenticatedUser(token), CALLER_KEY: known}
            await manager.handle_request(scope, receive, send)

        self._server.middleware = [*self._outermost, self._keep_track, self._answer]
        async with manager.run():
            yield handle

    async def tell_modern_hosts(self) -> None:
        """Tells the hosts of the modern era that listen of another list: each of its own, gateways always."""
        await self._news.tell_modern_hosts()

    async def tell_all_hosts(self, _published: bool) -> None:
        """The same for the hosts of both eras, whoever's list is another one."""
        await self._news.tell_all_hosts()

    def give_up(self) -> None:
        """Answers the calls under way that the process ends first."""
        for scope in list(self._calls):
            scope.cancel()

    async def _keep_track(self, ctx: Context, call_next: CallNext) -> Any:  # noqa: ANN401
        """The middleware before that, over HTTP: which hosts there are, which calls could be given up; and no result
        leaves that the SDK's writers there fail at.
        """
        if ctx.protocol_version != MODERN_VERSION:
            self._news.met(ctx.session._connection, self._caller_of(ctx))  # no public accessor leads there
        if ctx.method != "tools/call":
            return await call_next(ctx)
        with anyio.CancelScope() as scope:
            self._calls.add(scope)
            try:
                return sayable(await call_next(ctx))
            finally:
                self._calls.discard(scope)
        raise MCPError(DRAINING, DRAINING_WORDS)

    async def _answer(self, ctx: Context, call_next: CallNext) -> Any:  # noqa: ANN401
        """The middleware: raw answers for the two methods that carry upstream data. A notification runs nothing."""
        if ctx.request_id is None:
            return await call_next(ctx)
        if ctx.method == "tools/list":
            listing = self._list(ctx)
            return modern_result(listing, self._server_info) if ctx.protocol_version == MODERN_VERSION else listing
        if ctx.method in GREETINGS and ctx.request is not None:
            greeting = await call_next(ctx)
            assert isinstance(greeting, dict)
            return {**greeting, "instructions": self._face.surface(self._greeted(ctx)).instructions}
        if ctx.method != "tools/call":
            return await call_next(ctx)
        asking = _Asking(ctx, self._questions, self._caller_of(ctx).session)
        result = await self._call(ctx, asking)
        if ctx.protocol_version != MODERN_VERSION:
            return result
        result = asking.wanted or result
        meta = result.get("_meta")
        stamp = {SERVER_KEY: self._server_info}
        return {"resultType": "complete", **result, "_meta": {**(meta if isinstance(meta, dict) else {}), **stamp}}

    def _greeted(self, ctx: Context) -> Caller:
        """Who is greeted over HTTP: a host of the handshake era says only now what it is."""
        caller, info = self._caller_of(ctx), (ctx.params or {}).get("clientInfo")
        name = info.get("name") if isinstance(info, dict) else None
        return Caller(caller.profile, name, caller.is_known) if isinstance(name, str) else caller

    def _list(self, ctx: Context) -> JsonObject:
        """What is published; for another gateway, what is behind it. Either as far as the caller may see it."""
        caller = self._caller_of(ctx)
        params = ctx.params or {}
        meta = params.get("_meta")
        if not isinstance(meta, dict) or path_in(meta) is None:
            return self._face.list_tools(caller)
        if ctx.protocol_version != MODERN_VERSION:
            self._news.met_gateway(ctx.session._connection)  # as in `_keep_track`
        try:
            return self._face.list_behind(caller, meta, params.get("cursor"))
        except GatewayError as error:
            raise MCPError(INVALID_REQUEST, str(error)) from None

    async def _listen_for_changes(self, ctx: Context, params: SubscriptionsListenRequestParams) -> Any:  # noqa: ANN401
        of_gateway = path_in((ctx.params or {}).get("_meta")) is not None
        return await self._news.listen(ctx, params, None if of_gateway else self._caller_of(ctx))

    def _caller_of(self, ctx: Context) -> Caller:
        """Who asks: behind the front the host, over HTTP whoever this very request came from; and what it calls itself."""
        caller, session = self._caller, ""
        if ctx.request is not None:
            caller = ctx.request.scope[CALLER_KEY]
            session = caller.session
            if ctx.protocol_version != MODERN_VERSION:  # the SDK has found the session, and that it is this token's
                session += ctx.request.headers.get(SESSION_HEADER, "")
        params = ctx.session.client_params
        name = "" if params is None else params.client_info.name
        return Caller(caller.profile, name, caller.is_known, session)

    async def _call(self, ctx: Context, asking: "_Asking") -> JsonObject:
        try:
            request = read_request(ctx.params or {}, self._caller_of(ctx), asking.ask)
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
                send.send_nowait((progress, total, sayable(message)))

        async def pass_on() -> None:
            async with receive:
                async for step in receive:
                    await report(*step)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pass_on)
            with send:
                result = await self._face.call_tool(request, keep)
        return result


class _Asking:
    """Asks the person at one request's host. `wanted` is the answer to the request where the host is to come again."""

    def __init__(self, ctx: Context, questions: OpenQuestions, session: str) -> None:
        self._ctx = ctx
        self._questions = questions
        self._session = session
        self.wanted: JsonObject | None = None

    @property
    def _can_ask(self) -> bool:
        can = self._ctx.session.client_capabilities
        return can is not None and (asks := can.elicitation) is not None and (asks.form is not None or asks.url is None)

    async def ask(self, question: Question) -> bool:
        if not self._can_ask:
            return False
        if self._ctx.protocol_version == MODERN_VERSION:
            answer = self._questions.answer(question, self._ctx.params or {})
            if answer is None:
                self.wanted = self._questions.put(question)
            return answer is True
        with self._questions.room(self._session) as is_asked:
            return is_asked and await self._put(question)

    async def _put(self, question: Question) -> bool:
        """To a host of the handshake era. Whatever that says instead of an answer is none."""
        with suppress(MCPError, ValidationError):
            result = await self._ctx.session.elicit_form(question.message, SCHEMA, self._ctx.request_id)
            return is_yes(result.action, result.content)
        return False


class _Server(Server[Any]):
    """Says in every session that its list may change, and bears our mark; over HTTP the SDK starts sessions by itself."""

    mark: Mapping[str, dict[str, Any]] = MappingProxyType({})

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        return super().get_capabilities(
            notification_options, dict(self.mark), extensions, protocol_version=protocol_version
        )

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changing = NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changing, experimental_capabilities, extensions)


async def _answered_by_middleware(_ctx: object, _params: object) -> Any:  # noqa: ANN401
    raise NotImplementedError("the middleware answers this")
