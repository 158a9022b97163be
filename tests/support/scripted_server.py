"""A scripted MCP server: does on standard input and output exactly what its options say, faults included.

Run as `python -I -S scripted_server.py OPTIONS`, where OPTIONS is one JSON object (`tests.support.upstreams.Options`).
Standard library only and lazily imported, so that it starts in about 20 ms and a test can have fifty of them.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from time import sleep
from typing import Any, Final

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
MODERN_VERSION: Final = "2026-07-28"
SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
FOR_EVER: Final = 3600.0

SLOW_STEPS: Final = frozenset(("sleep", "progress", "gate"))
"""Calls with one of these run in a thread of their own, so that the server goes on reading."""

STUBBORN_CHILD: Final = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
time.sleep(3600)
"""


class Call:
    """One request under way."""

    def __init__(self, request_id: object, params: dict[str, Any]) -> None:
        self.id = request_id
        self.params = params

    @property
    def arguments(self) -> dict[str, Any]:
        arguments = self.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}


class Server:
    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.does: dict[str, Any] = options.get("does", {})
        self.tools = _tools(_wanted_tools(options), self.does)
        self.cancelled: set[object] = set()
        self.held: list[tuple[Call, dict[str, Any]]] = []
        self.listening: object = None

    def run(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "log" in self.options:
                _append(self.options["log"], line)
            self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "notifications/cancelled":
            self.cancelled.add(message["params"].get("requestId"))
        if "id" not in message or method is None:
            return
        call = Call(message["id"], message.get("params") or {})
        if method in self.options.get("on", {}):
            self.play(call, self.options["on"][method])
        elif method != "server/discover" and self.is_modern() and VERSION_KEY not in call.params.get("_meta", {}):
            self.refuse(call, -32022, "Unsupported protocol version", {"supported": [MODERN_VERSION]})
        else:
            self.answer(call, str(method))

    def is_modern(self) -> bool:
        return bool(self.options.get("era") == "modern")

    def answer(self, call: Call, method: str) -> None:
        if method == "initialize" and not self.is_modern():
            self.initialize(call)
        elif method == "server/discover" and self.is_modern():
            self.reply(call, self.discovery())
        elif method == "tools/list" and not self.options.get("no_tools"):
            self.reply(call, self.page(call.params.get("cursor")))
        elif method == "tools/call":
            self.play(call, self.does.get(str(call.params.get("name")), {"do": "echo"}))
        elif method == "subscriptions/listen" and self.is_modern():
            self.listening = call.id
            self.notify("notifications/subscriptions/acknowledged", {"notifications": call.params.get("notifications")})
        elif method == "ping":
            self.reply(call, {})
        else:
            self.refuse(call, -32601, "Method not found")

    def initialize(self, call: Call) -> None:
        version = self.options.get("protocol_version", call.params.get("protocolVersion"))
        about = {"name": self.options.get("name", "scripted"), "version": "1.0"}
        result = {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": about}
        self.reply(call, {**result, **self.instructions()})
        for line in self.options.get("junk_after", []):
            write_line(line.encode())

    def discovery(self) -> dict[str, Any]:
        about = {"name": self.options.get("name", "scripted"), "version": "1.0"}
        return {
            "supportedVersions": self.options.get("supported_versions", [MODERN_VERSION]),
            "capabilities": {"tools": {"listChanged": True}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": about},
            **self.instructions(),
        }

    def instructions(self) -> dict[str, Any]:
        return {"instructions": self.options["instructions"]} if "instructions" in self.options else {}

    def page(self, cursor: str | None) -> dict[str, Any]:
        if self.options.get("endless_pages"):
            number = int(cursor or 0)
            return {"tools": [tool_definition(f"endless_{number}")], "nextCursor": str(number + 1)}
        if self.options.get("repeating_cursor"):
            return {"tools": self.tools, "nextCursor": "again"}
        size, start = self.options.get("page_size", len(self.tools) or 1), int(cursor or 0)
        page: dict[str, Any] = {"tools": self.tools[start : start + size]}
        if start + size < len(self.tools):
            page["nextCursor"] = str(start + size)
        return page

    def play(self, call: Call, script: dict[str, Any] | list[dict[str, Any]]) -> None:
        """Does the steps of a script, one after the other."""
        steps = script if isinstance(script, list) else [script]
        if any(step["do"] in SLOW_STEPS for step in steps):
            import threading

            threading.Thread(target=self._play, args=(call, steps), daemon=True).start()
        else:
            self._play(call, steps)

    def _play(self, call: Call, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            name = step["do"]
            if name in RESULTS:
                self.reply(call, RESULTS[name](call, step))
            elif name in LINES:
                write_line(LINES[name](call, step))
            else:
                DEEDS[name](self, call, step)

    def change_tools(self, step: dict[str, Any]) -> None:
        """To those of the step; with `adds`, to these and one more of a new name each time."""
        self.does = step.get("does", self.does)
        if "adds" in step:
            self.tools = [*self.tools, tool_definition(f"{step['adds']}_{len(self.tools)}")]
        else:
            self.tools = _tools(step.get("tools", []), self.does)

    def list_changed(self, times: int) -> None:
        meta = {"_meta": {SUBSCRIPTION_KEY: self.listening}} if self.listening is not None else None
        for _ in range(times):
            self.notify("notifications/tools/list_changed", meta)

    def reply(self, call: Call, result: object) -> None:
        if call.id in self.cancelled:
            return
        if self.is_modern() and isinstance(result, dict):
            result = {"resultType": "complete", **result}
        write_line(_dump({"jsonrpc": "2.0", "id": call.id, "result": result}))

    def refuse(self, call: Call, code: int, message: str, data: object = None) -> None:
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        write_line(_dump({"jsonrpc": "2.0", "id": call.id, "error": error}))

    def notify(self, method: str, params: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        write_line(_dump(message if params is None else {**message, "params": params}))


def tool_definition(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}


def _wanted_tools(options: dict[str, Any]) -> int | list[dict[str, Any]]:
    if "tools_file" in options:
        with open(options["tools_file"], encoding="utf-8") as file:
            wanted: list[dict[str, Any]] = json.load(file)
            return wanted
    tools: int | list[dict[str, Any]] = options.get("tools", [])
    return tools


def _tools(wanted: int | list[dict[str, Any]], does: dict[str, Any]) -> list[dict[str, Any]]:
    tools = [_realistic_tool(number) for number in range(wanted)] if isinstance(wanted, int) else wanted
    listed = {tool.get("name") for tool in tools}
    return [*tools, *(tool_definition(name) for name in does if name not in listed)]


def _realistic_tool(number: int) -> dict[str, Any]:
    verb = ("create", "read", "update", "delete", "list")[number % 5]
    return {
        "name": f"{verb}_record_{number}",
        "description": f"{verb.capitalize()} record {number} of the ledger, by its key, and tell what became of it.",
        "inputSchema": {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "The record's key."}, "text": {"type": "string"}},
        },
    }


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


# What a step may be: a result to answer with, a line to write, or something to do.


def _environment(_call: Call, _step: dict[str, Any]) -> dict[str, Any]:
    return {"content": [], "structuredContent": {"env": dict(os.environ), "cwd": os.getcwd()}}


def _binary(_call: Call, step: dict[str, Any]) -> dict[str, Any]:
    from base64 import b64encode

    data = b64encode(b"\x89" * step.get("bytes", 32)).decode()
    return {"content": [{"type": "image", "mimeType": "image/png", "data": data}]}


def _structured(call: Call, step: dict[str, Any]) -> dict[str, Any]:
    content = step.get("structured", call.arguments)
    return {**_text(json.dumps(content)), "structuredContent": content}


RESULTS: Final[dict[str, Callable[[Call, dict[str, Any]], Any]]] = {
    "echo": lambda call, _step: _text(call.arguments.get("text") or json.dumps(call.arguments)),
    "raw": lambda call, _step: _text(json.dumps(call.params)),
    "text": lambda _call, step: _text(step.get("text", "x" * step.get("bytes", 0))),
    "error": lambda _call, step: {**_text(step.get("text", "it failed")), "isError": True},
    "result": lambda _call, step: step["result"],
    "structured": _structured,
    "binary": _binary,
    "environment": _environment,
}


def _around(call: Call, value: bytes) -> bytes:
    """An answer to this call with `value` inside, whatever that is."""
    line = b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"x":%s}}}'
    return line % (json.dumps(call.id).encode(), value)


