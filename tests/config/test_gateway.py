from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from server.config import (
    Directories,
    Finding,
    GatewaySettings,
    LimitSettings,
    LogSettings,
    PolicySettings,
    ProfileSettings,
    Settings,
    StartupSettings,
)
from server.session_log import log_folder

SERVERS = {"time": {"command": "uvx", "args": ["mcp-server-time"]}, "my files": {"command": "npx"}}
NOTHING_PASSES = PolicySettings(allow=(), deny=("*",))


def codes(settings: Settings) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in settings.findings]


def test_without_gateway_settings_everything_has_a_default(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {}})
    assert settings.gateway == GatewaySettings()
    assert settings.gateway.limits == LimitSettings(
        line_bytes=4_194_304, result_bytes=65_536, call_idle_ms=120_000, call_total_ms=600_000
    )
    assert settings.gateway.startup == StartupSettings(mode="eager", concurrency=None, timeout_ms=60_000)
    assert settings.gateway.policy == PolicySettings(allow=("*",), deny=())
    assert settings.gateway.log == LogSettings(level="info")


def test_every_setting_is_read(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of(
        {
            "mcpServers": SERVERS,
            "gateway": {
                "directTools": ["mcp:time:get_current_time", "mcp:time:*"],
                "policy": {"allow": ["mcp:*"], "deny": "mcp:time:convert_*"},
                "startup": {"mode": "lazy", "concurrency": 3, "timeoutMs": 5000},
                "limits": {"lineBytes": 10_000, "resultBytes": 2000, "callIdleMs": 500, "callTotalMs": 900},
                "log": {"level": "debug"},
                "hints": "safe",
                "semantic": True,
            },
        }
    )
    assert settings.gateway == GatewaySettings(
        direct_tools=("mcp:time:get_current_time", "mcp:time:*"),
        policy=PolicySettings(allow=("mcp:*",), deny=("mcp:time:convert_*",)),
        startup=StartupSettings(mode="lazy", concurrency=3, timeout_ms=5000),
        limits=LimitSettings(line_bytes=10_000, result_bytes=2000, call_idle_ms=500, call_total_ms=900),
        log=LogSettings(level="debug"),
        hints="safe",
        semantic=True,
    )
    assert settings.findings == ()


@pytest.mark.parametrize(
    ("written", "below"),
    [("/var/log/../log/toolfold", "/var/log/../log/toolfold"), ("~/logs", "{home}/logs"), ("a/b", "/state/a/b")],
)
def test_logs_go_to_any_whole_path_and_else_stay_within_the_state_folder(
    settings_of: Callable[..., Settings], written: str, below: str
) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": {"log": {"sessionDir": written}}})
    places = Directories(Path("/cache"), Path("/state"), Path("/data"))
    assert log_folder(settings.gateway.log, places) == Path(below.format(home=Path.home()))
    assert codes(settings) == []


@pytest.mark.parametrize(
    ("gateway", "code"),
    [
        ({"startup": {"mode": "soon"}}, "wrong_type"),
        ({"startup": {"concurrency": "4"}}, "wrong_type"),
        ({"startup": []}, "wrong_type"),
        ({"limits": 5}, "wrong_type"),
        ({"limits": {"lineBytes": "4MB"}}, "wrong_type"),
        ({"log": {"level": "loud"}}, "wrong_type"),
        ({"log": {"sessionDir": "../logs"}}, "wrong_type"),
        ({"log": {"sessionDir": "a/../../b"}}, "wrong_type"),
        ({"log": {"sessionDir": True}}, "wrong_type"),
        ({"hints": True}, "wrong_type"),
        ({"semantic": "yes"}, "wrong_type"),
        ({"directTools": {"a": 1}}, "wrong_type"),
        ({"directTools": [1]}, "wrong_type"),
        ({"lmits": {}}, "unknown_key"),
    ],
)
def test_a_wrong_type_falls_back_with_one_warning(
    settings_of: Callable[..., Settings], gateway: object, code: str
) -> None:
    settings = settings_of({"mcpServers": SERVERS, "gateway": gateway})
    assert settings.gateway == GatewaySettings()
    assert codes(settings) == [("warning", code)]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"lineBytes": 1}, LimitSettings(line_bytes=4096)),
        ({"resultBytes": 10**12}, LimitSettings(result_bytes=64 * 1024 * 1024)),
        ({"callIdleMs": -1, "callTotalMs": 10**12}, LimitSettings(call_idle_ms=100, call_total_ms=86_400_000)),
    ],
)
def test_a_limit_out_of_bounds_is_clamped_with_a_warning(
    settings_of: Callable[..., Settings], limits: dict[str, int], expected: LimitSettings
) -> None:
    settings = settings_of({"gateway": {"limits": limits}})
    assert settings.gateway.limits == expected
    assert codes(settings) == [("warning", "out_of_bounds")] * len(limits)


