"""Files that only this user may read. Replaced ones are replaced whole: a reader sees the old content or the new, never a
torn one. And what is said where they cannot be written.

Everything here blocks and belongs in a worker thread. On Windows the folders of a user are private without our help.
"""

import logging
import os
import stat
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

PRIVATE_FOLDER_MODE = 0o700

REPLACE_TRIES = 20 if sys.platform == "win32" else 1
REPLACE_PAUSE_SECONDS = 0.01
"""Windows replaces no file that somebody has open. Readers of ours are done in a millisecond, virus scanners in some."""


def make_private_folder(folder: Path) -> None:
    """Creates the folder, and the parents it lacks, for this user alone. Raises OSError."""
    if not folder.parent.exists():  # `mkdir` would make missing parents for everyone
        make_private_folder(folder.parent)
    folder.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Writes beside the file and renames over it. Raises OSError; the old file is then still whole."""
    make_private_folder(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        _rename(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


class Complaint:
    """Says that files of one kind cannot be written: once, and again only after one could be. Disks stay full for long."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._is_made = False

    def make(self, what: str, error: OSError) -> None:
        with self._lock:
            is_first, self._is_made = not self._is_made, True
        if is_first:
            self._logger.warning("%s (%s)", what, error.strerror)

    def withdraw(self) -> None:
        """One was written."""
        self._is_made = False


def _rename(name: str, path: Path) -> None:
    for _ in range(REPLACE_TRIES - 1):
        with suppress(PermissionError):
            os.replace(name, path)
            return
        time.sleep(REPLACE_PAUSE_SECONDS)
    os.replace(name, path)


def append_file(path: Path, content: bytes) -> None:
    """Writes at the end of the file, which is made if it is not there. Raises OSError."""
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(content)


def read_file(path: Path, limit: int) -> bytes | None:
    """The content, or None when there is no such regular file or it is over `limit` bytes. Raises OSError otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a FIFO would block for ever
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    return content if content is not None and len(content) <= limit else None
