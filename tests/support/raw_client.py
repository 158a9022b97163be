"""A client of the plainest kind: one server process and hand-written JSON-RPC over its pipes. No SDK, no event loop.

It is synchronous, so any fixture or script can hold it, and every wait is bounded. It serves nothing: what the server asks
of it is refused. The server's standard error is the caller's own unless the caller says otherwise.
"""

import itertools
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, TypeAlias

JsonObject: TypeAlias = dict[str, object]

ANSWER_SECONDS: Final = 60.0
"""Node and the SDK take seconds to start on a busy machine."""

READY_SECONDS: Final = 120.0
ASK_AGAIN_SECONDS: Final = 0.1

END_SECONDS: Final = 2.0
"""What hosts commonly give a server after they have closed its input."""

READ_BYTES: Final = 1 << 20


class Refused(Exception):
    """The answer was a JSON-RPC error."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")


class RawClient:
    """A server process as its client sees it. A context manager: leaving it closes the server's input, as hosts do."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            list(command),
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
        self.notifications: list[JsonObject] = []
        self._ids = itertools.count(1)
        self._lines: list[bytes] = []
        self._partial: list[bytes] = []
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._poll = select.poll()
        self._poll.register(self._stdout.fileno(), select.POLLIN | select.POLLHUP)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def greet(self, version: str = "2025-11-25", capabilities: Mapping[str, object] | None = None) -> JsonObject:
        """Shakes hands. Raises what `request` does."""
        client = {"name": "raw-client", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": client}
        greeting = self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return greeting

    def call(self, name: str, arguments: Mapping[str, object]) -> JsonObject:
        """Calls one tool. Raises what `request` does."""
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def request(self, method: str, params: Mapping[str, object], seconds: float = ANSWER_SECONDS) -> JsonObject:
        """The result, as it came.

        Raises:
            Refused: the answer was an error.
            EOFError: the server ended.
            TimeoutError: no answer within `seconds`.
        """
        wanted = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": wanted, "method": method, "params": params})
        deadline = time.monotonic() + seconds
        while True:
            message = json.loads(self.read_line(deadline))
            if "method" in message:
                self._take(message)
            elif message.get("id") == wanted:
                if "result" in message:
                    result = message["result"]
                    assert isinstance(result, dict)
                    return result
                raise Refused(message["error"])

    def tools(self) -> list[JsonObject]:
        """All pages of `tools/list`. Raises what `request` does."""
        tools: list[JsonObject] = []
        params: JsonObject = {}
        while True:
            page = self.request("tools/list", params)
            found = page["tools"]
            assert isinstance(found, list)
            tools += found
            if not page.get("nextCursor"):
                return tools
            params = {"cursor": page["nextCursor"]}

    def send(self, message: Mapping[str, object]) -> None:
        self._stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def read_line(self, deadline: float) -> bytes:
        """The next line of the server. Raises EOFError, or TimeoutError when the monotonic clock reaches `deadline`."""
        while not self._lines:
            if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise TimeoutError("the server has not answered in time")
            chunk = os.read(self._stdout.fileno(), READ_BYTES)
            if not chunk:
                raise EOFError("the server has closed its output; what it said on standard error may tell why")
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                self._lines.append(b"".join([*self._partial, part]))
                self._partial.clear()
            self._partial.append(rest)
        return self._lines.pop(0)

    def close_input(self) -> None:
        self._stdin.close()

    def close(self) -> int:
        """Closes the server's input and waits for its end, END_SECONDS at most. Returns the exit code."""
        self.close_input()
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            code = self.process.wait()
        self._stdout.close()
        return code

    def _take(self, message: JsonObject) -> None:
        if "id" in message:
            refusal: JsonObject = {"code": -32601, "message": "this client serves nothing"}
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
        else:
            self.notifications.append(message)


def structured(result: JsonObject) -> JsonObject:
    """The structured content of a result of one of toolfold's own tools."""
    content = result["structuredContent"]
    assert isinstance(content, dict)
    return content


def wait_for_upstreams(toolfold: RawClient) -> None:
    """Returns once every upstream can be searched. Asks again until none is missing, as the answer tells a host to do.

    Raises:
        TimeoutError: one is still missing after READY_SECONDS; the message names it.
    """
    deadline = time.monotonic() + READY_SECONDS
    while True:
        answer = structured(toolfold.call("tool_search", {"query": "time"}))
        missing = {key: answer[key] for key in ("starting", "unavailable") if key in answer}
        if not missing:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"not ready within {READY_SECONDS:.0f} s: {missing}")
        time.sleep(ASK_AGAIN_SECONDS)
