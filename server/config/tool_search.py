"""`gateway.toolSearch`: its shorthands, its defaults and its clamps, to the letter of the specification.

Absent means `tools`; `true` means `code`; an object without `mode` means `code`; `false` disables.
Whether mode `code` can be had is found out later, at the start (`server.modes`).
"""

from typing import Literal, get_args

from server.config.findings import Findings, closest
from server.config.sections import JsonObject, keys_of, read_section, warn_of_mended, warn_of_unknown_keys
from server.config.settings import MOST_SCHEMAS, DirectorySettings, Mode, Section, ToolSearchSettings

_NUMBERS = keys_of(ToolSearchSettings) - {"mode", "directory"}

WrittenMode = Literal["tools", "code", "directory", "auto"]


class _Mode(Section):
    mode: WrittenMode = "tools"


def read_tool_search(written: object, where: str, findings: Findings) -> ToolSearchSettings:
    if written is None:
        return ToolSearchSettings()
    if isinstance(written, bool):
        return ToolSearchSettings(mode="code" if written else "off")
    if isinstance(written, dict):
        return _read_object(written, where, findings)
    findings.warn("wrong_type", where, "`toolSearch` should be an object, true or false.", "The default is used.")
    return ToolSearchSettings()


def _read_object(written: JsonObject, where: str, findings: Findings) -> ToolSearchSettings:
    warn_of_unknown_keys(written, {"mode", "directory", *_NUMBERS}, where, findings)
    numbers = read_section(ToolSearchSettings, {key: value for key, value in written.items() if key in _NUMBERS})
    warn_of_mended(numbers.mended, where, findings)
    mode = _mode(written, where, findings)
    directory = _directory(written.get("directory"), f"{where}.directory", findings)
    settings = numbers.section.model_copy(update={"mode": mode, "directory": directory})
    most = settings.max_search_limit
    if settings.search_default_limit <= most:
        return settings
    if "search_default_limit" in settings.model_fields_set:
        message = f"`searchDefaultLimit` is larger than `maxSearchLimit`; {most} is used."
        findings.warn("out_of_bounds", where, message, "Lower it, or raise `maxSearchLimit`.")
    return settings.model_copy(update={"search_default_limit": most})


def _mode(written: JsonObject, where: str, findings: Findings) -> Mode:
    mode = written.get("mode")
    if mode is None:
        return "code"
    reading = read_section(_Mode, {"mode": mode})
    if reading.mended:
        meant = closest(mode, get_args(WrittenMode)) if isinstance(mode, str) else None
        fix = f"Did you mean `{meant}`? " if meant else ""
        findings.warn("wrong_type", where, reading.mended[0].message, f"{fix}The default, `tools`, is used.")
    return reading.section.mode


def _directory(written: object, where: str, findings: Findings) -> DirectorySettings:
    if written is None:
        return DirectorySettings()
    if not isinstance(written, dict):
        findings.warn("wrong_type", where, "`directory` should be an object.", "The defaults are used.")
        return DirectorySettings()
    warn_of_unknown_keys(written, keys_of(DirectorySettings), where, findings)
    reading = read_section(DirectorySettings, written)
    warn_of_mended(reading.mended, where, findings)
    schemas = tuple(dict.fromkeys(reading.section.schemas))
    if any(set(name) & set("*?[") for name in schemas):
        message = "`schemas` takes ids, and no globs: what is published in full must not grow by itself."
        findings.warn("matches_nothing", where, message, "Write the ids out: `mcp:<server>:<tool>`.")
    if len(schemas) > MOST_SCHEMAS:
        message = f"`schemas` names {len(schemas)} tools; the first {MOST_SCHEMAS} are published in full."
        findings.warn("out_of_bounds", where, message, "Keep those that are used in most sessions.")
    return reading.section.model_copy(update={"schemas": schemas[:MOST_SCHEMAS]})
