"""Runs the `toolfold` command as a person or a script does: a process of its own, in a folder of its own."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]
COMMAND: Final = (sys.executable, "-P", "-m", "server.cli")
SECONDS: Final = 60.0
"""For one run; a busy machine takes about two."""

TAKE_TERMINAL: Final = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal on standard input the process's own, as a shell in a terminal window has it. Tests started in the
background ignore Ctrl-C, and so would what they start."""

APPEARANCE: Final = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERM")
"""Variables by which the machine that runs the tests could change what is printed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished run. `shown` is what a terminal got, where standard error was one."""

    code: int
    out: str
    err: str = ""
    shown: str = ""

    def json(self) -> dict[str, object]:
        """The document on standard output, which has nothing beside it."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document

    def member(self, key: str) -> list[dict[str, object]]:
        """A list of objects in that document."""
        members = self.json()[key]
        assert isinstance(members, list)
        return members

    def error(self) -> dict[str, object]:
        """The error in that document."""
        error = self.json()["error"]
        assert isinstance(error, dict)
        return error


def toolfold(folder: Path, *arguments: str, stdin: str = "", **variables: str) -> Ran:
    """Runs the command in this folder, whose `mcp.json` it finds, with these environment variables on top."""
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment(variables), input=stdin.encode(), capture_output=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def at_a_terminal(folder: Path, *arguments: str, typed: Sequence[tuple[str, str]] = ()) -> Ran:
    """Runs the command with standard input and error on a terminal of 100 columns, and standard output in a pipe.

    `typed`: a text to wait for, and what is typed once it is there, one pair after the other. The terminal is the
    process's own, so that Ctrl-C reaches it.
    """
    ours, theirs = pty.openpty()
    variables = environment({"TERM": "xterm-256color", "COLUMNS": "100"})
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", TAKE_TERMINAL, *COMMAND, *arguments],
        cwd=folder, env=variables, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    assert process.stdout is not None
    with process, os.fdopen(ours, "rb", buffering=0) as terminal:
        try:
            shown = _converse(terminal.fileno(), typed)
        except AssertionError:
            process.kill()
            raise
        out = process.stdout.read()
        code = process.wait(SECONDS)
    return Ran(code, out.decode(), shown=shown.decode("utf-8", "replace"))


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A run that goes on, with pipes; it is over when the context ends."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment({}),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=_heed_ctrl_c,  # noqa: PLW1509  (it sets a signal and does no more)
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS)


def _heed_ctrl_c() -> None:
    """A shell that starts tests in the background has them, and what they start, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This run's environment, from which `server` can be imported wherever the command is started."""
    kept = {name: value for name, value in os.environ.items() if name not in APPEARANCE}
    return {**kept, "PYTHONPATH": str(PROJECT), **variables}


def _converse(descriptor: int, typed: Sequence[tuple[str, str]]) -> bytes:
    """Types, and reads all that a terminal shows until nobody has it open any more, which Linux reports as an error."""
    shown, seen, left = b"", 0, list(typed)
    while True:
        assert select.select([descriptor], [], [], SECONDS)[0], ("nothing more was shown", left, shown)
        try:
            content = os.read(descriptor, 65536)
        except OSError:
            content = b""
        if not content:
            assert not left, (left, shown)
            return shown
        shown += content
        while left and (at := shown.find(left[0][0].encode(), seen)) >= 0:
            awaited, keys = left.pop(0)
            seen = at + len(awaited.encode())
            os.write(descriptor, keys.encode())
