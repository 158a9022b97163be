"""The watchdog: a tiny process that outlives a gateway killed hard, just long enough to end what it left running.

Runs as a script (`python -I -S watchdog_process.py`), so it imports the standard library only. It reads lines "+GROUP"
and "-GROUP" from standard input. When that pipe closes, whatever the reason, it kills every process group still listed.
It ignores the signals that end the gateway, because those reach whole sessions.
"""

import os
import signal
import sys


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
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


if __name__ == "__main__":
    main()