@pytest.mark.parametrize(
    "gateway",
    [
        "everything",
        {"policy": "mcp:*"},
        {"policy": {"allow": {"mcp:time:*": True}}},
        {"policy": {"deny": [["mcp:time:*"]]}},
        {"policy": {"allow": ["mcp:time:*"], "deny": 0}},
    ],
)
def test_a_policy_that_cannot_be_read_lets_nothing_pass(settings_of: Callable[..., Settings], gateway: object) -> None:
    settings = settings_of({"mcpServers": SERVERS, "gateway": gateway})
    assert settings.gateway.policy == NOTHING_PASSES
    assert [finding.severity for finding in settings.findings] == ["error"]


@pytest.mark.parametrize(
    ("written", "pins"), [("off", "off"), ("strict", "strict"), ("srtict", "strict"), (5, "strict")]
)
def test_pins_that_cannot_be_read_are_strict(settings_of: Callable[..., Settings], written: object, pins: str) -> None:
    settings = settings_of({"mcpServers": SERVERS, "gateway": {"pins": written}})
    assert settings.gateway.pins == pins
    fixes = [finding.fix for finding in settings.findings]
    assert fixes == (["The strictest, 'strict', is used; correct the value."] if written != pins else [])


def test_an_empty_allow_list_is_kept_apart_from_none(settings_of: Callable[..., Settings]) -> None:
    assert settings_of({"gateway": {"policy": {"allow": []}}}).gateway.policy == PolicySettings(allow=(), deny=())
    assert settings_of({"gateway": {"policy": {"deny": []}}}).gateway.policy == PolicySettings(allow=("*",), deny=())


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ({"directtools": []}, "Did you mean `directTools`?"),
        ({"toolsearch": {}}, "Did you mean `toolSearch`?"),
        ({"startup": {"timeout": 5}}, "Did you mean `timeoutMs`?"),
        ({"limits": {"line_bytes": 5000}}, "Did you mean `lineBytes`?"),
        ({"log": {"levle": "info"}}, "Did you mean `level`?"),
        ({"toolSearch": {"mode": "tools", "maxSearchLimt": 3}}, "Did you mean `maxSearchLimit`?"),
        ({"zzzzz": 1}, "Remove it, or check its spelling."),
    ],
)
def test_an_unknown_key_is_answered_with_the_one_that_was_meant(
    settings_of: Callable[..., Settings], written: object, fix: str
) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": written})
    assert settings.gateway == GatewaySettings()
    assert [(finding.code, finding.fix) for finding in settings.findings] == [("unknown_key", fix)]


@pytest.mark.parametrize(
    "written",
    [
        {"polciy": {"deny": ["*:delete_*"]}},
        {"Policy": {"deny": ["*:delete_*"]}},
        {"profile": {"reader": {"readOnly": True}}},
        {"hook": {"beforeCall": ["x"]}},
        {"policy": {"denied": ["*:delete_*"]}},
        {"policy": {"Block": ["*:delete_*"]}},
        {"policy": {"deny": [], "zzzzz": 1}},
    ],
)
def test_a_slip_in_what_keeps_something_back_lets_nothing_pass(
    settings_of: Callable[..., Settings], written: object
) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": written})
    assert settings.gateway.policy == NOTHING_PASSES
    assert codes(settings) == [("warning", "unknown_key"), ("error", "bad_policy")]


