"""The seam between upstreams and their connections, in memory: servers that do what a test tells them, one step at a time.

Nothing is answered by itself but the greeting and the listing. Everything is counted: what was opened and closed, what was
written, and how often.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import anyio

from upstream_clients import JsonObject, Launch, Target, UpstreamGone
from upstream_clients.connection import Opening, Receiver

Mood = Literal["well", "refuses", "silent", "broken"]
"""How it starts: as it should, refusing the greeting, without a word, or not at all."""


class ScriptedServer:
    """One connection and the server at its end."""

    pid: int | None = None

    def __init__(self, mood: Mood, receiver: Receiver, tools: tuple[str, ...], written: Counter[str]) -> None:
        self.open_calls: list[JsonObject] = []
        self.lists = 0
        self._mood = mood
        self._receiver = receiver
        self._tools = tools
        self._written = written

    def send(self, message: JsonObject) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method == "tools/call":
            params = message["params"]
            assert isinstance(params, dict)
            self._written[str(params["arguments"]["nonce"])] += 1
            self.open_calls.append(message)
        elif method == "notifications/cancelled":
            params = message["params"]
            assert isinstance(params, dict)
            self.open_calls = [call for call in self.open_calls if call["id"] != params["requestId"]]
        elif method in ("initialize", "tools/list", "ping") and self._mood != "silent":
            self._greet(str(method), request_id)

    def answer(self, position: int, fields: JsonObject) -> JsonObject:
        """Answers one of the open calls, which is returned."""
        call = self.open_calls.pop(position % len(self.open_calls))
        self.say({"id": call["id"], **fields})
        return call

    def say(self, message: JsonObject) -> None:
        self._receiver.receive({"jsonrpc": "2.0", **message})

    def fall_silent(self) -> None:
        self._mood = "silent"

    def end(self) -> None:
        self.open_calls.clear()
        self._receiver.end(UpstreamGone("it crashed"))

    def _greet(self, method: str, request_id: object) -> None:
        result: JsonObject = {}
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
        elif method == "tools/list":
            self.lists += 1
            result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in self._tools]}
        refused = method == "initialize" and self._mood == "refuses"
        fields: JsonObject = {"error": {"code": -32000, "message": "no"}} if refused else {"result": result}
        asyncio.get_running_loop().call_soon(self.say, {"id": request_id, **fields})


class ScriptedOpener:
    """Stands for `Opener`. The next connection of each target starts in the mood that is set here."""

    def __init__(self) -> None:
        self.mood: Mood = "well"
        self.servers: dict[str, ScriptedServer] = {}
        self.opened = 0
        self.written: Counter[str] = Counter()

    async def opening(self, target: Target, receiver: Receiver) -> Opening:
        if self.mood == "broken":
            raise UpstreamGone("it can't be started")
        assert isinstance(target, Launch)
        return self._open(" ".join(target.argv), receiver)

    @asynccontextmanager
    async def _open(self, name: str, receiver: Receiver) -> AsyncIterator[ScriptedServer]:
        server = ScriptedServer(self.mood, receiver, ("work",), self.written)
        self.servers[name] = server
        self.opened += 1
        try:
            yield server
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.1)  # ending takes its time
            self.opened -= 1
            if self.servers.get(name) is server:
                del self.servers[name]
