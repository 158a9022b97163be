"""The last good listing of every upstream, on disk, so that a start can search before any upstream is up.

One JSON file per upstream entry, named by a hash of the entry: changing the command or its arguments makes a new one. What
the upstream was given to keep is not written down, should it list that.
A file that can't be read is as good as none. All methods block and belong in a worker thread.
"""

import json
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.private_files import Complaint, read_file, replace_file
from server.redaction import Redactor
from upstream_clients import Era, JsonObject

logger = logging.getLogger(__name__)

FORMAT: Final = 1
LARGEST_FILE_BYTES: Final = 64 * 1024 * 1024
"""A listing is at most 10,000 tools; real ones are about 1 KB a tool."""

KEPT_SECONDS: Final = 60 * 24 * 3600
"""Two months: a listing that no start has refreshed for so long belongs to an entry that is gone."""


@dataclass(frozen=True, slots=True)
class StoredListing:
    """What is kept of one upstream. `saved` is in seconds since the epoch; `gateway` is its id, if it is one."""

    tools: tuple[JsonObject, ...]
    era: Era
    instructions: str
    saved: float = 0.0
    gateway: str = ""


class ListingCache:
    """Reads and writes the stored listings of one cache folder, which several gateways may share."""

    def __init__(self, folder: Path, redact: Redactor) -> None:
        self._folder = folder / "listings"
        self._complaint = Complaint(logger)
        self._redact = redact

    def __repr__(self) -> str:
        return f"<ListingCache {self._folder}>"

    def read(self, owner: str, fingerprint: str) -> StoredListing | None:
        path = self._path(owner, fingerprint)
        try:
            content = read_file(path, LARGEST_FILE_BYTES)
            return None if content is None else _stored(json.loads(content))
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("the stored listing of %s can't be used (%s)", owner, type(error).__name__)
            return None

    def write(self, owner: str, fingerprint: str, listing: StoredListing) -> None:
        """Stores a listing. A full or read-only disk costs the next start some time and nothing else."""
        document = {
            "format": FORMAT,
            "saved": time.time(),
            "era": listing.era,
            "instructions": self._redact.without_known(listing.instructions),
            "gateway": listing.gateway,
            "tools": [self._redact.listed(tool) for tool in listing.tools],
        }
        try:
            replace_file(self._path(owner, fingerprint), json.dumps(document, separators=(",", ":")).encode())
            self._complaint.withdraw()
        except OSError as error:
            self._complaint.make(f"the listing of {owner} could not be stored", error)

    def prune(self) -> None:
        """Removes what no start has refreshed for KEPT_SECONDS, left-over temporary files among it."""
        oldest = time.time() - KEPT_SECONDS
        for path in _files_in(self._folder):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _path(self, owner: str, fingerprint: str) -> Path:
        return self._folder / f"{owner}-{fingerprint[:16]}.json"


def _files_in(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _stored(document: object) -> StoredListing:
    """Raises ValueError for anything that `write` would not have written."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("another format")
    tools, era, instructions = document.get("tools"), document.get("era"), document.get("instructions")
    saved = document.get("saved")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise ValueError("no tools")
    if not isinstance(instructions, str) or not isinstance(saved, (int, float)):
        raise ValueError("incomplete")
    gateway = document.get("gateway", "")
    if not isinstance(gateway, str):
        raise ValueError("a gateway without an id")
    return StoredListing(tuple(tools), "modern" if era == "modern" else "legacy", instructions, saved, gateway)
