"""Starts `sdk_server.py` at an address of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).with_name("sdk_server.py")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server. `older`: it speaks the older SSE."""

    process: "subprocess.Popen[str]"
    port: int
    older: bool

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{'sse' if self.older else 'mcp'}"

    def line(self) -> str:
        """The next thing that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@contextmanager
def sdk_server(mode: str = "streamable", *tools: str) -> Iterator[Served]:
    """`tools`: more of them than it has by itself, as one JSON list."""
    command = [sys.executable, "-P", str(SCRIPT), mode, *tools]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield Served(process, int(process.stdout.readline()), mode == "legacy-sse")
        finally:
            process.kill()
