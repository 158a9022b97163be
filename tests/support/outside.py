"""What an escape would touch, watched from outside: listeners, files, a process, signals, a port.

`touched` looks at all of it. A test that uses it has a control: the same attempt without walls, which does touch it.
Nobody accepts what comes to the listeners: the kernel keeps it until it is looked for, so that nothing comes too late.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

SECRET: Final = "canary-f00d-5ec2e7"


class Outside:
    """Made by `outside`. Its attributes are what attempts are aimed at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = folder / "secret.txt"
        self.written = folder / "written"
        self.module = folder / "module.mjs"
        self.socket = folder / "socket"
        self.signals = 0
        self.tcp = _bound(socket.AF_INET, socket.SOCK_STREAM)
        self.udp = _bound(socket.AF_INET, socket.SOCK_DGRAM)
        self.unix = _bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.socket))
        self.abstract_name = f"toolfold-{os.getpid()}-{folder.name}"
        self.abstract = _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.abstract_name}")
        self.free_port = _free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._niceness = os.getpriority(os.PRIO_PROCESS, self.process.pid)
        self.secret.write_text(SECRET, encoding="utf-8")
        self.module.write_text(f"process.stdout.write('{SECRET}');", encoding="utf-8")
        self._before = self._files()

    def touched(self, said: str = "") -> list[str]:
        """What has changed, or came out: empty when nothing was reached. `said` is all that the attempt printed."""
        listeners = {"tcp": self.tcp, "udp": self.udp, "unix": self.unix, "abstract": self.abstract}
        touched = [name for name, listener in listeners.items() if _was_hit(listener)]
        if self._files() != self._before:
            touched.append("files")
        if self.process.poll() is not None:
            touched.append("process")
        elif os.getpriority(os.PRIO_PROCESS, self.process.pid) != self._niceness:
            touched.append("priority")
        if self.signals:
            touched.append("signal")
        if SECRET in said or "PATH=" in said:
            touched.append("secret")
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.free_port), 2):
            touched.append("port")
        return touched

    def _files(self) -> dict[str, tuple[int, bytes]]:
        return {
            path.name: (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in sorted(self.folder.iterdir())
        }


@contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Something to reach, and who watches it."""
    world = Outside(folder)

    def count_signal(_number: int, _frame: FrameType | None) -> None:
        world.signals += 1

    before = signal.signal(signal.SIGWINCH, count_signal)  # ignored by default: it harms nobody
    try:
        yield world
    finally:
        signal.signal(signal.SIGWINCH, before)
        for listener in (world.tcp, world.udp, world.unix, world.abstract):
            listener.close()
        assert world.process.stdin is not None
        world.process.stdin.close()
        world.process.wait(5)


def _bound(family: int, kind: int, address: str = "") -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address or ("127.0.0.1", 0))
    made.setblocking(False)
    if kind == socket.SOCK_STREAM:
        made.listen(8)
    return made


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _was_hit(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(1)
    except BlockingIOError:
        return False
    return True
