"""Whether files have changed since they were looked at: by their times, and then by their content.

A stamp holds hashes, never content. Both functions block and belong in a worker thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TypeAlias

_Outside: TypeAlias = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stamp:
    """One file at one moment: what can be told without reading it, and the hash. Nothing at all of a missing one."""

    outside: _Outside | None = None
    digest: bytes = b""

    def is_same_as(self, other: "Stamp") -> bool:
        """Whether reading the file now can come to nothing else. A file that was merely touched is the same."""
        return self.digest == other.digest and _mode(self) == _mode(other)


def stamps(paths: Sequence[Path], known: Sequence[Stamp] = ()) -> tuple[Stamp, ...]:
    """The files as they are now. One that looks as it did in `known` is not read again."""
    before = dict(zip(paths, known, strict=False))
    return tuple(_stamp(path, before.get(path, Stamp())) for path in paths)


def _stamp(path: Path, known: Stamp) -> Stamp:
    try:
        status = path.stat()
        outside = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
        if outside == known.outside:
            return known
        with path.open("rb") as file:
            return Stamp(outside, file_digest(file, "sha256").digest())
    except OSError:
        return Stamp()


def _mode(stamp: Stamp) -> int | None:
    """Who may write to the file decides whether it is used."""
    return stamp.outside[-1] if stamp.outside else None
