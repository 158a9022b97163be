"""One entry as some host writes it becomes the same entry under our names. It decides nothing about what is started.

Laws:
1. Nothing is resolved here: what names a variable becomes a `${…}`, which is expanded later, with all the others.
2. What has the wrong type is handed on as it is, under our name, so that it is told where every wrong type is told.
3. Our own spelling wins, except that whatever either of them leaves out is left out.
"""

import re
from collections.abc import Iterable
from typing import TypeGuard

from server.config.dialects import SECONDS_BELOW, Dialect
from server.config.entry_input import EntryInput
from server.config.findings import Findings
from server.config.keys import ALIASES, ELSEWHERE, NOT_ENFORCED, OPPOSITE_OF_DISABLED, URL_KEYS, WAITS
from server.config.sections import JsonObject, keys_of, warn_of_unknown_keys
from server.config.shapes import SHAPES, words

_OUR_WAITS = frozenset(("timeout", "totalTimeout", "startupTimeout"))

# Of our own keys, those that some host fills with another shape.
_OURS_TOO = frozenset(("command", "timeout", "headersHelper", "url"))

# What a host asks its user about, or refuses. Of objects, only a refusal can be taken over.
_PERMISSIONS = frozenset(("tools", "toolPermissions"))


def under_our_names(written: JsonObject, dialect: Dialect, where: str, findings: Findings) -> JsonObject:
    """The entry in our spelling; tells which keys are read as others, which are not used and which are not known."""
    ours = keys_of(EntryInput)
    elsewhere = {*ELSEWHERE, *ALIASES, *WAITS, *SHAPES, *URL_KEYS, OPPOSITE_OF_DISABLED}
    warn_of_unknown_keys(written, ours, where, findings, elsewhere)
    for key in written:
        if key in ELSEWHERE:
            findings.note_key_once(key, where, f"`{key}` is known from other hosts, and not used here.", ELSEWHERE[key])
    entry: JsonObject = {key: value for key, value in written.items() if key in ours and key not in _OURS_TOO}
    for key, part in _foreign(written):
        if key not in ours:
            _tell(key, written[key], part, (where, findings))
        for name, value in part.items():
            entry[name] = _joined(name, entry.get(name), value)
    for key in entry.keys() & _OUR_WAITS:
        entry[key] = _milliseconds(key, entry[key], dialect, where, findings)
    entry.update(_waits(written, entry, where, findings))
    enabled = written.get(OPPOSITE_OF_DISABLED)
    if enabled is not None and enabled is not True:
        entry["disabled"] = True if enabled is False else enabled
    return _as_the_host_means_it(entry, dialect)


def _foreign(written: JsonObject) -> Iterable[tuple[str, JsonObject]]:
    """Each key that another host has, or that has another shape there, with what it says in our words."""
    for key, value in written.items():
        if value is None:
            continue
        if key in ALIASES:
            yield key, {ALIASES[key]: value}
        elif key in SHAPES:
            yield key, SHAPES[key](value)
    url_key = next((key for key in URL_KEYS if written.get(key) is not None), None)
    if url_key is not None:
        yield url_key, {"url": written[url_key], **({"type": "http"} if url_key == "httpUrl" else {})}


def _tell(key: str, value: object, part: JsonObject, to: tuple[str, Findings]) -> None:
    where, findings = to
    if key in _PERMISSIONS and value and value != ["*"] and "includeTools" not in part:
        findings.note_key_once(key, where, f"What `{key}` refuses is left out; the rest is not enforced.", NOT_ENFORCED)
    elif part:
        names = " and ".join(f"`{name}`" for name in part)
        findings.note_key_once(key, where, f"`{key}` is read as {names}.", "Nothing to do; it works as it is.")


def _joined(key: str, ours: object, theirs: object) -> object:
    if ours is None:
        return theirs
    if key == "excludeTools" and isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *theirs]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**theirs, **ours}
    return ours


def _waits(written: JsonObject, entry: JsonObject, where: str, findings: Findings) -> JsonObject:
    found: JsonObject = {}
    for key, (ours, unit) in WAITS.items():
        value = written.get(key)
        if value is not None and entry.get(ours) is None and ours not in found:
            found[ours] = value * unit if _is_number(value) else value
            findings.note_key_once(
                key, where, f"`{key}` is read as `{ours}`, in milliseconds.", "Nothing to do; it works as it is."
            )
    return found


def _milliseconds(key: str, value: object, dialect: Dialect, where: str, findings: Findings) -> object:
    if not _is_number(value) or not 0 < value < dialect.seconds_below:
        return value
    if dialect.seconds_below == SECONDS_BELOW:
        message = f"`{key}` is below {SECONDS_BELOW}, and is read as seconds."
        findings.note("timeout_in_seconds", where, message, "Write milliseconds.")
    return value * 1000


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_the_host_means_it(entry: JsonObject, dialect: Dialect) -> JsonObject:
    if entry.get("url") is not None and entry.get("type") is None and not entry.get("command"):
        entry["type"] = dialect.transport
    command = entry.get("command")
    if dialect.splits_command and isinstance(command, str) and not entry.get("args"):
        entry["command"] = words(command)
    for place in ("env", "headers"):
        values = entry.get(place)
        if isinstance(values, dict):
            entry[place] = {name: secret_reference(value) for name, value in values.items()}
    if dialect.variable is None:
        return entry
    return {
        key: _referring(value, dialect.variable) if key in (dialect.variable_in or entry) else value
        for key, value in entry.items()
    }


def _referring(value: object, variable: re.Pattern[str]) -> object:
    """Every reference in the host's form becomes one in ours."""
    if isinstance(value, str):
        return variable.sub(lambda found: f"${{{found[1] or 'env'}:{found[2]}}}", value)
    if isinstance(value, list):
        return [_referring(item, variable) for item in value]
    if isinstance(value, dict):
        return {key: _referring(item, variable) for key, item in value.items()}
    return value


def secret_reference(value: object) -> object:
    """OpenClaw's `{"source": "env", "id": "NAME"}` in place of a value."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str) or not isinstance(value.get("source"), str):
        return value
    return f"${{{'env' if value['source'] == 'env' else 'secret'}:{value['id']}}}"
