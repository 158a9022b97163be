"""A child process that speaks JSON-RPC on its standard input and output: the bounded stdio transport.

Owns the process, its pipes and its end. Hands whole messages to one callable and says once, through another, that the
connection is over. Knows nothing of what the messages mean.

Laws
1. `on_lost` is called exactly once, whatever ends first: the output, the process, or our patience with what it sends.
2. Standard error is always drained; only its last STDERR_TAIL bytes are kept.
3. After `close` no process of the child's group is left, within CLOSE_SECONDS.
"""

import asyncio
import subprocess
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.errors import UpstreamError, UpstreamGone, UpstreamProtocolFault
from upstream_clients.framing import JsonObject, LineSplitter, NotAMessage, looks_like_message, parse
from upstream_clients.platform import Platform
from upstream_clients.watchdog import Watchdog

STDERR_TAIL: Final = 64 * 1024
"""Enough for two stack traces; what a flood says first is of no use."""

INLINE_PARSE_BYTES: Final = 256 * 1024
"""A longer line is parsed in a worker thread: JSON of this size costs the loop about 2 ms."""

WRITE_BACKLOG_BYTES: Final = 16 * 1024 * 1024
"""What may wait for a server that does not read. Four of the longest lines that a host may send us."""

DRAIN_SECONDS: Final = 0.25
"""After the process has ended: time for what it wrote last. A grandchild may hold the pipe open for ever."""

EOF_SECONDS: Final = 0.4
TERM_SECONDS: Final = 0.3
KILL_SECONDS: Final = 0.2
CLOSE_SECONDS: Final = EOF_SECONDS + TERM_SECONDS + KILL_SECONDS
"""A host kills the gateway two seconds after closing its input; everything must be over well before that."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the child. `env` is its whole environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    line_bytes: int

    def __repr__(self) -> str:  # never the arguments or the environment: they may hold secrets
        return f"<Launch {self.argv[0]!r}>"


class ChildProcess:
    """A running child. Made by `start_child`, ended by `close`."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        platform: Platform,
        watchdog: Watchdog,
        on_message: Callable[[JsonObject], None],
        on_lost: Callable[[UpstreamError], None],
    ) -> None:
        self._process = process
        self._platform = platform
        self._watchdog = watchdog
        self._on_message = on_message
        self._on_lost: Callable[[UpstreamError], None] | None = on_lost
        self._stdin: asyncio.WriteTransport | None = None
        self._readers: list[asyncio.ReadTransport] = []
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._parsing: set[asyncio.Task[None]] = set()
        self._exited = anyio.Event()
        self.return_code: int | None = None
        self.skipped_lines = 0

    def __repr__(self) -> str:
        return f"<ChildProcess pid {self.pid}, {'running' if self.return_code is None else self.return_code}>"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stderr_tail(self) -> str:
        """The last words on standard error, at most STDERR_TAIL bytes. Untrusted, and may hold secrets."""
        return b"".join(self._stderr)[-STDERR_TAIL:].decode("utf-8", "replace")

    def write(self, line: bytes) -> None:
        """Queues one line. Raises UpstreamGone when the pipe is closed or the child has stopped reading."""
        if self._stdin is None or self._stdin.is_closing():
            raise UpstreamGone("its standard input is closed")
        if self._stdin.get_write_buffer_size() > WRITE_BACKLOG_BYTES:
            raise UpstreamGone("it has stopped reading its standard input")
        self._stdin.write(line)

    async def attach(self, line_bytes: int) -> None:
        """Connects the three pipes to the event loop."""
        loop, process = asyncio.get_running_loop(), self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._platform.watch_exit(process, self._exit_seen)
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        err, _ = await loop.connect_read_pipe(lambda: _Reader(self._keep_stderr, lambda: None), process.stderr)
        out, _ = await loop.connect_read_pipe(
            lambda: _LineReader(line_bytes, self._take_line, self._output_ended), process.stdout
        )
        self._readers = [err, out]

    async def close(self) -> None:
        """Ends the child and its whole group. Bounded by CLOSE_SECONDS, whatever the child does."""
        self._on_lost = None
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

    async def _exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    def _lose(self, error: UpstreamError) -> None:
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost(error)

    def _take_line(self, line: bytes | None) -> None:
        if self._on_lost is None:
            return
        if line is None:
            self._lose(UpstreamProtocolFault("it sent a line over the limit", hint="Raise gateway.limits.lineBytes."))
        elif not looks_like_message(line):
            self.skipped_lines += 1
        elif len(line) > INLINE_PARSE_BYTES:
            task = asyncio.get_running_loop().create_task(self._parse_in_thread(line))
            self._parsing.add(task)
            task.add_done_callback(self._parsing.discard)
        else:
            self._deliver(_parse_quietly(line))

    async def _parse_in_thread(self, line: bytes) -> None:
        self._deliver(await anyio.to_thread.run_sync(_parse_quietly, line, abandon_on_cancel=True))

    def _deliver(self, message: JsonObject | NotAMessage) -> None:
        if self._on_lost is None:
            return
        if isinstance(message, NotAMessage):
            self._lose(UpstreamProtocolFault(f"it sent a message that is not acceptable: {message}"))
        else:
            self._on_message(message)

    def _keep_stderr(self, chunk: bytes) -> None:
        self._stderr.append(chunk[-STDERR_TAIL:])
        self._stderr_size += len(self._stderr[-1])
        while self._stderr_size - len(self._stderr[0]) >= STDERR_TAIL:
            self._stderr_size -= len(self._stderr.popleft())

    def _exit_seen(self, code: int) -> None:
        self.return_code = code
        self._exited.set()
        asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._output_ended)

    def _output_ended(self) -> None:
        if self._parsing:  # its last answer is still being read; the exit is reported when that is done
            task = next(iter(self._parsing))
            task.add_done_callback(lambda _: self._output_ended())
            return
        if self.return_code is None:
            self._lose(UpstreamGone("it closed its standard output", ran=True))
        else:
            self._lose(UpstreamGone(f"it ended with {_in_words(self.return_code)}", ran=True))


