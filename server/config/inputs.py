"""`inputs` and `${input:id}`: values that a file leaves to whoever starts the server.

The order: the environment variable TOOLFOLD_INPUT_<ID>, the stored value, whoever can be asked, and what the file
itself offers in case of no answer. A secret is never offered by a file, and whoever asks must hide what is typed.
Nobody is asked twice, and for an entry that is not started nobody is asked at all.
"""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from server.config.files import read_text
from server.config.findings import ConfigError, Findings, shown
from server.config.places import directories
from server.private_files import replace_file

_FILE_NAME = "inputs.json"

# A few dozen tokens; a key file as a value fits, too.
MAX_STORED_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Input:
    """What is asked for. One that no file describes may be a secret, so it is taken for one."""

    id: str
    description: str = ""
    is_secret: bool = True
    default: str = field(default="", repr=False)
    options: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that answers it."""
        return "TOOLFOLD_INPUT_" + re.sub(r"[^A-Za-z0-9]", "_", self.id).upper()


Ask: TypeAlias = Callable[[Input], str | None]


def ask_nobody(_wanted: Input) -> str | None:
    """How a server asks that nobody sits in front of."""
    return None


def declared_inputs(written: object, where: str, findings: Findings) -> Mapping[str, Input]:
    """What a file says of its inputs, by their ids."""
    if written is None:
        return {}
    items = written if isinstance(written, list) else []
    found = [item for item in items if isinstance(item, dict) and isinstance(item.get("id"), str)]
    if not isinstance(written, list) or len(found) < len(items):
        message = "`inputs` should be a list of objects, each with an `id`."
        findings.warn("wrong_type", where, message, "What is not one is left out; correct it.")
    return {item["id"]: _input(item) for item in found}


def _input(item: Mapping[str, object]) -> Input:
    options = item.get("options")
    named = options if isinstance(options, list) else []
    return Input(
        id=str(item["id"]),
        description=_text(item.get("description")),
        is_secret=item.get("password") is True,
        default=_text(item.get("default")),
        options=tuple(_text(option.get("value")) if isinstance(option, dict) else _text(option) for option in named),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class Answers:
    """Looks up what inputs come to, while one configuration is read."""

    def __init__(self, environ: Mapping[str, str], ask: Ask, findings: Findings) -> None:
        self._environ = environ
        self._ask = ask
        self._findings = findings
        self._stored: Mapping[str, str] | None = None
        self._asked: dict[str, str | None] = {}

    def find(self, wanted: Input, *, may_ask: bool) -> str | None:
        given = self._environ.get(wanted.variable)
        if given is None:
            given = self._from_store(wanted.id)
        if given is None and may_ask:
            if wanted.id not in self._asked:
                self._asked[wanted.id] = self._ask(wanted)
            given = self._asked[wanted.id]
        return given if given is not None or wanted.is_secret else wanted.default or None

    def looked_in(self) -> tuple[Path, ...]:
        """The file of stored answers, if one was looked for."""
        return () if self._stored is None else (inputs_file(self._environ),)

    def _from_store(self, key: str) -> str | None:
        if self._stored is None:
            try:
                self._stored = stored_inputs(self._environ)
            except ConfigError as error:
                self._stored = {}
                self._findings.warn("stored_inputs", str(inputs_file(self._environ)), error.message, error.hint)
        return self._stored.get(key)


def stored_inputs(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Raises: ConfigError, for a file that is there and cannot or must not be used."""
    path = inputs_file(environ)
    if not path.exists():
        return {}
    try:
        stored = json.loads(read_text(path, MAX_STORED_BYTES).text)
    except (ValueError, RecursionError):
        raise ConfigError("stored_inputs", f"{path} is damaged.", "Remove it, and answer the inputs anew.") from None
    items = stored.items() if isinstance(stored, dict) else ()
    return {key: value for key, value in items if isinstance(value, str)}


def store_input(environ: Mapping[str, str], key: str, value: str) -> None:
    """Keeps the answer in a file that only this user may read. Raises: ConfigError."""
    _write(environ, {**stored_inputs(environ), key: value})


def forget_input(environ: Mapping[str, str], key: str) -> bool:
    """Whether there was a stored answer to forget. Raises: ConfigError."""
    kept = dict(stored_inputs(environ))
    was_there = kept.pop(key, None) is not None
    if was_there:
        _write(environ, kept)
    return was_there


def inputs_file(environ: Mapping[str, str]) -> Path:
    """Where answers are stored, whether there are any or not."""
    return directories(environ).state / _FILE_NAME


def no_answer(wanted: Input) -> tuple[str, str]:
    """What to say when nobody answers: what is wrong, and the exact way out."""
    what = f": {shown(wanted.description)}" if wanted.description else ""
    return (
        f"`${{input:{shown(wanted.id)}}}` has no answer{what}.",
        f"Run `toolfold config input set {shlex.quote(shown(wanted.id))}`, or set the environment variable "
        f"{shown(wanted.variable)} where toolfold is started.",
    )


def _write(environ: Mapping[str, str], answers: Mapping[str, str]) -> None:
    path, content = inputs_file(environ), json.dumps(answers, indent=1, sort_keys=True).encode()
    if len(content) > MAX_STORED_BYTES:  # it could not be read any more
        message = f"All answers together may take {MAX_STORED_BYTES} bytes in {path}."
        raise ConfigError("too_long", message, "Forget some, or give this one in its environment variable.")
    try:
        replace_file(path, content)
    except OSError as error:
        raise ConfigError("not_stored", f"{path} cannot be written: {error.strerror}.", "Check its folder.") from None
