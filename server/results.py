"""What an upstream answered, kept within the size a host can take.

Laws
1. A bounded result is at most `limit` bytes of content, `limit` of structured content, and a few kilobytes of all else
   and of references, whatever the upstream put where. Bytes are those of the JSON in UTF-8.
2. Nothing is lost. What is not shown is kept: reading its reference from offset 0 until there is no next offset gives
   exactly the text of a text block, and the JSON of all else.
3. Only the text of a text block is ever cut, between two characters, and says so. Structured content, binary blocks and
   fields of any name are whole, or replaced whole by a reference.
4. Nothing is replaced by something longer than itself, and what is too small to be replaced alone is replaced together.
5. What is kept is kept for whoever made the call: to anybody else its reference is one that never was.
"""

import json
import secrets
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from server.config import Mode
from server.errors import GatewayError
from server.ways import reading_on, reading_whole
from upstream_clients import JsonObject

READ_RESULT_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"ref": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
    "required": ["ref"],
    "additionalProperties": False,
}

KEEP_SECONDS: Final = 600.0
"""Ten minutes: longer than a model takes to read on, short enough that results do not pile up."""

KEEP_BYTES: Final = 64 * 1024 * 1024
"""In all. The oldest go first; sixteen of the longest lines an upstream may send. The latest stays even if it is longer."""

REFERENCE_BYTES: Final = 256
"""What a marker or a reference takes at the most. Where less is left, all that follows shares one."""

FIELDS_BYTES: Final = 4 * 1024
"""For the entries of `_meta`, and again for the fields that no protocol knows. Real ones take some hundred bytes."""

REST: Final = "toolfold/rest"
"""The field that refers to the fields which found no room."""

LEADING: Final = ("isError", "resultType")
"""Without these fields a result means something else: no number of others may crowd them out."""

Holder: TypeAlias = tuple[str, tuple[str, ...], str]
"""Whose a kept result is: the session or token that it came by, the profiles in force, and behind a gateway whom that one
names."""

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


class Reader(NamedTuple):
    """Who is told how to read on, and may."""

    holder: Holder
    mode: Callable[[], Mode]
    """That of what is published to them; asked for only when something is kept or cut."""


@dataclass(frozen=True, slots=True)
class _Kept:
    content: bytes
    until: float
    holder: Holder


