"""One run of a model's code: the conversation with its child, under the clock, until there is an outcome.

Laws
1. The child is not believed. A number out of turn, a method that there is not, or more of anything than the bounds allow
   is the end of it (`child_exit`).
2. At the deadline, at an abort and at the end, whatever happened: the bridged calls are cancelled and the child is killed.
3. A run is never tried again: what it has called has run.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import anyio
import anyio.abc

from server.clean import one_line
from server.code.child import Bounds, Child, ChildEnded, Runtime, ready_child
from server.code.unavailable import Unavailable
from server.errors import GatewayError
from upstream_clients import JsonObject, NotAMessage, dump, parse

Method: TypeAlias = Literal["search", "describe", "call"]
Ask: TypeAlias = Callable[[Method, list[object]], Awaitable[object]]
"""What answers a bridged call. Raises GatewayError, which the code can catch."""

METHODS: Final[Mapping[object, Method]] = {"search": "search", "describe": "describe", "call": "call"}

AT_ONCE: Final = 2
"""Children at a time. Each takes some 90 MB, and a core while it starts."""

MOST_WAITING: Final = 8

ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Of one answer to the code, whose memory is 64 MiB: text takes twice its size there, and the values as much again."""

LONGEST_CODE: Final = 64 * 1024
"""Characters. A short body is what this is for."""

ENGINE_CHARACTERS: Final = 200
"""Of what the engine says when it fails, as it does on a stack that is too deep."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run. `failure` is None if it returned a value."""

    value: object = None
    failure: GatewayError | None = None
    logs: tuple[str, ...] = ()


class CodeRunner:
    """Runs code, a few pieces at a time, each in a child of its own."""

    def __init__(self, runtime: Runtime, bounds: Bounds | None = None) -> None:
        self._runtime = runtime
        self._bounds = bounds or Bounds()
        self._places = anyio.Semaphore(AT_ONCE)
        self._open: set[anyio.CancelScope] = set()

    def __repr__(self) -> str:
        return f"<CodeRunner on {self._runtime.node}, {len(self._open)} open>"

    async def run(self, code: object, ask: Ask, seconds: float) -> Outcome:
        """Runs it once. The clock starts when the child is ready."""
        if not isinstance(code, str) or not code.strip():
            return _failed("invalid_input", "'code' must be a text that is not empty.", "Give the body of a function.")
        if len(code) > LONGEST_CODE:
            return _failed("invalid_input", f"The code is over {LONGEST_CODE} characters.", "Send a short body.")
        if len(self._open) >= AT_ONCE + MOST_WAITING:
            return _failed("runtime_unavailable", "Too many pieces of code are running.", "Try again in a few seconds.")
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            try:
                async with self._places:
                    return await run_in_child(self._runtime, self._bounds, code, ask, seconds)
            except Unavailable as gone:
                return _failed("runtime_unavailable", f"{gone.why[:1].upper()}{gone.why[1:]}.", gone.hint)
            finally:
                self._open.discard(scope)
        return _failed("aborted", "The run was aborted.", "Tools that it called may have run.")

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    def abort(self) -> None:
        """Ends every run that is under way."""
        for scope in list(self._open):
            scope.cancel()


async def run_in_child(runtime: Runtime, bounds: Bounds, code: str, ask: Ask, seconds: float) -> Outcome:
    """One run, in a child that nothing but it will use. Raises Unavailable, and then no code has run."""
    async with ready_child(runtime, bounds, seconds) as child:
        talk = _Conversation(child, bounds, ask)
        with anyio.move_on_after(seconds) as clock:
            await talk.hold(code)
        if clock.cancelled_caught:
            message = f"The code did not end within {seconds:g} s, bridged calls included."
            return talk.failed("timeout", message, "Tools that it called may have run. Do less in one run.")
        return talk.outcome


