"""What a person has allowed ahead, on disk: a tool as it was then, for callers of one kind, until a time.

Everything here blocks and belongs in a worker thread.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from index import Tool
from server.pins import pinned
from server.private_files import read_file, replace_file

FORMAT: Final = 1
LARGEST_FILE_BYTES: Final = 1024 * 1024
MOST: Final = 200
"""Approvals at a time; the oldest make room. A person gives them one by one."""

DEFAULT_MINUTES: Final = 10
MOST_MINUTES: Final = 24 * 60
"""What should hold for longer belongs into the policy."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One tool, named and as it was (`digest`), for callers under these profiles, until then."""

    id: str
    digest: str
    profiles: str
    until: float

    def is_valid(self, now: float) -> bool:
        return now < self.until <= now + MOST_MINUTES * 60  # a clock that was set back makes none last


class Approvals:
    """Those of one state folder. A file that cannot be read allows nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "approvals.json"

    def __repr__(self) -> str:
        return f"<Approvals {self._path}>"

    def allow(self, tool: Tool, profiles: str) -> bool:
        """Whether a person has allowed this very tool ahead."""
        wanted = (tool.id, definition_digest(tool), profiles)
        return any((one.id, one.digest, one.profiles) == wanted for one in self._valid())

    def add(self, tool: Tool, profiles: str, minutes: int) -> None:
        """From now on it is allowed for so long.

        Raises:
            OSError: it could not be stored.
        """
        until = time.time() + min(minutes, MOST_MINUTES) * 60
        added = Approval(tool.id, definition_digest(tool), profiles, until)
        kept = [one for one in self._valid() if (one.id, one.profiles) != (added.id, added.profiles)]
        document = {"format": FORMAT, "approvals": [asdict(one) for one in [*kept, added][-MOST:]]}
        replace_file(self._path, json.dumps(document).encode())

    def _valid(self) -> list[Approval]:
        now = time.time()
        return [one for one in self._read() if one.is_valid(now)]

    def _read(self) -> Iterator[Approval]:
        try:
            content = read_file(self._path, LARGEST_FILE_BYTES)
            document = json.loads(content) if content is not None else {}
        except (OSError, ValueError, RecursionError):
            return
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            return
        written = document.get("approvals")
        for one in written if isinstance(written, list) else ():
            if isinstance(one, dict) and (approval := _approval(one)) is not None:
                yield approval


def definition_digest(tool: Tool) -> str:
    """Of what a person looked at: a tool that changes afterwards is another one."""
    return sha256(json.dumps(pinned(tool.definition), sort_keys=True).encode()).hexdigest()


def _approval(written: Mapping[str, object]) -> Approval | None:
    match written:
        case {"id": str(tool_id), "digest": str(digest), "profiles": str(profiles), "until": float(until)}:
            return Approval(tool_id, digest, profiles, until)
    return None


def together(profiles: Iterable[str]) -> str:
    """How an approval names the profiles that its callers are under, all at once."""
    return ",".join(re.sub(r"([\\,])", r"\\\1", name) for name in profiles)


def taken_apart(profiles: str) -> list[str]:
    """Those that `together` made one text of; one without a name for callers under none."""
    return [re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|[^,\\])+", profiles)] or [""]
