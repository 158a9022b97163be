"""What an upstream answered, kept within the size a host can take. Nothing is lost: what is cut stays here to be read on.

Text is cut at a character boundary and says so. Structured content and binary blocks are replaced whole by a reference.
"""

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from server.errors import GatewayError
from upstream_clients import JsonObject

READ_RESULT_ID: Final = "toolfold:core:read_result"

KEEP_SECONDS: Final = 600.0
"""Ten minutes: longer than a model takes to read on, short enough that results do not pile up."""

KEEP_BYTES: Final = 64 * 1024 * 1024
"""In all. The oldest go first; sixteen of the longest lines an upstream may send."""


REFERENCE_BYTES: Final = 256
"""What a marker or a reference takes. Where less is left, all further blocks share one: many small ones must not grow."""


_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _Kept:
    content: bytes
    until: float


class ResultStore:
    """Long results of the last minutes, in memory, under references that can't be guessed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<ResultStore of {len(self._kept)} results, {self._bytes} bytes>"

    def keep(self, content: bytes) -> str:
        reference = secrets.token_urlsafe(12)
        self._kept[reference] = _Kept(content, self._clock() + KEEP_SECONDS)
        self._bytes += len(content)
        self._drop_old()
        return reference

    def read(self, reference: str, offset: int, limit: int) -> JsonObject:
        """A tool result with the text from `offset` (in bytes) on, at most `limit` bytes of it.

        Raises:
            GatewayError: the reference is unknown or has expired, or the offset lies outside.
        """
        self._drop_old()
        kept = self._kept.get(reference)
        if kept is None:
            raise GatewayError(
                "unknown_result",
                "There is no kept result of that reference.",
                "Results are kept for 10 minutes: call the tool again.",
            )
        if not 0 <= offset <= len(kept.content):
            raise GatewayError("invalid_arguments", f"offset must be from 0 to {len(kept.content)}.")
        text, end = _cut(kept.content, offset, limit)
        meta: JsonObject = {"toolfold/totalBytes": len(kept.content)}
        if end < len(kept.content):
            text += _marker(reference, end, len(kept.content))
            meta["toolfold/nextOffset"] = end
        return {"content": [{"type": "text", "text": text}], "_meta": meta}

    def _drop_old(self) -> None:
        now = self._clock()
        while self._kept:
            reference, oldest = next(iter(self._kept.items()))
            if oldest.until > now and self._bytes <= KEEP_BYTES:
                return
            del self._kept[reference]
            self._bytes -= len(oldest.content)


def bound(result: JsonObject, limit: int, store: ResultStore) -> JsonObject:
    """The result unchanged if it is small; else one whose texts and other parts each stay within `limit` bytes in all."""
    size = len(_COMPACT.encode(result))  # ASCII: at least as long as the UTF-8 that is counted below
    if size <= limit:
        return result
    bounded = dict(result)
    content = result.get("content")
    if isinstance(content, list):
        bounded["content"] = _bound_blocks(content, limit, store)
    structured = result.get("structuredContent")
    if structured is not None and len(_encode(structured)) > limit:
        bounded["structuredContent"] = _reference(_encode(structured), store)
    return bounded


def _bound_blocks(blocks: list[object], limit: int, store: ResultStore) -> list[object]:
    bounded: list[object] = []
    for position, block in enumerate(blocks):
        fits = len(_encode(block)) <= limit
        if not fits and limit < REFERENCE_BYTES and position < len(blocks) - 1:
            return [*bounded, _replaced(blocks[position:], store)]
        kept = block if fits else _bound_block(block, limit, store)
        bounded.append(kept)
        limit = max(0, limit - len(_encode(kept)))
    return bounded


def _bound_block(block: object, limit: int, store: ResultStore) -> object:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    if isinstance(block, dict) and isinstance(text, str):
        content = text.encode("utf-8", "surrogatepass")
        shown, end = _cut(content, 0, limit)
        if end == len(content):
            return block
        return {**block, "text": shown + _marker(store.keep(content), end, len(content))}
    return _replaced(block, store)


def _replaced(part: object, store: ResultStore) -> JsonObject:
    return {"type": "text", "text": json.dumps(_reference(_encode(part), store))}


def _reference(content: bytes, store: ResultStore) -> JsonObject:
    return {
        "toolfold/replaced": f"{len(content)} bytes of JSON are kept for 10 minutes",
        "read_with": {"id": READ_RESULT_ID, "args": {"ref": store.keep(content), "offset": 0}},
    }


def _marker(reference: str, offset: int, total: int) -> str:
    read_on = json.dumps({"id": READ_RESULT_ID, "args": {"ref": reference, "offset": offset}})
    return f"\n[toolfold: cut at byte {offset} of {total}. Read on within 10 minutes: tool_call {read_on}]"


def _cut(content: bytes, start: int, limit: int) -> tuple[str, int]:
    """The text from `start`, at most `limit` bytes, and where it ends. Never splits a character."""
    end = min(len(content), start + limit)
    while end < len(content) and content[end] & 0xC0 == 0x80:
        end -= 1
    while start < end and content[start] & 0xC0 == 0x80:
        start += 1
    return content[start:end].decode("utf-8", "surrogatepass"), end


def _encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
