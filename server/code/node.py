"""Which Node there is, whether it can be used, and with which flags it grants nothing."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.code.unavailable import Unavailable

OLDEST: Final = 20
"""The first with a permission mode."""

ASK_SECONDS: Final = 10.0
"""For Node to say what it is. It takes 50 ms, and seconds where its files come from a slow disk."""

INSTALL_NODE: Final = "Install Node.js 20 or newer, or name one in TOOLFOLD_NODE."

_ASK: Final = "process.stdout.write(JSON.stringify([process.execPath, process.versions.node]))"

_GRANT_NOTHING: Final = ("--no-warnings", "--no-addons", "--disable-proto=throw", "--openssl-config=/dev/null")

_PLAIN_COMPILER: Final = "--liftoff-only"
"""WebAssembly as it is compiled at first. Short code ends before V8's better compiler pays: a bridged call then takes a
tenth of the processor time. And what is not compiled cleverly is not compiled wrongly."""

_HEAP: Final = "--max-old-space-size=128"
"""Megabytes of JavaScript around the engine, which has its memory elsewhere. It uses five."""


@dataclass(frozen=True, slots=True)
class Node:
    """The real program, behind any links and scripts that stand for it."""

    program: str
    version: tuple[int, int, int]

    def __str__(self) -> str:
        return f"Node {'.'.join(map(str, self.version))} ({self.program})"

    @property
    def flags(self) -> tuple[str, ...]:
        """For a process without any grant. 22.5 and later bring a database that no permission stops."""
        permission = "--permission" if self.version >= (23,) else "--experimental-permission"
        database = ("--no-experimental-sqlite",) if self.version >= (22, 5) else ()
        return (permission, *database, *_GRANT_NOTHING, _PLAIN_COMPILER, _HEAP)

    @property
    def denies_network(self) -> bool:
        """Whether its permission mode covers sockets; the gate tries it all the same."""
        return self.version >= (25,)


def ask_node(path: Path) -> Node:
    """Starts it once. Blocks: for a worker thread.

    Raises:
        Unavailable: it does not start, is no Node, or is too old.
    """
    try:
        asked = subprocess.run(
            [path, "--eval", _ASK],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{path} did not say within {ASK_SECONDS:.0f} s which Node it is") from None
    except OSError as error:
        raise Unavailable(f"{path} could not be started ({error.strerror})", INSTALL_NODE) from None
    try:
        program, version = json.loads(asked.stdout)
        numbers = [int(number) for number in re.findall(r"\d+", version)[:3]]
        node = Node(str(program), (numbers[0], numbers[1], numbers[2]))
    except (ValueError, TypeError, IndexError):
        raise Unavailable(f"{path} is no Node that works (it ended with {asked.returncode})", INSTALL_NODE) from None
    if node.version < (OLDEST,):
        raise Unavailable(f"{node} is too old", INSTALL_NODE, lasting=True)
    return node
