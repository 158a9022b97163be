"""The command line of a code child, with every wall that this system has, and which walls those are.

On Linux the launcher comes first (`launcher.py`). Elsewhere Node's permission mode and the engine stand alone: the gate
then lets only such a Node pass as refuses sockets by itself (25 and later). Windows is refused: there is no group of
processes to end there.
"""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from server.code.node import Node
from server.code.seccomp import AT_EMPTY_PATH, MACHINES, PROGRAM_DESCRIPTOR, filter_program
from server.code.unavailable import Unavailable

SYSTEM: Final = platform.system()
HERE: Final = Path(__file__).parent
CHILD: Final = HERE / "child.js"
GUEST: Final = HERE / "guest.js"
LAUNCHER: Final = HERE / "launcher.py"

OWN_FILES: Final = (CHILD, GUEST, LAUNCHER, HERE / "seccomp.py", HERE / "walls.py", HERE / "node.py")
"""What a verdict of the gate depends on."""

DATA_BYTES: Final = 1024**3
"""RLIMIT_DATA. With half of it V8 does not start on Node 24 and later; it uses a tenth."""

OPEN_FILES: Final = 64
"""Node holds some 20."""

EVERYWHERE: Final = ("Node's permission mode", "QuickJS in WebAssembly", "an empty environment")
ON_LINUX: Final = (
    "seccomp",
    "resource limits",
    "a parent-death signal",
    "no new privileges",
    "Landlock, where the kernel has it",
)


@dataclass(frozen=True, slots=True)
class Walls:
    """Which walls stand on this system, and which are missing."""

    standing: tuple[str, ...]
    missing: tuple[str, ...]


def walls() -> Walls:
    """Raises Unavailable where code is not run at all, however the gate would judge."""
    if SYSTEM == "Windows":
        raise Unavailable("code is not run on Windows yet", "Use mode tools.")
    if SYSTEM != "Linux":
        return Walls(EVERYWHERE, ON_LINUX)
    if platform.machine() not in MACHINES:
        why = f"there is no system-call filter for {platform.machine()} machines"
        raise Unavailable(why, "Use mode tools.")
    return Walls((*EVERYWHERE, *ON_LINUX), ())


def command(node: Node, script: str, cpu_seconds: int) -> list[str]:
    """The whole command line. To be started with an empty environment, by the process that will wait for it."""
    plain = [node.program, *node.flags, "--eval", script]
    if SYSTEM != "Linux":
        return plain
    machine = MACHINES[platform.machine()]
    numbers = {
        "parent": os.getpid(),
        "descriptor": PROGRAM_DESCRIPTOR,
        "execveat": machine.execveat,
        "empty_path": AT_EMPTY_PATH,
    }
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_DATA": DATA_BYTES,
        "RLIMIT_CPU": cpu_seconds,
    }
    words = [_pairs(numbers), _pairs(limits), filter_program(machine).hex()]
    return [sys.executable, "-I", "-S", str(LAUNCHER), *words, *plain]


def _pairs(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


@cache
def text_of(path: Path) -> str:
    """A script of ours."""
    return path.read_text(encoding="utf-8")
