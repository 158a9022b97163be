from collections.abc import Callable

import pytest

from server.config import Settings, ToolSearchSettings

ABSENT = object()
DEFAULTS = ToolSearchSettings()


def read(settings_of: Callable[..., Settings], tool_search: object) -> tuple[ToolSearchSettings, list[tuple[str, str]]]:
    gateway = {} if tool_search is ABSENT else {"toolSearch": tool_search}
    settings = settings_of({"mcpServers": {}, "gateway": gateway})
    return settings.gateway.tool_search, [(finding.severity, finding.code) for finding in settings.findings]


def test_the_defaults_are_those_of_the_specification() -> None:
    expected = ToolSearchSettings(
        requested_mode="tools", code_timeout_ms=10_000, search_default_limit=8, max_search_limit=20
    )
    assert expected == DEFAULTS


@pytest.mark.parametrize(
    ("written", "requested", "codes"),
    [
        (ABSENT, "tools", []),
        (None, "tools", []),
        ({"mode": "tools"}, "tools", []),
        (True, "code", []),
        ({}, "code", []),
        ({"mode": None}, "code", []),
        ({"mode": "code"}, "code", []),
        ({"mode": "directory"}, "directory", ["mode_not_available"]),
        (False, "off", ["mode_not_available"]),
        ("tools", "tools", ["wrong_type"]),
        (1, "tools", ["wrong_type"]),
        ([], "tools", ["wrong_type"]),
        ({"mode": "tool"}, "tools", ["wrong_type"]),
        ({"mode": 3}, "tools", ["wrong_type"]),
    ],
)
def test_a_mode_that_can_t_be_published_is_tools_and_the_mode_asked_for_is_kept(
    settings_of: Callable[..., Settings], written: object, requested: str, codes: list[str]
) -> None:
    tool_search, findings = read(settings_of, written)
    assert tool_search.mode == ("code" if requested == "code" else "tools")
    assert tool_search.requested_mode == requested
    assert findings == [("warning", code) for code in codes]


@pytest.mark.parametrize(
    ("key", "written", "expected", "codes"),
    [
        ("codeTimeoutMs", 999, (1000, 8, 20), ["out_of_bounds"]),
        ("codeTimeoutMs", 1000, (1000, 8, 20), []),
        ("codeTimeoutMs", 60_000, (60_000, 8, 20), []),
        ("codeTimeoutMs", 60_001, (60_000, 8, 20), ["out_of_bounds"]),
        ("codeTimeoutMs", 2000.0, (2000, 8, 20), []),
        ("codeTimeoutMs", 2000.5, (10_000, 8, 20), ["wrong_type"]),
        ("codeTimeoutMs", "2000", (10_000, 8, 20), ["wrong_type"]),
        ("codeTimeoutMs", True, (10_000, 8, 20), ["wrong_type"]),
        ("codeTimeoutMs", None, (10_000, 8, 20), []),
        ("maxSearchLimit", 0, (10_000, 1, 1), ["out_of_bounds"]),
        ("maxSearchLimit", 1, (10_000, 1, 1), []),
        ("maxSearchLimit", 5, (10_000, 5, 5), []),
        ("maxSearchLimit", 50, (10_000, 8, 50), []),
        ("maxSearchLimit", 51, (10_000, 8, 50), ["out_of_bounds"]),
        ("maxSearchLimit", 10**30, (10_000, 8, 50), ["out_of_bounds"]),
        ("maxSearchLimit", [20], (10_000, 8, 20), ["wrong_type"]),
        ("searchDefaultLimit", 0, (10_000, 1, 20), ["out_of_bounds"]),
        ("searchDefaultLimit", -(10**400), (10_000, 1, 20), ["out_of_bounds"]),
        ("searchDefaultLimit", 20, (10_000, 20, 20), []),
        ("searchDefaultLimit", 21, (10_000, 20, 20), ["out_of_bounds"]),
        ("searchDefaultLimit", {}, (10_000, 8, 20), ["wrong_type"]),
    ],
)
def test_numbers_are_clamped_and_wrong_types_fall_back(
    settings_of: Callable[..., Settings], key: str, written: object, expected: tuple[int, int, int], codes: list[str]
) -> None:
    tool_search, findings = read(settings_of, {"mode": "tools", key: written})
    numbers = (tool_search.code_timeout_ms, tool_search.search_default_limit, tool_search.max_search_limit)
    assert numbers == expected
    assert findings == [("warning", code) for code in codes]


def test_the_default_limit_is_clamped_to_a_larger_maximum_than_the_default(
    settings_of: Callable[..., Settings],
) -> None:
    tool_search, findings = read(settings_of, {"mode": "tools", "maxSearchLimit": 50, "searchDefaultLimit": 40})
    assert (tool_search.search_default_limit, tool_search.max_search_limit, findings) == (40, 50, [])


def test_a_number_that_is_none_falls_back(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of('{"gateway": {"toolSearch": {"mode": "tools", "maxSearchLimit": NaN}}}')
    assert settings.gateway.tool_search == DEFAULTS
    assert [finding.code for finding in settings.findings] == ["wrong_type"]


@pytest.mark.parametrize(
    ("key", "severity", "code"),
    [
        ("maxsearchlimit", "warning", "unknown_key"),
        ("limit", "warning", "unknown_key"),
        ("directory", "note", "not_used_yet"),
    ],
)
def test_other_keys_are_told(settings_of: Callable[..., Settings], key: str, severity: str, code: str) -> None:
    assert read(settings_of, {"mode": "tools", key: {}}) == (DEFAULTS, [(severity, code)])
