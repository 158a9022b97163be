"""Bytes in, JSON-RPC messages out: one message a line, in linear time and bounded memory.

Knows nothing of processes, sockets or what a message means.

Laws
1. A line longer than the cap is never held: its bytes are discarded as they come, and it is reported once.
2. A byte is copied a constant number of times, however long its line is.
3. What `parse` returns is a JSON object without NaN or infinities, at most MAX_DEPTH deep, that came as valid UTF-8. A
   number that is too large for a float (1e999) is refused, or where its sender is to be helped, becomes the largest one.
"""

import json
import sys
from math import copysign, isinf
from typing import Final, NoReturn, TypeAlias, TypeVar, cast

JsonObject: TypeAlias = dict[str, object]
T = TypeVar("T")

MAX_DEPTH: Final = 200
"""Deeper than any sane result, and below the depth (about 255) at which pydantic and JSON encoders give up."""

NEWLINE: Final = b"\n"


class NotAMessage(ValueError):
    """The line is not an acceptable JSON object. The text of the error never quotes the line."""


class LineSplitter:
    """Cuts a byte stream into lines. `feed` returns whole lines; None stands for one that was too long."""

    __slots__ = ("_discarding", "_held", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()  # grows in place: a line that drips in byte by byte costs no more than its own size
        self._discarding = False

    def __repr__(self) -> str:
        return f"<LineSplitter holding {len(self._held)} bytes of at most {self._limit}>"

    def feed(self, chunk: bytes) -> list[bytes | None]:
        if NEWLINE not in chunk:
            return [None] if self._overflows(chunk) else []
        first, *others = chunk.split(NEWLINE)
        rest = others.pop()
        lines: list[bytes | None] = [*self._finish(first)]
        lines += [line if len(line) <= self._limit else None for line in others]
        if self._overflows(rest):
            lines.append(None)
        return [line for line in lines if line is None or line.strip()]

    def _finish(self, end: bytes) -> list[bytes | None]:
        """The line that `end` ends; nothing if it was reported already."""
        if self._discarding:
            self._discarding = False
            return []
        if not self._held:
            return [end if len(end) <= self._limit else None]
        if self._overflows(end):
            self._discarding = False
            return [None]
        line, self._held = bytes(self._held), bytearray()
        return [line]

    def _overflows(self, part: bytes) -> bool:
        """Holds a part of a line. True once for each line that goes over the cap; from then on its bytes are dropped."""
        if self._discarding:
            return False
        if len(self._held) + len(part) <= self._limit:
            self._held += part
            return False
        self._held, self._discarding = bytearray(), True
        return True


def looks_like_message(line: bytes) -> bool:
    """False for banners and log lines that a server prints by mistake, which are skipped rather than parsed."""
    return line.lstrip()[:1] == b"{"


def parse(line: bytes, *, clamps: bool = False) -> JsonObject:
    """One line as a JSON object. `clamps`: a number that is too large becomes the largest that there is.

    Raises:
        NotAMessage: invalid UTF-8, not JSON, NaN or infinity, not an object, or nested deeper than MAX_DEPTH.
    """
    try:
        message = (_CLAMPING if clamps else _STRICT).decode(line.decode("utf-8"))
    except NotAMessage:
        raise
    except UnicodeDecodeError:
        raise NotAMessage("invalid UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotAMessage(f"invalid JSON at character {error.pos}") from None
    except ValueError:  # Python refuses integers of over 4,300 digits
        raise NotAMessage("a number too long to read") from None
    except RecursionError:
        raise NotAMessage(f"nested deeper than {MAX_DEPTH}") from None
    if not isinstance(message, dict):
        raise NotAMessage("not a JSON object")
    # Brackets inside strings only make this estimate larger, so that a document that passes needs no walk.
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH and _is_deeper_than(message, MAX_DEPTH):
        raise NotAMessage(f"nested deeper than {MAX_DEPTH}")
    return message


def check(message: JsonObject) -> None:
    """Raises NotAMessage for what somebody else has parsed and `parse` would not have accepted."""
    try:
        _COMPACT.encode(message)
    except ValueError:
        raise NotAMessage("NaN or infinity") from None
    except RecursionError:
        raise NotAMessage(f"nested deeper than {MAX_DEPTH}") from None
    if _is_deeper_than(message, MAX_DEPTH):
        raise NotAMessage(f"nested deeper than {MAX_DEPTH}")


def dump(message: JsonObject) -> bytes:
    """A message as one line. Where text has a lone surrogate, which UTF-8 can't say, all of the line is escaped."""
    try:
        return _COMPACT.encode(message).encode("utf-8") + NEWLINE
    except UnicodeEncodeError:
        return _ESCAPED.encode(message).encode("ascii") + NEWLINE


def sayable(value: T) -> T:
    """The same with a mark for each half of a surrogate pair, for writers that cannot escape what UTF-8 can't say."""
    text = _COMPACT.encode(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return cast(T, json.loads(text.encode("utf-8", "replace")))
    return value


def _refuse_constant(_name: str) -> NoReturn:
    raise NotAMessage("NaN or infinity")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise NotAMessage("NaN or infinity")
    return number


def _clamped(text: str) -> float:
    number = float(text)
    return copysign(sys.float_info.max, number) if isinf(number) else number


def _is_deeper_than(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _children(node: object) -> list[object]:
    if isinstance(node, dict):
        return list(node.values())
    assert isinstance(node, list)
    return node


_STRICT: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_CLAMPING: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_clamped)
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_ESCAPED: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
