"""The private file in which a running gateway says how it fares, for `toolfold status`. One file per process.

It holds states, counts, ids and reasons; never arguments, results or secrets.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from server.private_files import Complaint, read_file, replace_file
from upstream_clients import JsonObject, process_birth

logger = logging.getLogger(__name__)

SPACING_SECONDS: Final = 0.5
"""A burst of changes, such as 50 upstreams coming up, is written a few times and not once each."""

LARGEST_FILE_BYTES: Final = 4 * 1024 * 1024


class StateFile:
    """This process's file. `run` is its task; `touch` says that something has changed."""

    def __init__(self, folder: Path, describe: Callable[[], JsonObject]) -> None:
        self._path = folder / "gateways" / f"{os.getpid()}.json"
        self._describe = describe
        self._changed = anyio.Event()
        self._over = False
        self._complaint = Complaint(logger)

    def __repr__(self) -> str:
        return f"<StateFile {self._path}>"

    def touch(self) -> None:
        self._changed.set()

    async def run(self) -> None:
        """Writes the file after each change and removes it at the end. Ends only by cancellation."""
        try:
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                who: JsonObject = {"pid": os.getpid(), "born": process_birth(os.getpid())}
                document: JsonObject = {**who, "written": time.time(), **self._describe()}
                await anyio.to_thread.run_sync(self._write, document, abandon_on_cancel=True)
                await anyio.sleep(SPACING_SECONDS)
        finally:
            self._over = True
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self, document: JsonObject) -> None:
        try:
            replace_file(self._path, json.dumps(document).encode())
            self._complaint.withdraw()
        except OSError as error:
            self._complaint.make("the state file could not be written; `toolfold status` won't see this", error)
        if self._over:  # the end did not wait for this thread
            self._remove()


def running_gateways(folder: Path) -> list[JsonObject]:
    """What the gateways that run now say of themselves. Files of dead processes are removed."""
    return [state for path in _paths(folder) if (state := _read(path)) is not None]


def _paths(folder: Path) -> Iterable[Path]:
    try:
        return sorted((folder / "gateways").glob("*.json"))
    except OSError:
        return []


def _read(path: Path) -> JsonObject | None:
    try:
        content = read_file(path, LARGEST_FILE_BYTES)
        state = None if content is None else json.loads(content)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(state, dict):
        return None
    pid = state.get("pid")
    born = process_birth(pid) if isinstance(pid, int) else None
    if born is None or state.get("born") != born:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    return state
