"""What of each upstream's tools has been accepted, on disk, and what of a listing is not that.

Laws
1. What an upstream lists first is accepted, but for what is suspicious. From then on only a person accepts
   (`toolfold trust`). What was accepted by first sight is looked through again whenever the rules of suspicion are other
   ones, and is accepted no more if it is suspicious by them. What a person has accepted stands.
2. An entry that is edited to start something else is met for the first time again; an upstream that changes behind the
   same entry is not.
3. A file that cannot be read has accepted nothing: every tool counts as changed, until a person accepts it anew.
4. Everything here blocks and belongs in a worker thread.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

from server.private_files import Complaint, read_file, replace_file
from server.suspicion import rules_mark, suspicion
from upstream_clients import JsonObject

logger = logging.getLogger(__name__)

FORMAT: Final = 1
LARGEST_FILE_BYTES: Final = 64 * 1024 * 1024
"""As much as a stored listing may take."""

UNSHOWN: Final = frozenset({"_meta", "icons"})
"""Keys of a definition that no model is shown, and no host acts by. Whatever else stands there, known to a protocol or not,
a description shows: it is pinned."""


class Difference(StrEnum):
    """How a tool departs from what was accepted of its upstream."""

    NEW = "new"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class PinnedUpstream:
    """One upstream entry, as far as pins depend on it."""

    owner: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """What has been accepted of one upstream: digests by name. `is_readable` is False where nothing can be said of it."""

    digests: Mapping[str, bytes]
    is_readable: bool = True

    def difference(self, definition: JsonObject) -> Difference | None:
        """How an admitted tool departs from what was accepted, if it does."""
        name = str(definition.get("name"))
        if not self.is_readable:
            return Difference.CHANGED
        if name not in self.digests:
            return Difference.NEW
        return None if self.digests[name] == _digest(definition) else Difference.CHANGED


def pinned(definition: JsonObject) -> JsonObject:
    """The parts of a definition that are pinned."""
    return {key: value for key, value in definition.items() if key not in UNSHOWN}


class Pins:
    """The accepted tools of one state folder, which several gateways and commands may share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "pins"
        self._lock = threading.Lock()
        self._complaint = Complaint(logger)
        self._first_seen: dict[Path, Accepted] = {}  # stands in where the disk took nothing
        self._looked_at: dict[str, tuple[PinnedUpstream, int]] = {}  # by owner, as an entry is now

    def __repr__(self) -> str:
        return f"<Pins {self._folder}>"

    def review(
        self, upstream: PinnedUpstream, tools: Iterable[JsonObject], doubt: Callable[[JsonObject], str]
    ) -> Accepted:
        """What to compare the upstream's tools with. At its first sight, those without a doubt become what is accepted."""
        with self._lock:
            self._looked_at[upstream.owner] = upstream, self._stamp(upstream)
            known = self._read(upstream)
            if known is not None:
                return known
            plain = (tool for tool in tools if _can_be_written(tool) and not doubt(tool))
            return self._accept_first(upstream, _by_name(plain))

    def definitions(self, upstream: PinnedUpstream) -> dict[str, JsonObject]:
        """The pinned parts of every accepted tool, by name; empty when nothing is known or readable."""
        return dict(self._written(upstream).tools)

    def accept(self, upstream: PinnedUpstream, tools: Iterable[JsonObject]) -> None:
        """From now on these definitions are the accepted ones, by a person's word.

        Raises:
            OSError: they could not be stored.
        """
        with self._lock:
            known, accepted = self._written(upstream), _by_name(tools)
            by_hand = known.by_hand | accepted.keys()
            self._store(upstream, replace(known, tools={**known.tools, **accepted}, by_hand=by_hand))
            self._first_seen.pop(self._path(upstream), None)

    def changed_since_looked_at(self) -> frozenset[str]:
        """The owners of which somebody has accepted something since their differences were worked out."""
        with self._lock:
            looked_at = dict(self._looked_at)
        return frozenset(owner for owner, (upstream, then) in looked_at.items() if self._stamp(upstream) != then)

    def _read(self, upstream: PinnedUpstream) -> Accepted | None:
        try:
            written = _read(self._content(upstream))
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("what was accepted of %s can't be read (%s)", upstream.owner, type(error).__name__)
            return Accepted({}, is_readable=False)
        if written is None:
            return self._first_seen.get(self._path(upstream))
        return _accepted(self._looked_through(upstream, written))

    def _looked_through(self, upstream: PinnedUpstream, written: "_Written") -> "_Written":
        """What is still accepted by the rules of now. Names are not looked at again: another server could otherwise have
        this one's tools held back by listing names like theirs."""
        rules = rules_mark()
        if written.rules == rules:
            return written
        sound = {name: tool for name, tool in written.tools.items() if name in written.by_hand or not suspicion(tool)}
        looked_through = replace(written, tools=sound, rules=rules)
        try:
            self._store(upstream, looked_through)
        except OSError as error:
            logger.warning("what was accepted of %s could not be stored (%s)", upstream.owner, error.strerror)
        self._looked_at[upstream.owner] = upstream, self._stamp(upstream)
        return looked_through

    def _written(self, upstream: PinnedUpstream) -> "_Written":
        try:
            return _read(self._content(upstream)) or NOTHING_WRITTEN
        except (OSError, ValueError, RecursionError):
            return NOTHING_WRITTEN

    def _accept_first(self, upstream: PinnedUpstream, definitions: Mapping[str, JsonObject]) -> Accepted:
        """A full or read-only disk leaves it to this process alone to remember."""
        written = _Written(definitions, rules=rules_mark())
        accepted = _accepted(written)
        try:
            self._store(upstream, written)
            self._complaint.withdraw()
        except OSError as error:
            self._first_seen[self._path(upstream)] = accepted
            self._complaint.make(f"what was accepted of {upstream.owner} could not be stored", error)
        self._looked_at[upstream.owner] = upstream, self._stamp(upstream)
        return accepted

    def _store(self, upstream: PinnedUpstream, written: "_Written") -> None:
        by_hand = sorted(written.by_hand & written.tools.keys())
        document = {"format": FORMAT, "rules": written.rules, "tools": written.tools, "byHand": by_hand}
        replace_file(self._path(upstream), json.dumps(document, separators=(",", ":")).encode())

    def _content(self, upstream: PinnedUpstream) -> bytes | None:
        path = self._path(upstream)
        try:
            content = read_file(path, LARGEST_FILE_BYTES)
        except NotADirectoryError:  # as little is stored there as can be
            return None
        if content is None and path.exists():
            raise ValueError("no regular file of that size")
        return content

    def _stamp(self, upstream: PinnedUpstream) -> int:
        """When the file was written; it is only ever replaced whole."""
        try:
            return self._path(upstream).stat().st_mtime_ns
        except OSError:
            return 0

    def _path(self, upstream: PinnedUpstream) -> Path:
        return self._folder / f"{upstream.owner}-{upstream.fingerprint[:16]}.json"


