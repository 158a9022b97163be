"""Frames: four bytes of length, most significant first, and then that many bytes. Pure.

Law: a frame over the limit is refused by its length alone; none of it is ever held.
"""

import struct
from typing import Final

_LENGTH: Final = struct.Struct(">I")


class FrameTooLong(ValueError):
    """What was announced is over the limit."""


class FrameSplitter:
    """Cuts a byte stream into the bodies of frames."""

    __slots__ = ("_held", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()

    def __repr__(self) -> str:
        return f"<FrameSplitter holding {len(self._held)} bytes of at most {self._limit}>"

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that are whole now. Raises FrameTooLong."""
        held, bodies, at = self._held, [], 0
        held += chunk
        while len(held) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(held, at)
            if length > self._limit:
                raise FrameTooLong
            end = at + _LENGTH.size + length
            if len(held) < end:
                break
            bodies.append(bytes(held[at + _LENGTH.size : end]))
            at = end
        del held[:at]
        return bodies


def frame(body: bytes) -> bytes:
    """The body with its length before it."""
    return _LENGTH.pack(len(body)) + body
