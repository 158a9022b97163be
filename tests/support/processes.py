"""Which processes run, by what is written in their command lines (Linux: /proc)."""

import os
import time
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")

GONE_SECONDS: Final = 5.0
"""Over three times what the gateway is allowed, for a busy machine."""

THERE_SECONDS: Final = 60.0


def marked(marker: str) -> dict[int, str]:
    """The running processes whose command line has the marker, apart from this one. Zombies do not run."""
    found: dict[int, str] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            command = _command(folder)
            if marker in command and not _is_zombie(folder):
                found[int(folder.name)] = command
    return found


def descendants(pid: int) -> set[int]:
    """The running children of a process, and theirs. A process whose parent has ended is nobody's descendant."""
    parents = {int(folder.name): _parent(folder) for folder in PROC.iterdir() if folder.name.isdigit()}
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return found


def running(pids: set[int]) -> set[int]:
    return {pid for pid in pids if not _is_zombie(PROC / str(pid))}


def children() -> set[int]:
    """The children of this process, zombies among them."""
    return {int(pid) for thread in (PROC / "self" / "task").iterdir() for pid in _children_of(thread)}


def descriptors() -> dict[int, str]:
    """The open file descriptors of this process, and what they are."""
    found: dict[int, str] = {}
    for link in (PROC / "self" / "fd").iterdir():
        try:
            found[int(link.name)] = str(link.readlink())
        except FileNotFoundError:
            continue  # the one that listed the folder
    return found


def resident_bytes(pid: int) -> int:
    """What a process has in memory, counted exactly."""
    lines = (PROC / str(pid) / "smaps_rollup").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def peak_bytes(pid: int) -> int:
    """The most that a process has had in memory so far."""
    lines = (PROC / str(pid) / "status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def all_gone(marker: str) -> dict[int, str]:
    """What is left of the marked processes after at most GONE_SECONDS: nothing, if all is well."""
    deadline = time.monotonic() + GONE_SECONDS
    while (left := marked(marker)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def all_there(marker: str, count: int) -> dict[int, str]:
    """The marked processes, once there are `count`, or after THERE_SECONDS."""
    deadline = time.monotonic() + THERE_SECONDS
    while len(found := marked(marker)) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _children_of(thread: Path) -> list[str]:
    try:
        return (thread / "children").read_text().split()
    except OSError:  # the thread has ended meanwhile
        return []


def _command(folder: Path) -> str:
    try:
        return (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _is_zombie(folder: Path) -> bool:
    return _stat(folder)[0] in ("Z", "X")


def _parent(folder: Path) -> int:
    return int(_stat(folder)[1])


def _stat(folder: Path) -> list[str]:
    """State, parent and so on of a process; of one that is gone, as if it were dead and nobody's."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", "0"]
