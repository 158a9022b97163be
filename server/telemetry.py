"""What happens, as values: one frozen event for each search, describe and call, and one for each list that is published.

Laws
1. An event holds codes, ids of tools, sizes and durations; never a query, an argument, a result or a secret.
2. `observe` is the only emitter. Sinks are plain callables, called on the event loop: they must not block or raise.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

from server.errors import GatewayError
from upstream_clients import JsonObject

Kind: TypeAlias = Literal["search", "describe", "call", "code"]
Via: TypeAlias = Literal["tools", "direct", "code"]
"""Our own tools, a tool by its own name, or the code bridge, whose answers no model reads."""

OK: Final = "ok"
TOOL_ERROR: Final = "tool_error"
GIVEN_UP: Final = "given_up"
"""Outcomes besides the codes of GatewayError: it worked, the tool itself said that it did not, nobody waited for the end."""

MOST_IDS: Final = 32
"""Of one event: as many as one answer to several queries holds."""


class Operation(NamedTuple):
    """One search, describe or call. `ids`: what was found, described or called. `answered_bytes`: of text for the model.

    A tuple, because there is one for each call: a frozen dataclass takes seven function calls more to make.
    """

    kind: Kind
    via: Via
    outcome: str
    ids: tuple[str, ...]
    seconds: float
    answered_bytes: int
    at: float


@dataclass(frozen=True, slots=True)
class Publication:
    """What hosts are shown now. `published_bytes`: instructions included; `direct_bytes`: if all tools were listed."""

    mode: str
    why: str
    published: int
    published_bytes: int
    direct_bytes: int
    catalogue: int
    sources: Mapping[str, int] = field(default_factory=dict)
    at: float = field(default=0.0, compare=False)


Event: TypeAlias = Operation | Publication
Sink: TypeAlias = Callable[[Event], None]


def observe(sinks: Iterable[Sink], event: Event) -> None:
    for sink in sinks:
        sink(event)


class Observation:
    """Follows one operation from its begin to its end, and reports it. A context manager."""

    def __init__(self, sinks: Iterable[Sink], kind: Kind, via: Via) -> None:
        self._sinks = sinks
        self._kind: Kind = kind
        self._via: Via = via
        self._outcome = OK
        self._bytes = 0
        self._began = time.time()  # one clock for both: a call more for each would be felt
        self.ids: tuple[str, ...] = ()
        """What it is about, once that is known."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.failed(error)
        now = time.time()
        ids = self.ids[:MOST_IDS]
        observe(self._sinks, Operation(self._kind, self._via, self._outcome, ids, now - self._began, self._bytes, now))

    def failed(self, error: BaseException) -> None:
        """It came to this error, whose text the model gets."""
        self._outcome = error.code if isinstance(error, GatewayError) else GIVEN_UP
        self._bytes = len(str(error).encode("utf-8", "surrogatepass")) if isinstance(error, GatewayError) else 0

    def answered(self, answer: JsonObject) -> None:
        """What the model gets: a payload of ours."""
        self._bytes = len(
            json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        )

    def returned(self, result: JsonObject) -> None:
        """What the model gets: the result of a tool."""
        content: Any = result.get("content", ())
        try:
            texts = "".join([block["text"] for block in content if "text" in block])
        except TypeError:  # an upstream may send what it likes; it is passed on as it is, and not measured
            texts = ""
        self._bytes = len(texts.encode("utf-8", "surrogatepass"))
        if result.get("isError") is True:
            self._outcome = TOOL_ERROR
