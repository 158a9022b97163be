"""One JSON-RPC conversation with an upstream: requests go out under our ids, each answer finds its request.

Knows the message shapes and nothing of processes, addresses, eras or tools. The transport hands it whole messages through
`receive`, says what became of a single request through `fail`, and takes messages through the callable it was built with.

Laws
1. An answer is matched by an integer id that we gave and that is still open; anything else is dropped and counted.
2. One request is one message sent. A request that ends without an answer sends one `notifications/cancelled`, and no more.
3. Requests that the upstream sends to us are refused with -32601, except `ping`.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio

from upstream_clients.errors import (
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
)
from upstream_clients.framing import JsonObject

METHOD_NOT_FOUND: Final = -32601
UNCANCELLABLE: Final = frozenset({"initialize", "server/discover"})
"""The protocol forbids cancelling these (lifecycle, 2025-11-25 and 2026-07-28)."""

Progress: TypeAlias = Callable[[float, float | None, str | None], None]
"""Called with progress, total and message; must not block."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an answer, in seconds: without any sign of progress, and in all."""

    idle: float
    total: float = math.inf


class _Pending:
    """One request under way. `done` is a future and no event: that saves thirty function calls in every call."""

    __slots__ = ("done", "error", "is_settled", "on_progress", "patience", "result", "scope", "total_deadline")

    def __init__(self, patience: Patience, on_progress: Progress | None) -> None:
        now = anyio.current_time()
        self.patience = patience
        self.total_deadline = now + patience.total
        self.scope = anyio.CancelScope(deadline=min(now + patience.idle, self.total_deadline))
        self.on_progress = on_progress
        self.is_settled = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.result: JsonObject = {}
        self.error: UpstreamError | None = None

    def settle(self, result: JsonObject, error: UpstreamError | None) -> None:
        """The first outcome counts: an answer stays one although the connection ends before anyone has looked at it."""
        if not self.is_settled:
            self.is_settled, self.result, self.error = True, result, error
            if not self.done.done():  # it is, where nobody waits any more
                self.done.set_result(None)

    def extend(self) -> None:
        self.scope.deadline = min(anyio.current_time() + self.patience.idle, self.total_deadline)


class Peer:
    """The client's side of one connection. Use it only from the event loop that the transport runs on."""

    def __init__(self, send: Callable[[JsonObject], None], on_notification: Callable[[str, JsonObject], None]) -> None:
        self._send = send
        self._on_notification = on_notification
        self._next_id = 0
        self._pending: dict[int, _Pending] = {}
        self._ended: UpstreamError | None = None
        self.dropped = 0

    def __repr__(self) -> str:
        return f"<Peer {len(self._pending)} open, {self._next_id} sent, {self.dropped} dropped>"

    async def request(
        self, method: str, params: Mapping[str, object], patience: Patience, on_progress: Progress | None = None
    ) -> JsonObject:
        """Sends one request and returns its result as it came.

        Raises:
            UpstreamRefused: the answer was a JSON-RPC error.
            UpstreamTimeout: no answer within `patience`.
            UpstreamError: the connection ended; which kind says how.
        """
        if self._ended is not None:
            raise self._ended.told_again(ran=False)
        self._next_id += 1
        request_id = self._next_id
        self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": _with_token(params, request_id)})
        pending = self._pending[request_id] = _Pending(patience, on_progress)
        try:
            with pending.scope:
                await pending.done
        finally:
            del self._pending[request_id]
            if not pending.is_settled:
                self._abandon(request_id, method)
        if not pending.is_settled:
            raise _timed_out(method, patience, total_reached=anyio.current_time() >= pending.total_deadline)
        if pending.error is not None:
            raise pending.error
        return pending.result

    def notify(self, method: str, params: Mapping[str, object] | None = None) -> None:
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        self._send(message)

    def receive(self, message: JsonObject) -> None:
        """Takes one message from the transport."""
        method = message.get("method")
        if not isinstance(method, str):
            self._take_answer(message)
        elif "id" in message:
            self._answer_server(method, message["id"])
        else:
            params = message.get("params")
            self._take_notification(method, params if isinstance(params, dict) else {})

    def fail(self, request_id: int, error: UpstreamError) -> None:
        """This request alone will have no answer; the connection lives on."""
        pending = self._pending.get(request_id)
        if pending is not None:
            pending.settle({}, error)

    def end(self, error: UpstreamError) -> None:
        """The connection is over: every open request fails with `error`, and so does every later one."""
        self._ended = self._ended or error
        for pending in self._pending.values():
            pending.settle({}, error.told_again(ran=True))

    def _take_answer(self, message: JsonObject) -> None:
        request_id = message.get("id")
        pending = self._pending.get(request_id) if type(request_id) is int else None
        if pending is None or pending.is_settled:
            self.dropped += 1
            return
        result = message.get("result")
        if isinstance(result, dict):
            pending.settle(result, None)
        else:
            pending.settle({}, _refusal(message.get("error")))

    def _take_notification(self, method: str, params: JsonObject) -> None:
        if method == "notifications/progress":
            self._take_progress(params)
        else:
            self._on_notification(method, params)

    def _take_progress(self, params: JsonObject) -> None:
        token = params.get("progressToken")
        pending = self._pending.get(token) if type(token) is int else None
        progress = params.get("progress")
        if pending is None or pending.is_settled or not isinstance(progress, (int, float)):
            self.dropped += 1
            return
        pending.extend()
        if pending.on_progress is not None:
            total, text = params.get("total"), params.get("message")
            pending.on_progress(
                progress, total if isinstance(total, (int, float)) else None, text if isinstance(text, str) else None
            )

    def _answer_server(self, method: str, request_id: object) -> None:
        if method == "ping":
            answer: JsonObject = {"result": {}}
        else:
            answer = {"error": {"code": METHOD_NOT_FOUND, "message": f"toolfold does not serve {method[:64]!r}"}}
        with suppress(UpstreamGone):  # whoever does not take answers gets none
            self._send({"jsonrpc": "2.0", "id": request_id, **answer})

    def _abandon(self, request_id: int, method: str) -> None:
        if self._ended is not None or method in UNCANCELLABLE:
            return
        with suppress(UpstreamGone):  # a cancellation or a timeout is under way and must not be replaced
            self.notify("notifications/cancelled", {"requestId": request_id, "reason": "no longer awaited"})


def _with_token(params: Mapping[str, object], request_id: int) -> JsonObject:
    """The params with a progress token, so that a slow tool can show that it is alive."""
    meta = params.get("_meta")
    return {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), "progressToken": request_id}}


def _refusal(error: object) -> UpstreamError:
    if not isinstance(error, dict):
        return UpstreamProtocolFault("it answered with neither a result nor an error", ran=True)
    code, message = error.get("code"), error.get("message")
    return UpstreamRefused(
        code if type(code) is int else 0, message if isinstance(message, str) else "no message", error.get("data")
    )


def _timed_out(method: str, patience: Patience, *, total_reached: bool) -> UpstreamTimeout:
    if total_reached:
        return UpstreamTimeout(f"{method} did not finish within {patience.total:g} s", ran=True)
    return UpstreamTimeout(f"{method} gave no answer and no progress for {patience.idle:g} s", ran=True)
