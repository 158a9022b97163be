"""What reading the configuration has to say: findings for the operator, and the one error that stops the reading.

It knows how a name is shown and which known name it may have meant. It never sees a value from a file:
messages are made of key names, variable names and paths.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from server.errors import GatewayError

Severity: TypeAlias = Literal["error", "warning", "note"]

# A person reads findings; a file that earns more than this has one cause, and the first ones show it.
MAX_FINDINGS = 300

# Long enough for any real key; a pasted blob used as a key must not fill a terminal (or the close-match search).
MAX_NAME_SHOWN = 60

# difflib's own default. Lower values pair names that have nothing to do with each other ("url" and "run").
CLOSE_ENOUGH = 0.6


class ConfigError(GatewayError):
    """A file that cannot be used at all. `code` is stable, `hint` says what to do about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the operator should know. `where` is the file and the dotted place inside it."""

    severity: Severity
    code: str
    where: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why one entry is misconfigured, and the way out."""

    code: str
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.message} {self.fix}"


class Findings:
    """Collects findings while a configuration is read, bounded; the owner turns them into a tuple at the end."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._told: set[str] = set()
        self._left_out = 0

    @property
    def is_full(self) -> bool:
        return len(self._kept) >= MAX_FINDINGS

    def add(self, finding: Finding) -> None:
        if self.is_full:
            self._left_out += 1
        else:
            self._kept.append(finding)

    def warn(self, code: str, where: str, message: str, fix: str) -> None:
        self.add(Finding("warning", code, where, message, fix))

    def note(self, code: str, where: str, message: str, fix: str) -> None:
        self.add(Finding("note", code, where, message, fix))

    def note_key_once(self, key: str, where: str, message: str, fix: str) -> None:
        """A note about a key that many entries may carry: said at the first of them only."""
        if key not in self._told:
            self._told.add(key)
            self.note("known_elsewhere", where, message, fix)

    def found(self) -> tuple[Finding, ...]:
        if not self._left_out:
            return tuple(self._kept)
        rest = Finding(
            "note", "more_findings", "", f"{self._left_out} more findings are not listed.", "Mend these first."
        )
        return (*self._kept, rest)


def shown(name: str) -> str:
    """A name from a file as it may be printed: bounded, and without control characters."""
    cut = name if len(name) <= MAX_NAME_SHOWN else f"{name[: MAX_NAME_SHOWN - 1]}…"
    return "".join(character if character.isprintable() else "?" for character in cut)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; case, `-` and `_` do not count."""
    by_shape = {_shape(candidate): candidate for candidate in sorted(known)}
    close = difflib.get_close_matches(_shape(name[:MAX_NAME_SHOWN]), by_shape, n=1, cutoff=CLOSE_ENOUGH)
    return by_shape[close[0]] if close else None


def _shape(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
