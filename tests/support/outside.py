"""What an escape would touch, watched from outside: listeners that count, files, a process, signals, a port.

`untouched` looks at all of it. A test that uses it has a control: the same attempt without walls, which does touch it.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
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
        self.hits: list[str] = []
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
        touched = [*self.hits]
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
    listeners = {"tcp": world.tcp, "udp": world.udp, "unix": world.unix, "abstract": world.abstract}
    threads = [
        threading.Thread(target=_count, args=(name, listener, world.hits)) for name, listener in listeners.items()
    ]
    for thread in threads:
        thread.start()

    def count_signal(_number: int, _frame: FrameType | None) -> None:
        world.signals += 1

    before = signal.signal(signal.SIGWINCH, count_signal)  # ignored by default: it harms nobody
    try:
        yield world
    finally:
        signal.signal(signal.SIGWINCH, before)
        for listener in listeners.values():
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for thread in threads:
            thread.join(5)
        assert world.process.stdin is not None
        world.process.stdin.close()
        world.process.wait(5)


def _bound(family: int, kind: int, address: str = "") -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address or ("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        made.listen(8)
    return made


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _count(name: str, listener: socket.socket, hits: list[str]) -> None:
    is_stream = listener.type == socket.SOCK_STREAM
    with suppress(OSError):
        while True:
            if is_stream:
                connection, _ = listener.accept()
                connection.close()
            elif not listener.recvfrom(2048)[0]:
                return
            hits.append(name)
