"""A synthetic upstream: replays one listing from a file, and echoes. Run as `python -I -S synthetic.py LISTING [MOOD]`.

LISTING holds `{"initialize": …, "tools": […]}`. MOOD is a file that may hold "hang" or "crash": the same entry then hangs
for ever or ends at once. Standard library only, so that it starts in 20 ms and fifty of them fit a benchmark.
"""

import json
import os
import sys
from time import sleep
from typing import Any, Final

FOR_EVER: Final = 3600.0
CRASH_CODE: Final = 3


def main() -> None:
    if len(sys.argv) > 2:
        _give_way_to(sys.argv[2])
    with open(sys.argv[1], "rb") as file:
        listing = json.load(file)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer = _answer(message, listing)
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode() + b"\n")
            sys.stdout.buffer.flush()


def _give_way_to(mood_file: str) -> None:
    if os.path.exists(mood_file):
        with open(mood_file, encoding="utf-8") as file:
            mood = file.read()
        if mood == "crash":
            os._exit(CRASH_CODE)
        if mood == "hang":
            sleep(FOR_EVER)


def _answer(message: dict[str, Any], listing: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        about = listing.get("initialize", {})
        mine = {
            "capabilities": {"tools": {}},
            "serverInfo": about.get("serverInfo", {"name": "synthetic", "version": "1"}),
        }
        told = {"instructions": about["instructions"]} if "instructions" in about else {}
        return {"result": {"protocolVersion": params["protocolVersion"], **mine, **told}}
    if method == "tools/list":
        return {"result": {"tools": listing["tools"]}}
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        return {"result": {"content": [{"type": "text", "text": arguments.get("text") or json.dumps(arguments)}]}}
    return {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
