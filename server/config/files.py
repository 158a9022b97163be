"""Reads one small text file that decides which programs are started: bounded, regular files only, not writable by all.

It looks at the file it has opened, not at the path, so that nothing can be exchanged in between.
It knows nothing of what the text means, and never puts any of it into an error.
"""

import os
import shlex
import stat
from dataclasses import dataclass, field
from pathlib import Path

from server.config.findings import ConfigError

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")  # UTF-16, which some Windows editors write

# Opening a pipe without it would wait for a writer; on a regular file it changes nothing.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class FileText:
    text: str = field(repr=False)
    is_group_writable: bool


def read_text(path: Path, max_bytes: int) -> FileText:
    """The UTF-8 text of `path`.

    Raises: ConfigError, for a file that cannot or must not be used.
    """
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        raise ConfigError("config_missing", f"{path} does not exist.", "Check the path, or create the file.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    try:
        status = os.fstat(descriptor)
        _refuse_unsafe(path, status)
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        message = f"{path} is larger than {max_bytes} bytes, the most that is read."
        raise ConfigError("config_too_large", message, "Check that this is the right file.")
    return FileText(_decoded(path, content), _is_posix() and bool(status.st_mode & stat.S_IWGRP))


def take_write_from(who: str, path: Path) -> str:
    """The command that mends a file which `who` (`o` or `g`) may write to."""
    return f"chmod {who}-w {shlex.quote(str(path))}"


def _refuse_unsafe(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError("config_not_a_file", f"{path} is not a regular file.", "Name a file.")
    if _is_posix() and status.st_mode & stat.S_IWOTH:
        message = f"{path} can be changed by every user of this machine, and it decides which programs are started."
        raise ConfigError("config_writable_by_all", message, f"Run: {take_write_from('o', path)}")


def _is_posix() -> bool:
    return os.name == "posix"  # elsewhere the mode bits say nothing about who may write


def _unreadable(path: Path, error: OSError | ValueError) -> ConfigError:
    reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"
    return ConfigError("config_unreadable", f"{path} cannot be read: {reason}.", "Check its owner and permissions.")


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        what = "UTF-16" if content.startswith(_BYTE_ORDER_MARKS) else "not UTF-8"
        message = f"{path}:{line}:{column}: the text is {what}."
        raise ConfigError("config_not_text", message, "Save the file as UTF-8.") from None
