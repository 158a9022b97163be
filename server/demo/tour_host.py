"""A host in forty lines: starts a server and talks JSON-RPC to it over its standard input and output, as any host does."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio

ANSWER_SECONDS: Final = 60.0
"""The first call waits for the SDK's import and an upstream's start; on a slow machine that takes some seconds."""

LONGEST_LINE: Final = 16 * 1024 * 1024

END_SECONDS: Final = 3.0


class TourHost:
    """One running server, seen as a host sees it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = itertools.count(1)

    def __repr__(self) -> str:
        return f"<TourHost of pid {self._process.pid}>"

    async def request(self, method: str, params: Mapping[str, object]) -> tuple[dict[str, object], int]:
        """The result, and the size of its message in bytes.

        Raises:
            RuntimeError: the server answered with an error, or ended.
            TimeoutError: no answer within ANSWER_SECONDS.
        """
        wanted = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": wanted, "method": method, "params": params})
        assert self._process.stdout is not None
        with anyio.fail_after(ANSWER_SECONDS):
            while line := await self._process.stdout.readline():
                message = json.loads(line)
                if message.get("id") == wanted:
                    if "result" not in message:
                        raise RuntimeError(f"{method}: {message['error']['message']}")
                    return message["result"], len(line)
        raise RuntimeError("the gateway has ended; its messages stand above")

    async def call(self, name: str, arguments: Mapping[str, object]) -> tuple[dict[str, object], int]:
        """The result of one tool. Raises what `request` does."""
        return await self.request("tools/call", {"name": name, "arguments": arguments})

    async def greet(self) -> None:
        """Raises what `request` does."""
        client = {"name": "toolfold-demo", "version": "1"}
        await self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def hosted(arguments: list[str], env: Mapping[str, str]) -> AsyncIterator[TourHost]:
    """Starts `toolfold` with these arguments and ends it by closing its input, as hosts do."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # the working folder may hold a `server` of its own
        "-c",
        "from server.cli import main; main()",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=dict(env),
        limit=LONGEST_LINE,
    )
    try:
        yield TourHost(process)
    finally:
        with anyio.CancelScope(shield=True):  # bounded by END_SECONDS
            assert process.stdin is not None
            process.stdin.close()
            with anyio.move_on_after(END_SECONDS) as late:
                await process.wait()
            if late.cancelled_caught:
                process.kill()
                await process.wait()
