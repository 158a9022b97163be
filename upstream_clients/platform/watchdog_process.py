"""The watchdog: a tiny process that outlives a gateway, just long enough to end what it left running.

Runs as a script (`python -I -S watchdog_process.py MARK`), so it imports the standard library only. It reads lines
"+GROUP" and "-GROUP" from standard input. When that pipe closes, whatever the reason, it kills every process group still
listed and then, where there is a /proc, every process that has MARK in its environment: what has left its group, and
what was started in the very moment of a hard kill. It ignores the signals that end the gateway, because those reach
whole sessions.
"""

import os
import signal
import sys
import time
from collections.abc import Callable

assert sys.platform != "win32"  # for the type checker, too: no watchdog is started there

SWEEPS = 20
"""A process may start another while it is being looked for; each sweep ends all that the one before could not see."""

PAUSE_SECONDS = 0.01
"""Between sweeps."""

LOOKS = 5
"""A process that is just becoming another program shows no environment; one that shows none for so long has none."""


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        mark, group = line[:1], int(line[1:])
        if mark == b"+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        _kill(os.killpg, group)
    looks: dict[int, int] = {}
    for _ in range(SWEEPS):
        if not _sweep(os.fsencode(sys.argv[1]), looks):
            break
        time.sleep(PAUSE_SECONDS)


def _sweep(mark: bytes, looks: dict[int, int]) -> bool:
    """Kills the marked processes. False if there was none, nor one that could not be judged yet."""
    worth_another = False
    for pid in _pids():
        try:
            environment = _read(pid, "environ")
            is_left = mark in environment.split(b"\0") and not _is_watchdog(pid)
            is_unclear = not environment and looks.get(pid, 0) < LOOKS and _has_memory(pid)
        except OSError:
            continue  # another user's, or gone
        if is_left:
            _kill(os.kill, pid)
        elif is_unclear:
            looks[pid] = looks.get(pid, 0) + 1
        worth_another |= is_left or is_unclear
    return worth_another


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no Linux
        return []


def _is_watchdog(pid: int) -> bool:
    """An upstream that is a gateway itself has one, which must live to end what that gateway leaves."""
    return os.path.basename(__file__).encode() in _read(pid, "cmdline")


def _has_memory(pid: int) -> bool:
    """False of zombies, and of the kernel's own."""
    return _read(pid, "statm").split()[0] != b"0"


def _read(pid: int, what: str) -> bytes:
    with open(f"/proc/{pid}/{what}", "rb") as file:
        return file.read()


def _kill(send: Callable[[int, int], None], number: int) -> None:
    try:
        send(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    main()
