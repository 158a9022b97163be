"""A child process that speaks JSON-RPC on its standard input and output: the bounded stdio transport.

Owns the process, its pipes and its end. Hands whole messages to one callable and says once, through another, that the
connection is over. Knows nothing of what the messages mean. (`upstream_clients.http` is the same for an address.)

Laws
1. `on_lost` is called at most once, whatever ends first: the output, the process, our patience with what it sends or with
   how little it reads. After that, and after `close`, no message is handed on.
2. Standard error is always drained; only its last STDERR_TAIL bytes are kept.
3. After `close` no process of the child's group is left, within CLOSE_SECONDS.
"""

import asyncio
import errno
import os
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamTimeout
from upstream_clients.framing import JsonObject, dump
from upstream_clients.output import Output
from upstream_clients.platform import Platform
from upstream_clients.watchdog import Watchdog

STDERR_TAIL: Final = 64 * 1024
"""Enough for what surrounds an error; what a flood says first is of no use."""

STRAY_LINES: Final = "It prints lines on standard output that are no MCP messages: its log belongs on standard error."
LAST_WORDS_CHARACTERS: Final = 4000
"""Two stack traces: what a person needs to see of a server that failed."""

WRITE_BACKLOG_BYTES: Final = 16 * 1024 * 1024
"""What may wait for a server that does not read. Four of the longest lines that a host may send us."""

INPUT_CLOSED: Final = "its standard input is closed"
NOT_READING: Final = "it has stopped reading its standard input"

DRAIN_SECONDS: Final = 0.25
"""After the process has ended: time for what it wrote last. A grandchild may hold the pipe open for ever."""

EXIT_CODE_SECONDS: Final = 0.05
"""After the output has ended: the exit usually follows at once, and its code is worth a moment's wait."""

EOF_SECONDS: Final = 0.4
TERM_SECONDS: Final = 0.3
KILL_SECONDS: Final = 0.2
CLOSE_SECONDS: Final = EOF_SECONDS + TERM_SECONDS + KILL_SECONDS
"""A host kills the gateway two seconds after closing its input; everything must be over well before that."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the child. `env` is its whole environment, apart from the mark for the watchdog."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    line_bytes: int

    def __repr__(self) -> str:  # never the arguments or the environment: they may hold secrets
        return f"<Launch {self.argv[0]!r}>"


class ChildProcess:
    """A running child. Made and ended by `running_child`."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        platform: Platform,
        watchdog: Watchdog,
        on_lost: Callable[[UpstreamError], None],
    ) -> None:
        self._process = process
        self._platform = platform
        self._watchdog = watchdog
        self._on_lost: Callable[[UpstreamError], None] | None = on_lost
        self._stdin: asyncio.WriteTransport | None = None
        self._output: Output | None = None
        self._readers: list[asyncio.ReadTransport] = []
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._exited = anyio.Event()
        self.return_code: int | None = None

    def __repr__(self) -> str:
        return f"<ChildProcess pid {self.pid}, {'running' if self.return_code is None else self.return_code}>"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stderr_tail(self) -> str:
        """The last words on standard error, at most STDERR_TAIL bytes. Untrusted, and may hold secrets."""
        return b"".join(self._stderr)[-STDERR_TAIL:].decode("utf-8", "replace")

    def skipped_lines(self) -> int:
        """How many lines on its standard output were no messages."""
        return 0 if self._output is None else self._output.skipped_lines

    def send(self, message: JsonObject) -> None:
        """Queues one message; see `write`."""
        self.write(dump(message))

    def write(self, line: bytes) -> None:
        """Queues one line. Raises UpstreamGone when the pipe is closed or the child has stopped reading."""
        if self._stdin is None or self._stdin.is_closing():
            raise UpstreamGone(INPUT_CLOSED)
        if self._stdin.get_write_buffer_size() > WRITE_BACKLOG_BYTES:
            self._lose(UpstreamGone(NOT_READING))
            raise UpstreamGone(NOT_READING)
        self._stdin.write(line)

    async def attach(self, line_bytes: int, on_message: Callable[[JsonObject], None]) -> None:
        """Connects the three pipes to the event loop."""
        process, platform = self._process, self._platform
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        output = self._output = Output(line_bytes, on_message, self._lose, self._output_ended)
        platform.watch_exit(process, self._exit_seen)
        self._stdin = await platform.write_pipe(process.stdin, asyncio.BaseProtocol())
        err = await platform.read_pipe(process.stderr, _ErrorReader(self._keep_stderr))
        out = await platform.read_pipe(process.stdout, output)
        self._readers = [err, out]

    async def close(self) -> None:
        """Ends the child and its whole group. Bounded by CLOSE_SECONDS, whatever the child does."""
        self._on_lost = None
        if self._output is not None:
            self._output.stop()
        if self._stdin is not None:
            self._stdin.close()
        if not await self._exits_within(EOF_SECONDS):
            self._platform.end_softly(self.pid)
            await self._exits_within(TERM_SECONDS)
        self._platform.end_hard(self.pid)  # also what the child has left behind in its group
        await self._exits_within(KILL_SECONDS)
        self._watchdog.forget(self.pid)
        for reader in self._readers:
            reader.close()
        if self._stdin is not None and self._stdin.get_write_buffer_size():
            self._stdin.abort()  # it never read what was still waiting

    async def ending(self) -> str:
        """How it ended, in words; empty if it goes on."""
        if not await self._exits_within(EXIT_CODE_SECONDS):
            return ""
        assert self.return_code is not None
        return f"it ended with {_in_words(self.return_code)}"

    async def _exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    def _lose(self, error: UpstreamError) -> None:
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            assert self._output is not None
            self._output.stop()
            on_lost(error)

    def _keep_stderr(self, chunk: bytes) -> None:
        self._stderr.append(chunk[-STDERR_TAIL:])
        self._stderr_size += len(self._stderr[-1])
        while self._stderr_size - len(self._stderr[0]) >= STDERR_TAIL:
            self._stderr_size -= len(self._stderr.popleft())

    def _exit_seen(self, code: int) -> None:
        self.return_code = code
        self._exited.set()
        assert self._output is not None
        asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._output.finish)

    def _output_ended(self) -> None:
        if self.return_code is None:
            asyncio.get_running_loop().call_later(EXIT_CODE_SECONDS, self._report_end)
        else:
            self._report_end()

    def _report_end(self) -> None:
        if self.return_code is None:
            self._lose(UpstreamGone("it closed its standard output"))
        else:
            self._lose(UpstreamGone(f"it ended with {_in_words(self.return_code)}"))


