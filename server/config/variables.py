"""Expands `${…}` in one string: environment variables with defaults, inputs, and the few names that editors define.

Laws:
1. One pass from left to right. What a variable holds is never looked at again.
2. `$NAME` without braces is left alone: passwords contain `$`.
3. A form that no rule here knows stays as it was written; one that another host would resolve by asking is an error.
4. Errors name variables, never what they hold.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeAlias

from server.config.findings import shown

# For all strings of one entry together. Operating systems take no longer start line and environment; without a bound,
# a short file could ask for gigabytes by naming one long variable often.
MAX_EXPANDED_CHARS = 1024 * 1024

_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_NAME_AND_DEFAULT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_ENV_NAME_AND_DEFAULT = re.compile(r"env:([^:=]+)(?::-(.*))?", re.DOTALL)

# `${keyring:token}` and its like are answered by a host that looks them up. Passed on as text, they would only fail
# later, as a login that is refused.
_LOOKED_UP_ELSEWHERE = re.compile(r"(keyring|config|command|secret|file):(.*)", re.DOTALL)
_INPUT = "input:"


@dataclass(frozen=True, slots=True)
class Answer:
    """What `${input:…}` comes to."""

    value: str = field(repr=False)
    is_secret: bool


Answering: TypeAlias = Callable[[str], Answer | None]


def nobody_answers(_key: str) -> Answer | None:
    return None


@dataclass(frozen=True, slots=True)
class Variables:
    """What `${…}` may refer to. `defined` are the names that are not environment variables."""

    environ: Mapping[str, str] = field(repr=False)
    defined: Mapping[str, str]
    answer: Answering = nobody_answers

    @classmethod
    def of(cls, environ: Mapping[str, str], workspace_folder: PurePath) -> "Variables":
        defined = {
            "workspaceFolder": str(workspace_folder),
            "workspaceFolderBasename": workspace_folder.name,
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        home = user_home(environ)
        if home:
            defined["userHome"] = home
        return cls(environ, defined)

    def value(self, name: str) -> str | None:
        found = self.environ.get(name)
        # Windows keeps names in upper case and compares them without case.
        return self.environ.get(name.upper()) if found is None and os.name == "nt" else found


class Expansion:
    """Expands the strings of one entry and remembers what that needed: the variables used, unset, and not understood."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self.used: dict[str, str] = {}
        self.secrets: set[str] = set()  # the answers that are none to print, under whichever name they went in
        self.unset: list[str] = []
        self.unanswered: list[str] = []  # the ids of inputs
        self.unanswerable: list[str] = []  # `${keyring:…}` and its like, and a variable inside a default
        self.unknown_forms = 0
        self._length = 0

    @property
    def is_too_long(self) -> bool:
        return self._length > MAX_EXPANDED_CHARS

    def value(self, written: object) -> object:
        """`written` with every string in it expanded, keys excepted."""
        if isinstance(written, str):
            return self.text(written)
        if isinstance(written, list):
            return [self.value(item) for item in written]
        if isinstance(written, dict):
            return {key: self.value(item) for key, item in written.items()}
        return written

    def text(self, written: str) -> str:
        parts: list[str] = []
        start = 0
        for reference in _REFERENCE.finditer(written):
            parts += [written[start : reference.start()], self._resolve(reference[1], reference[0])]
            start = reference.end()
            self._length += len(parts[-1])
            if self.is_too_long:
                return ""
        return "".join([*parts, written[start:]])

    def _resolve(self, inner: str, whole: str) -> str:
        if inner in self._variables.defined:
            return self._variables.defined[inner]
        if "${" in inner or _LOOKED_UP_ELSEWHERE.fullmatch(inner):
            self.unanswerable.append(shown(f"{whole.partition(':-')[0].rstrip('}')}}}"))
            return whole
        if inner.startswith(_INPUT):
            return self._answered(inner.removeprefix(_INPUT))
        matched = _NAME_AND_DEFAULT.fullmatch(inner) or _ENV_NAME_AND_DEFAULT.fullmatch(inner)
        if matched is None:
            self.unknown_forms += 1
            return whole
        return self._lookup(matched[1], matched[2])

    def _answered(self, key: str) -> str:
        answer = self._variables.answer(key)
        if answer is None:
            self.unanswered.append(key)
            return ""
        if answer.is_secret:
            self.secrets.add(answer.value)
        return answer.value

    def _lookup(self, name: str, default: str | None) -> str:
        value = self._variables.value(name)
        if value or (value is not None and default is None):
            self.used[name] = value
            return value
        if default is None:
            self.unset.append(shown(name))
            return ""
        return default


def literal_part(written: str) -> str:
    """What a string says by itself, whatever the environment holds: its own text and the defaults in it."""
    return _REFERENCE.sub(lambda reference: reference[1].partition(":-")[2], written)


def from_home(path: str, environ: Mapping[str, str]) -> str:
    """`path` with a leading `~/` replaced, as a shell would have done."""
    return user_home(environ) + path[1:] if path.startswith("~/") else path


def user_home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
