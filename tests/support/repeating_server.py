"""An MCP server that repeats what it was given to keep wherever it can: the values of its variables that begin with REPEAT_.

Run as `python -I -S repeating_server.py`. Standard library only.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final

SAID: Final = " ".join(value for name, value in sorted(os.environ.items()) if name.startswith("REPEAT_"))
FIRST: Final = SAID.split(" ", maxsplit=1)[0]


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def complain() -> None:
    sys.stderr.write(f"starting with {SAID}\n")
    sys.stderr.flush()


def tool(name: str) -> dict[str, Any]:
    """A definition with a secret in every text, names of properties and unknown keys among them."""
    schema = {
        "type": "object",
        "title": SAID,
        "description": SAID,
        "properties": {
            FIRST: {"type": "string", "description": SAID, "enum": [SAID], "default": SAID, "examples": [SAID]}
        },
    }
    texts = {
        "title": SAID,
        "description": f"Repeats {SAID} as {name} does.",
        "annotations": {"title": SAID, SAID: True},
    }
    return {
        "name": name,
        "inputSchema": schema,
        "outputSchema": schema,
        **texts,
        "x-other": [SAID],
        "_meta": {FIRST: SAID},
    }


def greeting(version: object) -> dict[str, Any]:
    about = {"name": SAID, "title": SAID, "version": SAID}
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}, "experimental": {FIRST: {"x": SAID}}},
        "serverInfo": about,
        "instructions": f"Mind {SAID}.",
        "_meta": {FIRST: SAID},
    }


def fail(number: object, _params: dict[str, Any]) -> None:
    content = [
        {"type": "text", "text": f"failed with {SAID}"},
        {"type": "resource_link", "uri": f"x://{FIRST}", "name": SAID},
    ]
    result = {"content": content, "structuredContent": {FIRST: [SAID]}, "isError": True, "_meta": {FIRST: SAID}}
    write({"id": number, "result": result})


def refuse(number: object, _params: dict[str, Any]) -> None:
    write({"id": number, "error": {"code": -32000, "message": f"refused {SAID}", "data": {FIRST: [SAID]}}})


def crash(_number: object, _params: dict[str, Any]) -> None:
    complain()
    os._exit(3)


def progress(number: object, params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    write({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "message": SAID}})
    write({"method": "notifications/message", "params": {"level": "error", "logger": SAID, "data": SAID}})
    write({"id": SAID, "method": SAID, "params": {FIRST: SAID}})
    write({"id": SAID, "result": {"content": []}})
    write({"id": number, "result": {"content": [{"type": "text", "text": "done"}]}})


def babble(_number: object, _params: dict[str, Any]) -> None:
    complain()
    sys.stdout.write(f'{{"id": {SAID}\n{SAID}\n')
    sys.stdout.flush()
    os._exit(0)


def answer_nothing_of_use(number: object, _params: dict[str, Any]) -> None:
    write({"id": number, "result": SAID})


def succeed(number: object, _params: dict[str, Any]) -> None:
    write({"id": number, "result": {"content": [{"type": "text", "text": SAID}]}})


CALLS: Final[dict[str, Callable[[object, dict[str, Any]], None]]] = {
    "fail": fail,
    "refuse": refuse,
    "crash": crash,
    "progress": progress,
    "babble": babble,
    "odd": answer_nothing_of_use,
    "succeed": succeed,
}


def take(message: dict[str, Any]) -> None:
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if number is None or method is None:
        return
    if method == "initialize":
        write({"id": number, "result": greeting(params.get("protocolVersion"))})
    elif method == "tools/list":
        write(
            {
                "id": number,
                "result": {"tools": [*map(tool, CALLS), {**tool("x"), "name": FIRST}], "_meta": {FIRST: SAID}},
            }
        )
    elif method == "tools/call":
        CALLS.get(str(params.get("name")), fail)(number, params)
    elif method == "ping":
        write({"id": number, "result": {}})
    else:
        write({"id": number, "error": {"code": -32601, "message": SAID}})


def main() -> None:
    complain()
    if "FAILS_TO_START" in os.environ:
        os._exit(4)
    for line in sys.stdin.buffer:
        take(json.loads(line))


if __name__ == "__main__":
    main()