async def start_child(
    launch: Launch,
    platform: Platform,
    watchdog: Watchdog,
    on_message: Callable[[JsonObject], None],
    on_lost: Callable[[UpstreamError], None],
) -> ChildProcess:
    """Starts the child and connects to it.

    Raises:
        UpstreamError: the program could not be started; the message says why and the hint what to do.
    """

    def start() -> "subprocess.Popen[bytes]":
        process = platform.start(list(launch.argv), dict(launch.env), launch.cwd)
        watchdog.watch(process.pid)
        return process

    try:
        # Shielded: a start that is abandoned half-way would leave a process that nobody ends.
        with anyio.CancelScope(shield=True):
            process = await anyio.to_thread.run_sync(start)
            child = ChildProcess(process, platform, watchdog, on_message, on_lost)
            await child.attach(launch.line_bytes)
    except OSError as error:
        raise _not_started(launch, error) from None
    return child


class _Reader(asyncio.Protocol):
    def __init__(self, on_bytes: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_bytes = on_bytes
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        self._on_bytes(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class _LineReader(asyncio.Protocol):
    def __init__(self, limit: int, on_line: Callable[[bytes | None], None], on_end: Callable[[], None]) -> None:
        self._splitter = LineSplitter(limit)
        self._on_line = on_line
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self._on_line(line)

    def connection_lost(self, exc: Exception | None) -> None:
        # The exit code is worth a moment's wait: it usually follows at once.
        asyncio.get_running_loop().call_later(DRAIN_SECONDS / 5, self._on_end)


def _parse_quietly(line: bytes) -> JsonObject | NotAMessage:
    try:
        return parse(line)
    except NotAMessage as fault:
        return fault


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
        return UpstreamError(f"the command {command!r} may not be executed", hint=f"Run: chmod +x {command}")
    return UpstreamError(f"the command {command!r} could not be started: {error.strerror}")
