"""The other end of a connection, in memory: keeps what was written to it and answers as a test tells it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from upstream_clients import JsonObject

Answer: TypeAlias = Callable[[JsonObject], JsonObject | None]
"""From a request to the answer's own fields (`result` or `error`), or None for silence."""


def result(value: JsonObject) -> Answer:
    return lambda _request: {"result": value}


def error(code: int, message: str = "no") -> Answer:
    return lambda _request: {"error": {"code": code, "message": message}}


def in_turn(*answers: Answer) -> Answer:
    """The first answer to the first request, and so on; silence after the last."""
    rest = list(answers)
    return lambda request: rest.pop(0)(request) if rest else None


def silence(_request: JsonObject) -> None:
    return None


class Wire:
    """Hand `write` to a peer or a session, and set `receive` to its own `receive`."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers = dict(answers or {})
        self.sent: list[JsonObject] = []
        self.receive: Callable[[JsonObject], None] = _nobody_receives

    def write(self, message: JsonObject) -> None:
        message = json.loads(json.dumps(message, allow_nan=False))
        self.sent.append(message)
        fields = self.answers.get(str(message.get("method")), silence)(message)
        if fields is not None:
            answer: JsonObject = {"jsonrpc": "2.0", "id": message["id"], **fields}
            asyncio.get_running_loop().call_soon(lambda: self.receive(answer))

    def methods(self) -> list[object]:
        return [message.get("method") for message in self.sent]


def _nobody_receives(_message: JsonObject) -> None:
    raise NotImplementedError