class ResultStore:
    """Long results of the last minutes, in memory, under references that can't be guessed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<ResultStore of {len(self._kept)} results, {self._bytes} bytes>"

    def keep(self, content: bytes, holder: Holder) -> str:
        reference = secrets.token_urlsafe(12)
        self._kept[reference] = _Kept(content, self._clock() + KEEP_SECONDS, holder)
        self._bytes += len(content)
        self._drop_old()
        return reference

    def read(self, reference: str, offset: int, limit: int, reader: Reader) -> JsonObject:
        """A tool result with the text from `offset` (in bytes) on, as much of it as takes `limit` bytes of JSON.

        Raises:
            GatewayError: the reference is unknown, has expired or is another's, or the offset lies outside.
        """
        self._drop_old()
        kept = self._kept.get(reference)
        if kept is None or kept.holder != reader.holder:
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
            text += _marker(reference, end, len(kept.content), reader.mode())
            meta["toolfold/nextOffset"] = end
        return {"content": [{"type": "text", "text": text}], "_meta": meta}

    def _drop_old(self) -> None:
        now = self._clock()
        while self._kept:
            reference, oldest = next(iter(self._kept.items()))
            if oldest.until > now and (self._bytes <= KEEP_BYTES or len(self._kept) == 1):
                return
            del self._kept[reference]
            self._bytes -= len(oldest.content)


@dataclass(frozen=True, slots=True)
class _Keeping:
    """Where the parts of one result are kept, for whom, and the mode in which they will read on."""

    store: ResultStore
    holder: Holder
    mode: Mode

    def marker(self, content: bytes, end: int) -> str:
        return _marker(self.store.keep(content, self.holder), end, len(content), self.mode)

    def reference(self, content: bytes) -> JsonObject:
        return {
            "toolfold/replaced": f"{len(content)} bytes of JSON are kept for 10 minutes",
            "read_with": reading_whole(self.mode, self.store.keep(content, self.holder)),
        }


def bound(result: JsonObject, limit: int, store: ResultStore, reader: Reader) -> JsonObject:
    """The result unchanged if it is small; else one whose parts each stay within their bound."""
    if len(_COMPACT.encode(result)) <= limit:  # ASCII: at least as long as the UTF-8 that is counted below
        return result
    keeping = _Keeping(store, reader.holder, reader.mode())
    fields = dict(result)
    parts: JsonObject = {}
    if "content" in fields:
        parts["content"] = _bound_content(fields.pop("content"), limit, keeping)
    if "structuredContent" in fields:
        parts["structuredContent"] = _bound_value(fields.pop("structuredContent"), limit, keeping)
    if isinstance(meta := fields.get("_meta"), dict):
        del fields["_meta"]
        parts["_meta"] = _bound_fields(meta, keeping)
    leading: JsonObject = {name: fields.pop(name) for name in LEADING if name in fields}
    return {**parts, **_bound_fields({**leading, **fields}, keeping)}


def _bound_content(content: object, room: int, keeping: _Keeping) -> object:
    if not isinstance(content, list):
        return content if len(_encode(content)) <= room else [_replaced(content, keeping)]
    bounded: list[object] = []
    for position, block in enumerate(content):
        size, is_last = _size(block), position == len(content) - 1
        if size > room and room < REFERENCE_BYTES and not is_last:
            return [*bounded, *_bound_rest(content[position:], keeping)]
        bounded.append(block if size <= room else _bound_block(block, room, keeping))
        room = max(0, room - _size(bounded[-1]))
    return bounded


def _bound_rest(blocks: list[object], keeping: _Keeping) -> list[object]:
    return blocks if len(_encode(blocks)) <= REFERENCE_BYTES else [_replaced(blocks, keeping)]


def _bound_block(block: object, room: int, keeping: _Keeping) -> object:
    if _size(block) <= room + REFERENCE_BYTES:  # a marker or a reference would take as much
        return block
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    if isinstance(block, dict) and isinstance(text, str):
        frame = _size({**block, "text": ""})
        if frame <= max(room, REFERENCE_BYTES):
            content = text.encode("utf-8", "surrogatepass")
            shown, end = _cut(content, 0, max(0, room - frame))
            return {**block, "text": shown + keeping.marker(content, end)}
    return _replaced(block, keeping)


def _bound_value(value: object, room: int, keeping: _Keeping) -> object:
    content = _encode(value)
    return value if len(content) <= room else keeping.reference(content)


def _bound_fields(fields: Mapping[str, object], keeping: _Keeping) -> JsonObject:
    """The entries within FIELDS_BYTES in all: whole, else replaced under their name, else together with others."""
    bounded: JsonObject = {}
    rest: JsonObject = {}
    room = FIELDS_BYTES
    for name, value in fields.items():
        size, replaced_size = _size({name: value}), _size(name) + REFERENCE_BYTES
        if size <= room and name != REST:
            bounded[name] = value
            room -= size
        elif replaced_size <= room and name != REST:
            bounded[name] = keeping.reference(_encode(value))
            room -= replaced_size
        else:
            rest[name] = value
    if len(_encode(rest)) <= REFERENCE_BYTES:
        return {**bounded, **rest}
    return {**bounded, REST: keeping.reference(_encode(rest))}


def _replaced(part: object, keeping: _Keeping) -> JsonObject:
    return {"type": "text", "text": json.dumps(keeping.reference(_encode(part)))}


def _marker(reference: str, offset: int, total: int, mode: Mode) -> str:
    read_on = reading_on(mode, reference, offset)
    return f"\n[toolfold: cut at byte {offset} of {total}. Read on within 10 minutes: {read_on}]"


def _cut(content: bytes, start: int, room: int) -> tuple[str, int]:
    """The text from `start` that takes at most `room` bytes of JSON, and where it ends. Never splits a character."""
    while start < len(content) and _is_inside_character(content[start]):
        start += 1

    def text(length: int) -> tuple[str, int]:
        end = min(len(content), start + length)
        while end < len(content) and _is_inside_character(content[end]):
            end -= 1
        return content[start:end].decode("utf-8", "surrogatepass"), end

    def escaped(length: int) -> int:
        return len(_encode(text(length)[0])) - len('""')

    return text(room if escaped(room) <= room else bisect_right(range(room), room, key=escaped) - 1)


def _is_inside_character(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _size(value: object) -> int:
    return len(_encode(value)) + len(",")


def _encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
