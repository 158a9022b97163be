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
from collections.abc import Callable

SWEEPS = 20
"""A process may start another while it is being looked for; each sweep ends all that the one before could not see."""


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
    for _ in range(SWEEPS):
        if not _sweep(os.fsencode(sys.argv[1])):
            break


def _sweep(mark: bytes) -> bool:
    """Kills the marked processes. False if there was none."""
    found = [pid for pid in _pids() if _is_marked(pid, mark)]
    for pid in found:
        _kill(os.kill, pid)
    return bool(found)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no Linux
        return []


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as environment:
            return mark in environment.read().split(b"\0") and not _is_watchdog(pid)
    except OSError:  # another user's, or gone
        return False


def _is_watchdog(pid: int) -> bool:
    """An upstream that is a gateway itself has one, which must live to end what that gateway leaves."""
    with open(f"/proc/{pid}/cmdline", "rb") as command:
        return os.path.basename(__file__).encode() in command.read()


def _kill(send: Callable[[int, int], None], number: int) -> None:
    try:
        send(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    main()