def test_a_profile_with_a_key_that_nobody_knows_lets_nothing_pass(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": {"profiles": {"reader": {"blok": ["*"]}, "b": {"//": "why"}}}})
    assert settings.gateway.profiles["reader"] == ProfileSettings(allow=(), deny=("*",))
    assert settings.gateway.profiles["b"] == ProfileSettings()
    assert codes(settings) == [("warning", "unknown_key"), ("error", "bad_policy")]


@pytest.mark.parametrize(
    ("gateway", "severity"),
    [
        ({"inputs": []}, "note"),
        ({"startup": {"waitMs": 5}}, "note"),
    ],
)
def test_a_setting_of_a_later_version_is_told(
    settings_of: Callable[..., Settings], gateway: object, severity: str
) -> None:
    assert codes(settings_of({"gateway": gateway})) == [(severity, "not_used_yet")]


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [
        ("time:get_current_time", "Write `mcp:time:get_current_time`."),
        ("get_current_time", "Ids read `mcp:<server>:<tool>`."),
        ("mpc:time:get_current_time", "Did you mean `mcp:…`?"),
        ("mcp:tme:get_current_time", "Did you mean `mcp:time:…`?"),
        ("mcp:weather:*", "There is no such key under `mcpServers`."),
        ("mcp:my files:*", "Did you mean `mcp:my-files-"),
    ],
)
def test_an_id_or_glob_that_can_match_nothing_is_told(
    settings_of: Callable[..., Settings], pattern: str, fix: str
) -> None:
    for gateway in ({"directTools": [pattern]}, {"policy": {"deny": [pattern]}}, {"policy": {"allow": [pattern]}}):
        settings = settings_of({"mcpServers": SERVERS, "gateway": gateway})
        assert codes(settings) == [("warning", "matches_nothing")]
        assert settings.findings[0].fix.startswith(fix)


@pytest.mark.parametrize("pattern", ["*", "mcp:*", "*:time:*", "mcp:*:get", "mcp:t*:x", "openclaw:core:a", "*delete*"])
def test_a_glob_that_may_match_is_left_alone(settings_of: Callable[..., Settings], pattern: str) -> None:
    assert settings_of({"mcpServers": SERVERS, "gateway": {"policy": {"deny": [pattern]}}}).findings == ()


def test_settings_cannot_be_changed_or_built_out_of_bounds_and_errors_do_not_show_the_input() -> None:
    with pytest.raises(ValidationError) as caught:
        LimitSettings(line_bytes=-4242)
    assert "4242" not in str(caught.value)
    with pytest.raises(ValidationError):
        GatewaySettings().limits = LimitSettings()


def test_a_finding_says_where(settings_of: Callable[..., Settings], tmp_path: object) -> None:
    settings = settings_of({"gateway": {"log": {"level": 3}}})
    assert settings.findings == (
        Finding(
            "warning",
            "wrong_type",
            f"{tmp_path}/mcp.json: gateway.log",
            "`level` should be 'debug', 'info', 'warning' or 'error'.",
            "The default is used; correct the value.",
        ),
    )


HASH = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"


@pytest.mark.parametrize(
    ("http", "tokens", "told"),
    [
        ({}, {}, []),
        ({"tokens": {"me": f"sha256:{HASH}", "you": HASH}}, {"me": HASH, "you": HASH}, []),
        ({"tokens": {"me": "hunter2"}}, {"me": ""}, [("error", "bad_token")]),
        ({"tokens": {"me": HASH.upper()}}, {"me": ""}, [("error", "bad_token")]),
        ({"tokens": {"me": 5}}, {"unreadable": ""}, [("warning", "wrong_type"), ("error", "bad_token")]),
        ({"tokens": [HASH]}, {"unreadable": ""}, [("warning", "wrong_type"), ("error", "bad_token")]),
        ([HASH], {"unreadable": ""}, [("warning", "wrong_type"), ("error", "bad_token")]),
    ],
)
def test_tokens_that_cannot_be_read_let_nobody_in(
    settings_of: Callable[..., Settings], http: object, tokens: dict[str, str], told: list[tuple[str, str]]
) -> None:
    settings = settings_of({"mcpServers": {}, "gateway": {"http": http}})
    assert {name: token.hash for name, token in settings.gateway.http.tokens.items()} == tokens
    assert codes(settings) == told
    assert "hunter2" not in repr(settings.findings)
