"""An MCP server that is hostile in ways that `tests.support.scripted_server` is not: by numbers, by order, by time.

Run as `python -I -S hostile_server.py OPTIONS`, one JSON object: `mode`, the options of that mode, and `marker`, which is
only to be found again in the command line. Standard library only. Each mode says in its class what it does.
"""

import json
import os
import random
import sys
import threading
import time
from typing import Any, ClassVar, Final

CHUNK: Final = b"y" * (1 << 20)
STORM_SECONDS: Final = 3.0
BURSTS: Final = 100


class Server:
    """Answers as an ordinary server does: one tool, `echo`."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def run(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "id" in message and "method" in message:
                self.answer(message["id"], message["method"], message.get("params", {}))

    def answer(self, number: int, method: str, params: dict[str, Any]) -> None:
        if method == "initialize":
            about = {
                "serverInfo": {"name": "hostile", "version": "1"},
                "capabilities": {"tools": {"listChanged": True}},
            }
            self.reply(number, {"protocolVersion": params["protocolVersion"], **about})
        elif method == "tools/list":
            self.reply(number, {"tools": self.tools()})
            self.listed()
        elif method == "tools/call":
            self.call(number, params["name"], params.get("arguments", {}))
        else:
            send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}})

    def tools(self) -> list[dict[str, Any]]:
        return [tool("echo")]

    def listed(self) -> None:
        return

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        self.say(number, str(arguments.get("text", "")))

    def say(self, number: object, text: str) -> None:
        self.reply(number, {"content": [{"type": "text", "text": text}]})

    def reply(self, number: object, result: dict[str, Any]) -> None:
        send({"jsonrpc": "2.0", "id": number, "result": result})


class Shuffling(Server):
    """Holds `mix`ed calls until there are `hold` of them, and answers these in any order."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.held: list[tuple[int, str]] = []
        self.dice = random.Random(7)

    def tools(self) -> list[dict[str, Any]]:
        return [tool("echo"), tool("mixed")]

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        self.held.append((number, str(arguments.get("text", ""))))
        if name == "echo" or len(self.held) == self.options["hold"]:
            self.dice.shuffle(self.held)
            while self.held:
                self.say(*self.held.pop())


class Doubling(Server):
    """Answers each call of `echo` under its id as a string and as 1.0, under unknown ids, and twice under the right one.

    `string` is answered under its id as a string alone.
    """

    def tools(self) -> list[dict[str, Any]]:
        return [tool("echo"), tool("string")]

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        for wrong in (str(number), float(number), -number, number + 1_000_000, None, [number]):
            self.say(wrong, "wrong")
        if name == "echo":
            super().call(number, name, arguments)
            self.say(number, "late")


class Storming(Server):
    """Tells of changes `notifications` times over STORM_SECONDS when it is told `storm`, and then changes once more.

    Writes down when it listed.
    """

    names: ClassVar = ["echo", "storm"]

    def tools(self) -> list[dict[str, Any]]:
        with open(self.options["times"], "a", encoding="ascii") as file:
            file.write(f"{time.monotonic()}\n")
        return [tool(name) for name in self.names]

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        if name == "storm":
            threading.Thread(target=self.storm, daemon=True).start()
        super().call(number, name, arguments)

    def storm(self) -> None:
        for _ in range(BURSTS):
            for _ in range(self.options["notifications"] // BURSTS):
                changed()
            time.sleep(STORM_SECONDS / BURSTS)
        self.names.append("aftermath")
        changed()


class Flapping(Server):
    """Each listing has `tools` others than the one before, all named after its number, and is outdated at once."""

    generation = 0

    def tools(self) -> list[dict[str, Any]]:
        self.generation += 1
        return [tool("echo"), *(tool(f"flap_{self.generation}_{n}") for n in range(self.options["tools"]))]

    def listed(self) -> None:
        changed()


class Flooding(Server):
    """Writes `megabytes` to its standard error before it answers a call of `flood`."""

    def tools(self) -> list[dict[str, Any]]:
        return [tool("echo"), tool("flood")]

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        for _ in range(self.options["megabytes"] if name == "flood" else 0):
            rest = memoryview(CHUNK)
            while rest:
                rest = rest[os.write(2, rest) :]
        super().call(number, name, arguments)


MODES: Final[dict[str, type[Server]]] = {
    "shuffling": Shuffling,
    "doubling": Doubling,
    "storming": Storming,
    "flapping": Flapping,
    "flooding": Flooding,
}


def tool(name: str) -> dict[str, Any]:
    words = name.replace("_", " ")
    return {"name": name, "description": f"Does the {words}.", "inputSchema": {"type": "object"}}


def changed() -> None:
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def send(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    MODES[wanted["mode"]](wanted).run()
