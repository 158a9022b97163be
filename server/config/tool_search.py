"""`gateway.toolSearch`: its shorthands, its defaults and its clamps, to the letter of the specification.

Absent means `tools`; `true` means `code`; an object without `mode` means `code`; `false` disables.
"""

from typing import Literal

from server.config.findings import Findings, closest
from server.config.sections import JsonObject, keys_of, read_section, warn_of_mended, warn_of_unknown_keys
from server.config.settings import RequestedMode, Section, ToolSearchSettings

# Known to the specification, not published by this version.
_NOT_YET = ("directory",)
_NUMBERS = keys_of(ToolSearchSettings) - {"requestedMode"}


class _Mode(Section):
    mode: Literal["tools", "code", "directory"] = "tools"


def read_tool_search(written: object, where: str, findings: Findings) -> ToolSearchSettings:
    settings = _read(written, where, findings)
    if settings.requested_mode != settings.mode:  # whether `code` can be had is found out at the start (server.modes)
        asked = "false" if settings.requested_mode == "off" else settings.requested_mode
        message = f"Mode `{asked}` is not available in this version; `{settings.mode}` is used."
        findings.warn("mode_not_available", where, message, 'Write {"mode": "tools"}, or leave `toolSearch` out.')
    return settings


def _read(written: object, where: str, findings: Findings) -> ToolSearchSettings:
    if written is None:
        return ToolSearchSettings()
    if isinstance(written, bool):
        return ToolSearchSettings(requested_mode="code" if written else "off")
    if isinstance(written, dict):
        return _read_object(written, where, findings)
    findings.warn("wrong_type", where, "`toolSearch` should be an object, true or false.", "The default is used.")
    return ToolSearchSettings()


def _read_object(written: JsonObject, where: str, findings: Findings) -> ToolSearchSettings:
    warn_of_unknown_keys(written, {"mode", *_NUMBERS}, where, findings, _NOT_YET)
    for key in _NOT_YET:
        if key in written:
            findings.note("not_used_yet", where, f"`{key}` is not used by this version.", "It may stay.")
    numbers = read_section(ToolSearchSettings, {key: value for key, value in written.items() if key in _NUMBERS})
    warn_of_mended(numbers.mended, where, findings)
    settings = numbers.section.model_copy(update={"requested_mode": _requested_mode(written, where, findings)})
    most = settings.max_search_limit
    if settings.search_default_limit <= most:
        return settings
    if "search_default_limit" in settings.model_fields_set:
        message = f"`searchDefaultLimit` is larger than `maxSearchLimit`; {most} is used."
        findings.warn("out_of_bounds", where, message, "Lower it, or raise `maxSearchLimit`.")
    return settings.model_copy(update={"search_default_limit": most})


def _requested_mode(written: JsonObject, where: str, findings: Findings) -> RequestedMode:
    mode = written.get("mode")
    if mode is None:
        return "code"
    reading = read_section(_Mode, {"mode": mode})
    if reading.mended:
        meant = closest(mode, ("tools", "code", "directory")) if isinstance(mode, str) else None
        fix = f"Did you mean `{meant}`? " if meant else ""
        findings.warn("wrong_type", where, reading.mended[0].message, f"{fix}The default, `tools`, is used.")
    return reading.section.mode