@asynccontextmanager
async def running_child(
    launch: Launch,
    platform: Platform,
    watchdog: Watchdog,
    on_message: Callable[[JsonObject], None],
    on_lost: Callable[[UpstreamError], None],
) -> AsyncIterator[ChildProcess]:
    """A child that runs for as long as the context lasts. An UpstreamError that leaves it takes its last words along.

    Raises:
        UpstreamError: the program could not be started; the message says why and the hint what to do.
    """

    def start() -> "subprocess.Popen[bytes]":
        process = platform.start(list(launch.argv), dict(launch.env), launch.cwd)
        watchdog.watch(process.pid)
        return process

    try:
        process = await anyio.to_thread.run_sync(start)  # waits for the thread even when it is cancelled
    except OSError as error:
        raise _not_started(launch, error) from None
    child = ChildProcess(process, platform, watchdog, on_lost)
    try:
        with anyio.CancelScope(shield=True):  # the pipes must belong to somebody who closes them
            await child.attach(launch.line_bytes, on_message)
        yield child
    except UpstreamError as error:
        if error.message == INPUT_CLOSED and (ending := await child.ending()):
            error.message = ending  # the better reason: it follows in a moment
        if isinstance(error, UpstreamTimeout) and child.skipped_lines():
            error.hint = f"{error.hint} {STRAY_LINES}".lstrip()
        error.last_words = _last_lines(child.stderr_tail())
        raise
    finally:
        with anyio.CancelScope(shield=True):  # bounded by CLOSE_SECONDS
            await child.close()


class _ErrorReader(asyncio.Protocol):
    def __init__(self, on_bytes: Callable[[bytes], None]) -> None:
        self._on_bytes = on_bytes

    def data_received(self, data: bytes) -> None:
        self._on_bytes(data)


def _last_lines(text: str) -> str:
    """The end of the text, from the start of a line on: half a line may be half a secret, which nobody would recognise."""
    if len(text) <= LAST_WORDS_CHARACTERS:
        return text
    return text[-LAST_WORDS_CHARACTERS:].partition("\n")[2]


def _in_words(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _not_started(launch: Launch, error: OSError) -> UpstreamError:
    command = launch.argv[0]
    if launch.cwd is not None and error.filename == launch.cwd:
        return UpstreamError(f"its folder does not exist: {launch.cwd}", hint='Correct "cwd".')
    if isinstance(error, FileNotFoundError):
        return UpstreamError(
            f"the command {command!r} was not found",
            hint="Install it, or give its absolute path: a host started from a menu has a shorter PATH than your shell.",
        )
    if isinstance(error, PermissionError):
        hint = (
            f"Run: chmod +x {command}"
            if os.name == "posix"
            else "Check who may run it, and what your virus scanner says."
        )
        return UpstreamError(f"the command {command!r} may not be executed", hint=hint)
    hint = "Raise the limit (ulimit -n), or configure fewer servers." if error.errno == errno.EMFILE else ""
    return UpstreamError(f"the command {command!r} could not be started: {error.strerror}", hint=hint)
