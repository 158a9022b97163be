"""Every module can be imported where POSIX's own modules and functions do not exist: Windows, as far as this shows.

A process imports the libraries first, as they are here. Then it is told that it is on Windows, what only POSIX has is taken
away, and all of ours is imported. What Windows has instead is not there, so nothing is run.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[1]

ONLY_THERE: Final = (
    "server.code.launcher",
    "upstream_clients.platform.posix",
    "upstream_clients.platform.watchdog_process",
)
"""What `current_platform` imports on POSIX alone, and the scripts that no platform but POSIX starts."""

IMPORTING: Final = """
import importlib, os, pkgutil, select, signal, sys

def everything(left_out):
    for room in ("index", "upstream_clients", "server"):
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, room + "."):
            if module.name not in left_out and not module.name.endswith("__main__"):
                importlib.import_module(module.name)
                yield module.name

ours = len(list(everything([])))
for name in [name for name in sys.modules if name.partition(".")[0] in ("index", "upstream_clients", "server")]:
    del sys.modules[name]

for name in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: "fork forkpty getegid geteuid getgid getpgid getpgrp getppid getuid kill killpg mkfifo pidfd_open set_blocking "
        "setsid chown fchmod fchown openpty sched_getaffinity uname wait4 waitid O_NONBLOCK O_CLOEXEC O_NOFOLLOW",
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 pthread_kill setitimer",
    select: "epoll poll POLLIN POLLHUP POLLRDHUP",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.platform = "win32"
print(ours, len(list(everything(sys.argv[1:]))))
"""


def test_every_module_can_be_imported_without_what_only_posix_has() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", IMPORTING, *ONLY_THERE],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(PROJECT)},
    )
    assert done.stderr == ""
    ours, imported = map(int, done.stdout.split())
    assert (imported, imported > 100) == (ours - len(ONLY_THERE), True)
