"""A model for a Gateway under test: an OpenAI-compatible provider on loopback, that says what it is asked to say.

What stands between « and » in the newest message of a user is its answer, word for word. Told how to end a conversation
between two agents, it ends it. It knows nothing else, and remembers nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar, Final

MODEL: Final = "parrot-1"
NOTHING: Final = "I was asked to say nothing."

WANTED: Final = re.compile("«(.*?)»", re.DOTALL)
GATEWAYS_OWN: Final = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
"""Begins a message that no user wrote, and that may quote what users wrote before."""

ENDS: Final = re.compile('reply exactly "([A-Z]+_SKIP)"')
"""In the system's message of a turn that answers another agent: the word that ends this."""

USAGE: Final = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@contextmanager
def provider() -> Iterator[str]:
    """Its base address, for as long as the context lasts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def answer(messages: list[Mapping[str, object]]) -> str:
    """What is said next in this conversation."""
    system, *_ = [_text(message) for message in messages if message.get("role") == "system"] or [""]
    if ends := ENDS.findall(system):
        return str(ends[-1])
    said = [_text(message) for message in messages if message.get("role") == "user"]
    *_, newest = ["", *(text for text in said if not text.startswith(GATEWAYS_OWN))]
    return str(found[-1]) if (found := WANTED.findall(newest)) else NOTHING


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float] = 60.0

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        chunk = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        delta = {"role": "assistant", "content": answer(asked["messages"])}
        choices: list[list[object]] = [
            [{"index": 0, "delta": delta, "finish_reason": None}],
            [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            [],
        ]
        events = [f"data: {json.dumps({**chunk, 'choices': each, 'usage': USAGE})}\n\n" for each in choices]
        content = "".join([*events, "data: [DONE]\n\n"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""
