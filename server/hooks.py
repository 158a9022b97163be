"""The operator's own word on each call: a command or a Python callable that is asked before the call is made.

Laws
1. A hook that fails, hangs, or answers anything but what is written here blocks the call, and costs nobody anything else.
2. It is waited for within bounds; a command that does not end is killed with all that it has started, and nothing of that
   outlives one that ends. What it prints is bounded, and never logged. AT_A_TIME are asked at a time, however many calls
   there are; MOST_WAITING wait for their turn, and more are blocked at once. So are all while MOST_THREADS hang.
3. A command gets the event on its standard input, never in its arguments, which other users of the machine can read.
"""

import asyncio
import inspect
import json
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pkgutil import resolve_name
from typing import Final

import anyio
import anyio.to_thread

from server.clean import one_line
from upstream_clients import JsonObject, Program, run_program

logger = logging.getLogger(__name__)

LARGEST_ANSWER_BYTES: Final = 1024 * 1024
REASON_CHARACTERS: Final = 300

AT_A_TIME: Final = 16
"""Programs or threads. Calls come in hundreds, and each would start a program of its own."""

MOST_WAITING: Final = 128
"""As many as there may be calls of all upstreams."""

MOST_THREADS: Final = 2 * AT_A_TIME
"""A function that hangs keeps its thread, which nothing can end. Once so many do, calls are blocked at once."""

_CALLABLE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

FAILED: Final = "the operator's hook gave no usable answer"
ANSWERS: Final = 'It has to answer {"decision": "allow"} or {"decision": "block", "reason": "…"}'


class _NoAnswerError(Exception):
    """Why a hook's answer cannot be used, for the log."""


def is_callable_name(command: tuple[str, ...]) -> bool:
    """Whether it is one `module:function`, and no program."""
    return len(command) == 1 and _CALLABLE.fullmatch(command[0]) is not None


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook says. `arguments` are those to call with, or None for those that it was shown."""

    is_allowed: bool
    reason: str = ""
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Hook:
    """`before_call` is a command line, or one `module:function`. `env` is a command's whole environment."""

    before_call: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    seconds: float
    _threads: threading.Semaphore = field(default_factory=partial(threading.Semaphore, MOST_THREADS), repr=False)
    _places: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, AT_A_TIME), repr=False)

    async def __call__(self, event: JsonObject) -> HookAnswer:
        """The hook's answer. Never raises, but for cancellation."""
        if self._places.statistics().tasks_waiting >= MOST_WAITING:
            return HookAnswer(is_allowed=False, reason="too many calls wait for the operator's hook")
        async with self._places:
            with anyio.move_on_after(self.seconds):
                return await self._read(event)
        logger.warning("the beforeCall hook did not answer within %.1f s", self.seconds)
        return HookAnswer(is_allowed=False, reason="the operator's hook did not answer in time")

    async def _read(self, event: JsonObject) -> HookAnswer:
        try:
            return _read(await self._ask(event))
        except _NoAnswerError as error:
            logger.warning("the beforeCall hook gave no usable answer: %s", error)
        except Exception:  # a hook's runner: whatever goes wrong in it blocks
            logger.exception("the beforeCall hook failed")
        return HookAnswer(is_allowed=False, reason=FAILED)

    async def _ask(self, event: JsonObject) -> object:
        if is_callable_name(self.before_call):
            work = partial(_called, self.before_call[0], event, self._threads)
            answer = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            return await _awaited(answer) if inspect.isawaitable(answer) else answer
        printed = await self._run(json.dumps(event).encode())
        try:
            return json.loads(printed)
        except ValueError:
            raise _NoAnswerError(f"what it prints is not JSON. {ANSWERS}") from None

    async def _run(self, event: bytes) -> bytes:
        if not self.before_call[0]:
            raise _NoAnswerError("the configuration has none that may be run. See `toolfold check`")
        try:
            printed = await run_program(Program(self.before_call, self.env, LARGEST_ANSWER_BYTES, event))
        except OSError as error:
            raise _NoAnswerError(f"it cannot be started ({error.strerror}). See `toolfold check`") from None
        if printed.code is None:
            raise _NoAnswerError(f"it prints more than {LARGEST_ANSWER_BYTES} bytes")
        if printed.code != 0:
            raise _NoAnswerError(f"it ended with exit code {printed.code}")
        return printed.output


def _called(name: str, event: JsonObject, threads: threading.Semaphore) -> object:
    if not threads.acquire(blocking=False):
        raise RuntimeError(f"{MOST_THREADS} calls of the hook have not ended")
    try:
        found: Callable[[JsonObject], object] = resolve_name(name)
        return found(event)
    except BaseException as error:
        raise _failure(error) from error
    finally:
        threads.release()


async def _awaited(answer: Awaitable[object]) -> object:
    try:
        return await answer
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # the call was given up, or the time is over
        raise _failure(error) from error


def _failure(error: BaseException) -> Exception:
    """A hook that wants to exit, or to cancel what it is no part of, has failed like any other: that must not end us."""
    return error if isinstance(error, Exception) else RuntimeError(f"the hook raised {type(error).__name__}")


def _read(answer: object) -> HookAnswer:
    """Raises _NoAnswerError for what is no answer."""
    match answer:
        case {"decision": "allow", "arguments": dict(arguments)}:
            return HookAnswer(is_allowed=True, arguments=arguments)
        case {"decision": "allow", "arguments": _}:
            pass
        case {"decision": "allow"}:
            return HookAnswer(is_allowed=True)
        case {"decision": "block", "reason": str(reason)}:
            return HookAnswer(is_allowed=False, reason=one_line(reason, REASON_CHARACTERS))
        case {"decision": "block"}:
            return HookAnswer(is_allowed=False)
    raise _NoAnswerError(f"it says something else. {ANSWERS}")
