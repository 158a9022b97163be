"""The session log: what a serving gateway did, one JSON object a line, in private files under the state folder.

Laws
1. The event loop never waits for the disk: events are queued, and a worker thread writes them every other second.
2. It is bounded: the queue, each file, and all files together. What was lost is counted in the next line.
3. It holds what an event holds (`server.telemetry`), and nothing else.
"""

import json
import logging
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from server.config import Directories, LogSettings
from server.private_files import Complaint, append_file
from server.telemetry import Event, Operation
from server.version import __version__
from upstream_clients import JsonObject

logger = logging.getLogger(__name__)

FILE_BYTES: Final = 4 * 1024 * 1024
"""Some 20,000 lines; then the session goes on in another file."""

ALL_BYTES: Final = 32 * 1024 * 1024
ALL_FILES: Final = 500
"""Of all sessions; the oldest files are removed first. Weeks of an ordinary host."""

WAITING: Final = 10_000
"""Events that may wait for the disk: more than a host can cause in SPACING_SECONDS."""

SPACING_SECONDS: Final = 2.0
"""Between two writes. A way to a worker thread costs the loop a tenth of a call; a hard kill costs so much of the log."""

LAST_WRITE_SECONDS: Final = 0.2
"""At the end: hosts kill after two seconds."""

SUFFIX: Final = ".jsonl"


class SessionLog:
    """The log of this process. `take` is a sink, `run` the task that writes. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._session = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}"
        self._waiting: list[Event] = []
        self._lost = 0
        self._arrived = anyio.Event()
        self._is_awake = False
        self._number = 0
        self._size = 0
        self._complaint = Complaint(logger)

    def __repr__(self) -> str:
        return f"<SessionLog {self._session}, {len(self._waiting)} waiting>"

    def take(self, event: Event) -> None:
        if self._folder is None:
            return
        if len(self._waiting) >= WAITING:
            self._lost += 1
            return
        self._waiting.append(event)
        if not self._is_awake:  # an event's own state costs more to ask for
            self._is_awake = True
            self._arrived.set()

    async def run(self) -> None:
        """Writes what was taken. Ends only by cancellation, and then with what is left."""
        try:
            while True:
                await self._arrived.wait()
                self._arrived, self._is_awake = anyio.Event(), False
                await anyio.to_thread.run_sync(self._write, *self._taken())
                await anyio.sleep(SPACING_SECONDS)
        finally:
            await self.finish()

    async def finish(self) -> None:
        """Writes what has come since. For the very end, too: calls that were under way end after `run`."""
        with anyio.move_on_after(LAST_WRITE_SECONDS, shield=True):
            await anyio.to_thread.run_sync(self._write, *self._taken(), abandon_on_cancel=True)

    def _taken(self) -> tuple[list[Event], int]:
        taken, self._waiting = (self._waiting, self._lost), []
        self._lost = 0
        return taken

    def _write(self, events: list[Event], lost: int) -> None:
        if self._folder is None or not events:
            return
        records = [_record(event) for event in events]
        if lost:
            records.append({"at": time.time(), "kind": "lost", "events": lost})
        try:
            self._append(self._folder, records)
            self._complaint.withdraw()
        except OSError as error:
            self._complaint.make("the session log could not be written", error)

    def _append(self, folder: Path, records: Iterable[JsonObject]) -> None:
        if self._number == 0 or self._size > FILE_BYTES:
            self._number, self._size = self._number + 1, 0
            _make_room(folder)
        if self._size == 0:
            head: JsonObject = {"at": time.time(), "kind": "session", "session": self._session, "version": __version__}
            records = [head, *records]
        content = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)
        append_file(folder / f"{self._session}-{self._number:03}{SUFFIX}", content)
        self._size += len(content)


def log_folder(settings: LogSettings, directories: Directories) -> Path | None:
    """Where the logs of these settings are kept, if they are."""
    named = settings.session_dir
    return None if named is False else directories.state / os.path.expanduser(named)  # which never fails


def log_files(folder: Path) -> list[Path]:
    """The files of all sessions, the oldest first. Raises OSError."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except FileNotFoundError:
        return []


def _make_room(folder: Path) -> None:
    """Removes the oldest files, so that with a new one the bounds hold."""
    files = log_files(folder)
    size = sum(path.stat().st_size for path in files)
    while files and (size > ALL_BYTES - FILE_BYTES or len(files) >= ALL_FILES):
        oldest = files.pop(0)
        size -= oldest.stat().st_size
        with suppress(OSError):
            oldest.unlink()


def _record(event: Event) -> JsonObject:
    if isinstance(event, Operation):
        return {
            "at": round(event.at, 3),
            "kind": event.kind,
            "via": event.via,
            "outcome": event.outcome,
            "ids": list(event.ids),
            "ms": round(max(0.0, event.seconds) * 1000, 3),  # the clock may have been set
            "bytes": event.answered_bytes,
        }
    return {
        "at": round(event.at, 3),
        "kind": "published",
        "mode": event.mode,
        "why": event.why,
        "tools": event.published,
        "bytes": event.published_bytes,
        "direct_bytes": event.direct_bytes,
        "catalogue": event.catalogue,
        "sources": dict(event.sources),
    }