def _line(call: Call, step: dict[str, Any]) -> bytes:
    """The step's own line, or the caller's; `{id}` becomes the request's id. Latin-1, so that any byte can be written."""
    return str(step.get("line", call.arguments.get("line"))).replace("{id}", json.dumps(call.id)).encode("latin-1")


LINES: Final[dict[str, Callable[[Call, dict[str, Any]], bytes]]] = {
    "write": _line,
    "utf8": lambda call, _step: _around(call, b'"\xff\xfe"'),
    "nan": lambda call, _step: _around(call, b"NaN"),
    "deep": lambda call, step: _around(call, b"[" * step.get("depth", 100_000) + b"]" * step.get("depth", 100_000)),
    "giant": lambda call, step: _around(call, b'"%s"' % (b"x" * step.get("bytes", 8 << 20))),
}


def _refuse(server: Server, call: Call, step: dict[str, Any]) -> None:
    server.refuse(call, step.get("code", -32000), step.get("message", "refused"), step.get("data"))


def _never(_server: Server, _call: Call, _step: dict[str, Any]) -> None:
    return


def _tell_cancelled(server: Server, call: Call, _step: dict[str, Any]) -> None:
    """How many requests it was told to give up."""
    server.reply(call, _text(str(len(server.cancelled))))


def _crash(_server: Server, _call: Call, step: dict[str, Any]) -> None:
    _complain(step.get("stderr", ""))
    os._exit(step.get("code", 3))