@dataclass(slots=True)
class _Conversation:
    """What passes between one child and its parent."""

    child: Child
    bounds: Bounds
    ask: Ask
    logs: list[str] = field(default_factory=list)
    log_bytes: int = 0
    calls: int = 0
    pending: int = 0
    outcome: Outcome = field(default_factory=Outcome)

    async def hold(self, code: str) -> None:
        """Until the child is done or gone. Leaves the outcome."""
        async with anyio.create_task_group() as tasks:
            try:
                await self.child.send(code.encode("utf-8", "replace"))
                while not self._take(await self.child.next(), tasks):
                    pass
            except ChildEnded as ended:
                self.outcome = self.failed(
                    "child_exit", f"The isolated process ended: {ended}.", "Tools that it called may have run."
                )
            tasks.cancel_scope.cancel()

    def failed(self, code: str, message: str, hint: str) -> Outcome:
        return Outcome(None, GatewayError(code, message, hint), tuple(self.logs))

    def _take(self, message: JsonObject, tasks: anyio.abc.TaskGroup) -> bool:
        """Whether the child is done."""
        kind = message.get("type")
        if kind == "log":
            self._log(message)
        elif kind == "call":
            self._call(message, tasks)
        elif kind == "done":
            self.outcome = self._done(_text(message, "how"), _text(message, "text"))
        elif kind == "failed":
            raise ChildEnded(f"the engine failed: {one_line(_text(message, 'text'), ENGINE_CHARACTERS)}")
        else:
            raise ChildEnded("it broke the protocol")
        return kind == "done"

    def _log(self, message: JsonObject) -> None:
        level, text = _text(message, "level"), _text(message, "text")
        self.log_bytes += len(text.encode("utf-8", "replace"))
        if self.log_bytes > self.bounds.logBytes or len(self.logs) > self.bounds.logLines:
            raise ChildEnded("it wrote more logs than it may")
        self.logs.append(text if level == "log" else f"{level}: {text}")
        if message.get("isCut") is True:
            self.logs.append("(the logs end here: no more are kept)")

    def _call(self, message: JsonObject, tasks: anyio.abc.TaskGroup) -> None:
        number, method, values = message.get("id"), message.get("method"), _text(message, "values")
        self.calls, self.pending = self.calls + 1, self.pending + 1
        is_in_turn = number == self.calls and type(number) is int
        if not is_in_turn or self.calls > self.bounds.calls or self.pending > self.bounds.pending:
            raise ChildEnded("it broke the protocol")
        given = _parsed(values)
        asked = METHODS.get(method) if isinstance(method, str) else None
        if asked is None or not isinstance(given, list) or len(values) > self.bounds.argumentBytes:
            raise ChildEnded("it broke the protocol")
        tasks.start_soon(self._answer, self.calls, asked, given)

    async def _answer(self, number: int, method: Method, values: list[object]) -> None:
        try:
            value: object = await self.ask(method, values)
            is_good = True
        except GatewayError as error:
            value = {"code": error.code, "message": str(error), "hint": error.hint}
            is_good = False
        text = json.dumps(value, separators=(",", ":"))
        if len(text) > ANSWER_BYTES:
            hint = "Ask for less."
            value = {
                "code": "output_limit",
                "message": f"The answer is over {ANSWER_BYTES} bytes. {hint}",
                "hint": hint,
            }
            is_good, text = False, json.dumps(value)
        self.pending -= 1
        try:
            await self.child.send(dump({"id": number, "isGood": is_good, "text": text}))
        except ChildEnded:
            return  # whoever reads from it hears of it, too

    def _done(self, how: str, text: str) -> Outcome:
        if how == "returned" and len(text.encode("utf-8", "replace")) <= self.bounds.resultBytes:
            try:
                return Outcome(_parsed(text), None, tuple(self.logs))
            except ChildEnded:
                return self.failed("output_limit", "The value is nested too deep.", "Return a flatter one.")
        if how in ("returned", "too_long"):
            most = self.bounds.resultBytes // 1024
            return self.failed("output_limit", f"The value is over {most} KiB.", "Return what is needed of it.")
        if how == "unreadable":
            return self.failed(
                "invalid_input", f"The code can't be read. {text}", "Send the body of an async function."
            )
        if how == "stuck":
            return self.failed("code_error", "It waits for a promise that nothing settles.", "Await what was started.")
        if how != "threw":
            raise ChildEnded("it broke the protocol")
        return self.failed(
            "code_error", text, "The code threw this, or a call of it was refused and nothing caught it."
        )


def _failed(code: str, message: str, hint: str) -> Outcome:
    return Outcome(None, GatewayError(code, message, hint))


def _text(message: JsonObject, name: str) -> str:
    """With a mark for each half of a surrogate pair, as where the child cut an error short: no answer could hold it."""
    value = message.get(name)
    if not isinstance(value, str):
        raise ChildEnded("it broke the protocol")
    return value.encode("utf-8", "replace").decode()


def _parsed(text: str) -> object:
    """JSON as strict as any message's, and of text that UTF-8 can say. Raises ChildEnded."""
    try:
        value = parse(b'{"value":%b}' % text.encode("utf-8"))["value"]
        if "\\ud" not in text:
            return value
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (NotAMessage, UnicodeEncodeError, KeyError):
        raise ChildEnded("it broke the protocol") from None
