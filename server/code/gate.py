"""The gate: whether code can be run here, found out by doing it, and remembered for as long as nothing changes.

A verdict holds for one Node, one kernel, one engine and one set of walls. It is kept in a private file so that a start
does not wait for Node; every later child is judged again all the same, so a verdict that is wrong costs a failed run and
never a weaker one. What may be otherwise at the next try is not remembered.
"""

import json
import logging
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import anyio.to_thread

from server.code.child import Bounds, Runtime
from server.code.engine import INSTALL, engine_folder, is_installed, lock
from server.code.node import INSTALL_NODE, Node, ask_node
from server.code.run import run_in_child
from server.code.unavailable import Unavailable
from server.code.walls import OWN_FILES, walls
from server.private_files import read_file, replace_file
from server.version import __version__
from upstream_clients import JsonObject

logger = logging.getLogger(__name__)

LARGEST_VERDICT_BYTES: Final = 64 * 1024
TRIAL_SECONDS: Final = 5.0
FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """With a `runtime`, code can be run. Without one, `why` and `hint` say what stands in the way."""

    runtime: Runtime | None
    why: str = ""
    hint: str = ""


class Gate:
    """Asks about the Node at this path (None: there is none), the engine in `data`; remembers in `cache`."""

    def __init__(self, node: Path | None, data: Path, cache: Path) -> None:
        self._node = node
        self._engine = engine_folder(data)
        self._file = cache / "code" / "verdict.json"

    def known(self) -> Verdict | None:
        """The verdict, if it takes no process to say it. Reads a few small files."""
        try:
            key = self._key(self._present())
        except Unavailable as gone:
            return Verdict(None, gone.why, gone.hint)
        remembered = _read(self._file)
        return self._verdict(remembered) if remembered.get("key") == key else None

    async def verdict(self) -> Verdict:
        """Tries it out, unless the answer is known."""
        known = await anyio.to_thread.run_sync(self.known)
        return known or await self.tried()

    async def tried(self) -> Verdict:
        """Tries it out, whatever was known, and remembers."""
        try:
            path = await anyio.to_thread.run_sync(self._present)
            key = await anyio.to_thread.run_sync(self._key, path)
            node = await anyio.to_thread.run_sync(
                ask_node, path, abandon_on_cancel=True
            )  # one that hangs holds nobody up
            await _try_out(Runtime(node, self._engine))
        except Unavailable as gone:
            if gone.lasting:
                self._remember({"key": key, "why": gone.why, "hint": gone.hint})
            return Verdict(None, gone.why, gone.hint)
        self._remember({"key": key, "program": node.program, "version": list(node.version)})
        return Verdict(Runtime(node, self._engine))

    def _present(self) -> Path:
        """Raises Unavailable where something is missing that can be seen without trying."""
        walls()
        if self._node is None:
            raise Unavailable("Node.js was not found", INSTALL_NODE)
        if not is_installed(self._engine):
            raise Unavailable("the engine is not installed", INSTALL)
        return self._node

    def _key(self, node: Path) -> str:
        """Of all that a verdict depends on. Raises Unavailable."""
        try:
            real = node.resolve(strict=True)
            status = real.stat()
            own = [sha256(file.read_bytes()).hexdigest() for file in OWN_FILES]
        except OSError as error:
            raise Unavailable(f"{node} can't be looked at ({error.strerror})", INSTALL_NODE) from None
        parts = [FORMAT, __version__, lock().digest, *own, str(real), status.st_mtime_ns, status.st_size]
        system = [platform.release(), platform.machine(), sys.executable, sys.version]
        return sha256(json.dumps([*parts, *system]).encode()).hexdigest()

    def _verdict(self, remembered: Mapping[str, object]) -> Verdict | None:
        program, version = remembered.get("program"), remembered.get("version")
        if isinstance(program, str) and isinstance(version, list) and len(version) == 3:
            return Verdict(Runtime(Node(program, (int(version[0]), int(version[1]), int(version[2]))), self._engine))
        why = remembered.get("why")
        return Verdict(None, why, str(remembered.get("hint", ""))) if isinstance(why, str) and why else None

    def _remember(self, document: JsonObject) -> None:
        try:
            replace_file(self._file, json.dumps(document).encode())
        except OSError as error:
            logger.warning("the verdict on code could not be kept (%s); the next start tries again", error.strerror)


async def _try_out(runtime: Runtime) -> None:
    """Runs a sum behind the walls. Raises Unavailable."""

    async def nothing(_method: object, _values: object) -> object:
        raise NotImplementedError("a sum calls nothing")

    outcome = await run_in_child(runtime, Bounds(), "return 6 * 7", nothing, TRIAL_SECONDS)
    if outcome.failure is not None:
        raise Unavailable(outcome.failure.message.rstrip("."), outcome.failure.hint)
    if outcome.value != 42:
        raise Unavailable("the engine does not work")


def _read(file: Path) -> Mapping[str, object]:
    try:
        content = read_file(file, LARGEST_VERDICT_BYTES)
        document = json.loads(content) if content else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
