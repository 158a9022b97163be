"""A synthetic upstream whose tools change all the time: `python -I -S changing.py LISTING FILE`.

While FILE exists, it says ten times a second that its tools have changed; each answer to `tools/list` is another edition
of those in LISTING, which every description tells. Standard library only.
"""

import json
import os
import sys
import threading
from time import sleep
from typing import Any, Final

INTERVAL_SECONDS: Final = 0.1
CHANGED: Final = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        tools = json.load(file)["tools"]
    threading.Thread(target=_say_so, args=(sys.argv[2],), daemon=True).start()
    edition = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "tools/list":
            edition += 1
        if "id" in message and "method" in message:
            result = _result(message, tools, edition)
            _write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
    os._exit(0)


def _result(message: dict[str, Any], tools: list[dict[str, Any]], edition: int) -> dict[str, Any]:
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        about = {"serverInfo": {"name": "changing", "version": "1"}, "capabilities": {"tools": {"listChanged": True}}}
        return {"protocolVersion": version, **about}
    if message["method"] == "tools/list":
        return {"tools": [{**tool, "description": f"{tool['description']} Edition {edition}."} for tool in tools]}
    return {}


def _say_so(while_file: str) -> None:
    while True:
        sleep(INTERVAL_SECONDS)
        if os.path.exists(while_file):
            _write(CHANGED)


def _write(line: bytes) -> None:
    """In one call: a line is whole, whichever thread writes it, as long as the pipe takes it."""
    with _lock:
        while line:
            line = line[os.write(1, line) :]


_lock = threading.Lock()

if __name__ == "__main__":
    main()