@dataclass(frozen=True, slots=True)
class _Written:
    """What a file holds: accepted definitions by name, the names of those that a person has accepted, and by which rules the
    others were looked through."""

    tools: Mapping[str, JsonObject]
    by_hand: frozenset[str] = frozenset()
    rules: str = ""


NOTHING_WRITTEN: Final = _Written({})


def _by_name(tools: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """What can be written down of a listing; the rest is not admitted to the catalogue either."""
    return {str(tool["name"]): pinned(tool) for tool in tools if _can_be_written(tool)}


def _can_be_written(tool: object) -> bool:
    try:
        return isinstance(tool, dict) and isinstance(tool.get("name"), str) and bool(_digest(tool))
    except (ValueError, RecursionError):
        return False


def _accepted(written: _Written) -> Accepted:
    return Accepted({name: _digest(tool) for name, tool in written.tools.items()})


def _digest(definition: JsonObject) -> bytes:
    """The hash of the pinned parts, the same however the upstream orders their keys."""
    text = json.dumps(pinned(definition), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).digest()


def _read(content: bytes | None) -> _Written | None:
    """Raises ValueError for anything that `accept` would not have written. Of a file without `byHand`, an older one, nobody
    knows what a person has accepted."""
    if content is None:
        return None
    document = json.loads(content)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("another format")
    tools, by_hand = document.get("tools"), document.get("byHand", [])
    if not isinstance(tools, dict) or not all(isinstance(tool, dict) for tool in tools.values()):
        raise ValueError("no tools")
    if not isinstance(by_hand, list) or not all(isinstance(name, str) for name in by_hand):
        raise ValueError("no names")
    return _Written(tools, frozenset(by_hand), str(document.get("rules", "")))
