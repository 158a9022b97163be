"""How a host's person is asked whether a call may be made: by elicitation, in the form of the host's era.

In the handshake era the question goes to the host while its request is open. In the modern one the request is answered
with the question, and comes again with the answer and a word of ours, by which we know that we asked just this.
"""

import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from server.clearance import Question
from upstream_clients import JsonObject

MOST_OPEN: Final = 256
"""Questions that wait for their answer. The oldest is forgotten, and would be asked again."""

OPEN_SECONDS: Final = 300.0

MOST_AT_ONCE: Final = 8
"""Questions before one host's person, who would not read each of more. What is not asked is refused."""

KEY: Final = "toolfold_approval"

SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Run it", "description": "Whether this call may be made."}},
    "required": ["allow"],
}


def is_yes(action: object, content: object) -> bool:
    """Whether an answer to SCHEMA is a plain yes."""
    return action == "accept" and isinstance(content, Mapping) and content.get("allow") is True


class OpenQuestions:
    """Questions of the modern era that were given to a host, each by a word that nobody else knows, for one answer."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._asked: Counter[str] = Counter()  # by session, in the handshake era

    @contextmanager
    def room(self, session: str) -> Iterator[bool]:
        """Whether one more may be put to this session's person now, where it counts until the block ends."""
        self._asked[session] += 1
        try:
            yield self._asked[session] <= MOST_AT_ONCE
        finally:
            self._asked[session] -= 1
            if not self._asked[session]:
                del self._asked[session]

    def put(self, question: Question) -> JsonObject:
        """The result of a request that waits for the answer."""
        word = secrets.token_urlsafe(24)
        self._open[word] = (question.digest, time.monotonic() + OPEN_SECONDS)
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        params: JsonObject = {"mode": "form", "message": question.message, "requestedSchema": SCHEMA}
        asked = {KEY: {"method": "elicitation/create", "params": params}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": word}

    def answer(self, question: Question, params: Mapping[str, object]) -> bool | None:
        """The answer that a request brings along; None where it brings none to this question."""
        word, responses = params.get("requestState"), params.get("inputResponses")
        digest, until = self._open.pop(word, ("", 0.0)) if isinstance(word, str) else ("", 0.0)
        if digest != question.digest or time.monotonic() > until or not isinstance(responses, dict):
            return None
        response = responses.get(KEY)
        return isinstance(response, dict) and is_yes(response.get("action"), response.get("content"))
