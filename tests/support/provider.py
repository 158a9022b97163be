"""A model provider that speaks the OpenAI chat API on loopback, and the small agent loop that an application runs with it.

The provider keeps every request as it came. What it answers is a script: for each turn a function of the last tool's text,
which names the next tool and its arguments, or ends with a text.
"""

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, TypeAlias

import anyio.to_thread

from tests.support.hosts import Host, text_of

JsonObject: TypeAlias = dict[str, object]
Turn: TypeAlias = Callable[[str], tuple[str, JsonObject]]

MOST_TURNS: Final = 10
PATH: Final = "/v1/chat/completions"


@dataclass(slots=True)
class Provider:
    """`requests` are the bodies, byte by byte."""

    port: int
    requests: list[bytes] = field(default_factory=list)

    def published(self) -> list[str]:
        """The names of the tools in the first request."""
        return [tool["function"]["name"] for tool in json.loads(self.requests[0])["tools"]]


@contextmanager
def provider(turns: Sequence[Turn]) -> Iterator[Provider]:
    """Serves this script, and refuses to answer a tool call that was not offered."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            served.requests.append(body)
            answer = json.dumps(_answer(json.loads(body), turns)).encode()
            self.send_response(200 if self.path == PATH else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_words: object) -> None:
            """Nothing on standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Provider(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join(5)


async def run_agent(host: Host, port: int, task: str) -> str:
    """Asks the model until it has no more tools to call, and returns what it says at the end."""
    listed = (await host.ask("tools/list"))["tools"]
    assert isinstance(listed, list)
    tools = [_as_function(tool) for tool in listed]
    messages: list[JsonObject] = [{"role": "user", "content": task}]
    for _ in range(MOST_TURNS):
        request: JsonObject = {"model": "mock", "messages": messages, "tools": tools}
        message = await anyio.to_thread.run_sync(_asked, port, request)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            return str(message["content"])
        for call in calls:
            function = call["function"]
            result = await host.call(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text_of(result)})
    raise AssertionError("the agent did not come to an end")


def _as_function(tool: JsonObject) -> JsonObject:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


def _asked(port: int, request: JsonObject) -> JsonObject:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", PATH, json.dumps(request).encode(), {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    message = answer["choices"][0]["message"]
    assert isinstance(message, dict)
    return message


def _answer(request: JsonObject, turns: Sequence[Turn]) -> JsonObject:
    messages, tools = request["messages"], request["tools"]
    assert isinstance(messages, list)
    assert isinstance(tools, list)
    done = sum(message["role"] == "tool" for message in messages)
    if done == len(turns):
        return {
            "choices": [{"message": {"role": "assistant", "content": messages[-1]["content"]}, "finish_reason": "stop"}]
        }
    name, arguments = turns[done](messages[-1]["content"])
    assert name in [tool["function"]["name"] for tool in tools], f"{name} was not offered"
    call = {"id": f"call_{done}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