def _hold(server: Server, call: Call, _step: dict[str, Any]) -> None:
    server.held.append((call, _text(call.arguments.get("text", ""))))


def _release(server: Server, call: Call, _step: dict[str, Any]) -> None:
    """Answers what is held, the newest first, and then its own call."""
    while server.held:
        server.reply(*server.held.pop())
    server.reply(call, _text("released"))


def _sleep(_server: Server, _call: Call, step: dict[str, Any]) -> None:
    sleep(step["seconds"])


def _gate(_server: Server, _call: Call, step: dict[str, Any]) -> None:
    """Waits until a file exists."""
    while not os.path.exists(step["path"]):
        sleep(0.005)


def _progress(server: Server, call: Call, step: dict[str, Any]) -> None:
    token = call.params.get("_meta", {}).get("progressToken")
    for number in range(1, step.get("steps", 3) + 1):
        params = {"progressToken": token, "progress": number, "total": step.get("steps", 3)}
        server.notify("notifications/progress", {**params, "message": f"{step.get('text', 'step')} {number}"})
        sleep(step.get("every", 0.0))


def _notify(server: Server, _call: Call, step: dict[str, Any]) -> None:
    for _ in range(step.get("times", 1)):
        server.notify(step["method"], step.get("params"))


def _request(_server: Server, _call: Call, step: dict[str, Any]) -> None:
    """Asks the client for something, as servers of the handshake era may."""
    message = {"jsonrpc": "2.0", "id": step.get("id", "ours"), "method": step["method"]}
    write_line(_dump({**message, "params": step.get("params", {})}))


def _change(server: Server, _call: Call, step: dict[str, Any]) -> None:
    server.change_tools(step)
    server.list_changed(step.get("times", 1))


def _duplicate(server: Server, call: Call, _step: dict[str, Any]) -> None:
    """An answer under a string id, one under an unknown id, and then the right one twice."""
    server.reply(Call(str(call.id), {}), _text("wrong"))
    server.reply(Call(987654, {}), _text("wrong"))
    server.reply(call, _text("right"))
    server.reply(call, _text("late"))


def _endless(_server: Server, _call: Call, _step: dict[str, Any]) -> None:
    while True:
        _write(b"x" * 65536)


def _half(_server: Server, call: Call, _step: dict[str, Any]) -> None:
    _write(_around(call, b"1")[:30])


def _flood(_server: Server, _call: Call, step: dict[str, Any]) -> None:
    _complain("y" * step.get("bytes", 1 << 20) + step.get("end", ""))


def _stop(_server: Server, _call: Call, _step: dict[str, Any]) -> None:
    """Reads nothing any more, and does not end."""
    sleep(FOR_EVER)


def _close_output(_server: Server, _call: Call, _step: dict[str, Any]) -> None:
    os.close(1)


DEEDS: Final[dict[str, Callable[[Server, Call, dict[str, Any]], None]]] = {
    "refuse": _refuse,
    "never": _never,
    "tell_cancelled": _tell_cancelled,
    "crash": _crash,
    "hold": _hold,
    "release": _release,
    "sleep": _sleep,
    "gate": _gate,
    "progress": _progress,
    "notify": _notify,
    "request": _request,
    "change": _change,
    "duplicate": _duplicate,
    "endless": _endless,
    "half": _half,
    "flood": _flood,
    "stop": _stop,
    "close_output": _close_output,
}


def _dump(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def write_line(line: bytes) -> None:
    _write(line + b"\n")


def _write(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _complain(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _append(path: str, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, line)
    os.close(descriptor)


def _begin(options: dict[str, Any]) -> None:
    """Everything that happens before the first message is read."""
    if options.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "starts" in options:
        _append(options["starts"], b"%d\n" % os.getpid())
    _complain(options.get("stderr", ""))
    _end_early(options)
    for child in options.get("children", []):
        _start_child(child, options)
    for line in options.get("junk_before", []):
        write_line(line.encode())
    sleep(FOR_EVER if options.get("hang") else options.get("start_delay", 0.0))


def _end_early(options: dict[str, Any]) -> None:
    if "exit" in options:
        os._exit(options["exit"])
    if os.path.exists(options.get("exit_while", "")):
        os._exit(7)


def _start_child(kind: str, options: dict[str, Any]) -> None:
    """A grandchild of the gateway, that carries the same marker. It holds all three pipes unless told otherwise."""
    argv = [sys.executable, "-I", "-S", "-c", STUBBORN_CHILD, str(options.get("marker", ""))]
    closed = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)] if kind == "detached" else []
    os.posix_spawn(sys.executable, argv, dict(os.environ), file_actions=closed, setsid=kind == "escaped")


def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1])
    _begin(options)
    try:
        Server(options).run()
    except BrokenPipeError:
        os._exit(0)
    while options.get("ignore_eof"):
        sleep(FOR_EVER)


if __name__ == "__main__":
    main()
