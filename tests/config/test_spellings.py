from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config import ServerEntry, Settings
from server.config.dialects import BARE, DIALECTS
from server.config.entry_input import EntryInput
from server.config.findings import Findings
from server.config.keys import ALIASES, ELSEWHERE, URL_KEYS, WAITS
from server.config.sections import keys_of, read_section
from server.config.shapes import SHAPES
from server.config.spellings import under_our_names


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"tools": ["*"]}, {}),
        ({"tools": ["a", "*"]}, {}),
        ({"tools": {"a": {"approval_mode": "approve"}}}, {}),
        ({"tools": []}, {"exclude_tools": ("*",)}),
        ({"enabled_tools": []}, {"exclude_tools": ("*",)}),
        ({"available_tools": []}, {}),
        ({"toolFilter": {"include": ["a"]}}, {"include_tools": ("a",)}),
        ({"toolFilter": {}}, {}),
        ({"toolPermissions": {"a": "blocked", "b": "ask"}, "excludeTools": ["c"]}, {"exclude_tools": ("c", "a")}),
        ({"env_vars": []}, {}),
        ({"env": {"A": "ours"}, "envs": {"A": "theirs", "B": "2"}}, {"env": {"A": "ours", "B": "2"}}),
        ({"headersHelper": "x 'y z'"}, {}),
        ({"tool_timeout_sec": 0.5}, {"timeout_seconds": 0.5}),
        ({"timeout": 5000, "tool_timeout_sec": 9}, {"timeout_seconds": 5.0}),
        ({"requestTimeoutMs": 200}, {"timeout_seconds": 0.2}),
        ({"startupTimeout": 30}, {"start_timeout_seconds": 30.0}),
        ({"timeout": {"request": 2000}}, {"timeout_seconds": 2.0}),
        ({"timeout": 1800, "autoApprove": []}, {"timeout_seconds": 1800.0, "total_timeout_seconds": 1800.0}),
        ({"timeout": 3600, "alwaysAllow": []}, {"timeout_seconds": 3600.0, "total_timeout_seconds": 3600.0}),
        ({"timeout": 4000, "alwaysAllow": []}, {"timeout_seconds": 4.0}),
        ({"type": "LOCAL"}, {}),
        ({"transport": "stdio", "url": "https://x"}, {}),
        ({"timeout": 2}, {"timeout_seconds": 2.0}),
    ],
)
def test_other_shapes_are_read(
    settings_of: Callable[..., Settings], written: dict[str, object], expected: dict[str, object]
) -> None:
    (entry,) = settings_of({"mcpServers": {"a": {"command": "x", **written}}}).servers
    plain = ServerEntry(key="a", owner="a", command="x", env={}, fingerprint=entry.fingerprint)
    assert replace(entry, env=dict(entry.env)) == replace(plain, **expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ({"toolFilter": ["a", 1]}, "`includeTools[1]`"),
        ({"toolFilter": {"exclude": {"a": 1}}}, "`excludeTools`"),
        ({"allowedTools": [1]}, "`includeTools[0]`"),
        ({"env_vars": [{"source": "local"}]}, "`passEnv[0]`"),
        ({"headersHelper": 3}, "`headersHelper`"),
        ({"http_headers_helper": {"args": ["a"]}}, "`headersHelper[0]`"),
        ({"bearer_token_env_var": 3}, "`headers`"),
        ({"env_http_headers": {"A": 1.5}}, "`headers.A`"),
        ({"env_http_headers": ["A"]}, "`headers`"),
        ({"requestOptions": {"headers": ["A"]}}, "`headers`"),
        ({"env": {"A": {"source": "exec", "id": "vault"}}}, "`${secret:vault}`"),
        ({"env": {"A": {"source": "env"}}}, "`env.A`"),
        ({"command": {"path": 3}}, "`command`"),
        ({"url": ["https://x"]}, "`url`"),
    ],
)
def test_what_has_a_wrong_type_under_another_name_marks_the_entry_as_under_ours(
    settings_of: Callable[..., Settings], written: dict[str, object], named: str
) -> None:
    (entry,) = settings_of({"mcpServers": {"a": {"command": "x", **written}}}).servers
    assert named in entry.problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just("*"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "source", "a"]), inner),
    max_leaves=5,
)
KEYS = sorted({*keys_of(EntryInput), *ALIASES, *WAITS, *SHAPES, *URL_KEYS, *ELSEWHERE, "enabled"})


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.sampled_from([*DIALECTS, BARE]))
@settings(max_examples=300, deadline=None)
def test_no_entry_breaks_the_reading(entry: dict[str, object], dialect: object) -> None:
    named = under_our_names(entry, next(each for each in (*DIALECTS, BARE) if each is dialect), "here", Findings())
    assert named.keys() <= keys_of(EntryInput)
    read_section(EntryInput, named)


def test_several_files_of_several_hosts_merge_in_order(write: Callable[..., Path], tmp_path: Path) -> None:
    from server.config import load

    files = [
        write('[mcp_servers.a]\ncommand = "one"\n[mcp_servers.b]\ncommand = "two"\n', "config.toml"),
        write("extensions:\n  b: {type: stdio, cmd: three, timeout: 2000, enabled: true}\n", "sub/config.yaml"),
        write({"servers": {"c": {"command": "four"}}, "gateway": {"hints": "safe"}}, "c.json"),
    ]
    read = load(files, {}, tmp_path)
    assert [(server.key, server.command, server.timeout_seconds) for server in read.servers] == [
        ("a", "one", None),
        ("b", "three", 2000.0),
        ("c", "four", None),
    ]
    assert read.gateway.hints == "safe"
    assert (read.sources, read.findings[1:]) == (tuple(files), ())
