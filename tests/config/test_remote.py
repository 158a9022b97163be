from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import Remote, Settings, load
from server.config.dialects import DIALECTS
from server.config.entry_input import EntryInput
from server.config.findings import Findings
from server.config.launch import Site
from server.config.places import is_users_own
from server.config.remote import Connection, connection_of
from server.config.sections import read_section
from server.config.spellings import under_our_names

PLAIN = next(dialect for dialect in DIALECTS if dialect.name == "mcp.json")


def connect(entry: dict[str, object], *, is_users_own: bool = True) -> tuple[Connection, list[tuple[str, str]]]:
    findings = Findings()
    named = under_our_names(entry, PLAIN, "here", Findings())
    site = Site(Path("/srv"), {}, "here", is_users_own)
    connection = connection_of(read_section(EntryInput, named).section, {}, site, findings)
    return connection, [(finding.severity, finding.code) for finding in findings.found()]


@pytest.mark.parametrize(
    ("kind", "transport"),
    [
        (None, "auto"), ("http", "http"), ("streamable-http", "http"), ("streamableHttp", "http"), ("HTTP", "http"),
        ("streamable_http", "http"), ("sse", "sse"), ("SSE", "sse"), ("remote", "auto"), ("auto", "auto"), ("pipe", "auto"),
    ],
)  # fmt: skip
def test_every_synonym_of_a_transport_is_read(kind: str | None, transport: str) -> None:
    connection, _ = connect({"type": kind, "url": "https://x.test/mcp"})
    assert connection.remote is not None
    assert connection.remote.transport == transport


@pytest.mark.parametrize(
    ("url", "transport", "attempts"),
    [
        ("https://x.test/mcp", "auto", ("http", "sse")),
        ("https://x.test/sse", "auto", ("sse", "http")),
        ("https://x.test/sse/?a=/mcp", "auto", ("sse", "http")),
        ("https://x.test/sse", "http", ("http",)),
        ("https://x.test/mcp", "sse", ("sse",)),
    ],
)
def test_the_transports_to_try_are_told_in_order(url: str, transport: str, attempts: tuple[str, ...]) -> None:
    assert connect({"url": url, "type": transport})[0].remote == Remote(url, transport)  # type: ignore[arg-type]
    assert Remote(url, transport).attempts == attempts  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"type": "http"}, "no_url"),
        ({"type": "http", "command": "x"}, "no_url"),
        ({"type": "ws", "url": "https://x"}, "no_websocket"),
        ({"url": "wss://x"}, "bad_url"),
        ({"url": "unix:///run/x.sock"}, "bad_url"),
        ({"url": "pipe:///x"}, "bad_url"),
        ({"url": "file:///etc/passwd"}, "bad_url"),
        ({"url": "x.test/mcp"}, "bad_url"),
        ({"url": "https://"}, "bad_url"),
        ({"url": "https://x:port/"}, "bad_url"),
        ({"url": "https://[x/"}, "bad_url"),
        ({"url": "https://x/a b"}, "bad_url"),
        ({"url": "https://x/\r\nHost: y"}, "bad_url"),
        ({"url": "https://x", "headers": {"A B": "c"}}, "bad_header"),
        ({"url": "https://x", "headers": {"": "c"}}, "bad_header"),
        ({"url": "https://x", "headers": {"A": "c\r\nB: d"}}, "bad_header"),
        ({"url": "https://x", "headers": {"A": "c\u2028"}}, "bad_header"),
        ({"url": "https://x", "headersHelper": "y"}, "helper_not_trusted"),
    ],
)
def test_what_cannot_be_connected_to_is_marked(entry: dict[str, object], code: str) -> None:
    connection, _ = connect(entry, is_users_own=False)
    assert connection.remote is None
    assert code in [trouble.code for trouble in connection.troubles]


def test_a_helper_that_is_not_trusted_is_told_where_it_would_be() -> None:
    place = "~/.config/toolfold/mcp.json"
    connection, _ = connect({"url": "https://x", "headersHelper": "y"}, is_users_own=False)
    assert [place in trouble.fix for trouble in connection.troubles] == [True]
    assert is_users_own(Path(place.replace("~", "/home/ann")), {"HOME": "/home/ann"})


def test_headers_of_the_transport_and_empty_ones_are_not_sent() -> None:
    headers = {"Accept": "x", "mcp-session-id": "x", "Empty": " ", "a": "1", "A": "2", "B": " padded "}
    connection, findings = connect({"url": "https://x.test", "headers": headers})
    assert connection.remote is not None
    assert dict(connection.remote.headers) == {"A": "2", "B": "padded"}
    assert findings == [("note", "header_of_transport")] * 2 + [("note", "empty_header")]


def test_a_secret_over_plain_http_is_warned_about_but_not_on_this_machine() -> None:
    headers = {"Authorization": "Bearer x"}
    assert connect({"url": "http://x.test/mcp", "headers": headers})[1] == [("warning", "plain_http")]
    assert connect({"url": "http://127.0.0.1:80/mcp", "headers": headers})[1] == []
    assert connect({"url": "http://x.test/mcp", "headers": {"A": "b"}})[1] == []


def test_secrets_of_a_remote_entry_are_known_and_shown_nowhere(settings_of: Callable[..., Settings]) -> None:
    entry = {
        "url": "https://ann:pass-hunter2@x.test/mcp?api_key=key-hunter2&page=page-hunter2",
        "headers": {"Authorization": "Bearer bearer-hunter2", "X-Api-Key": "${KEY}", "X-Page": "page-hunter2"},
    }
    read = settings_of({"mcpServers": {"a": entry}}, KEY="envkey-hunter2")
    (server,) = read.servers
    assert server.secrets == {
        "pass-hunter2", "ann:pass-hunter2", "key-hunter2", "bearer-hunter2", "Bearer bearer-hunter2", "envkey-hunter2"
    }  # fmt: skip
    assert "hunter2" not in repr(read)


def test_the_fingerprint_of_a_remote_entry_changes_with_what_decides_the_listing() -> None:
    def fingerprint(**entry: object) -> str:
        return connect({"url": "https://x.test/mcp", **entry})[0].fingerprint

    assert fingerprint() == fingerprint(timeout=5000, headers={"Empty": ""})
    changed = [fingerprint(url="https://x.test/"), fingerprint(headers={"A": "b"}), fingerprint(type="sse")]
    assert len({fingerprint(), *changed}) == 4


@pytest.mark.parametrize(
    ("path", "environ", "own"),
    [
        ("/home/ann/.claude.json", {"HOME": "/home/ann"}, True),
        ("/home/ann/.config/toolfold/mcp.json", {"HOME": "/home/ann"}, True),
        ("/home/ann/Library/Application Support/x.json", {"HOME": "/home/ann"}, True),
        ("/home/ann/mcp.json", {"HOME": "/home/ann"}, False),
        ("/home/ann/garden/.mcp.json", {"HOME": "/home/ann"}, False),
        ("/home/ann/.config/../garden/.mcp.json", {"HOME": "/home/ann"}, False),
        ("/home/ann/.cache/checkouts/x/.mcp.json", {"HOME": "/home/ann"}, False),
        ("/home/ann", {"HOME": "/home/ann"}, False),
        ("/.x.json", {"HOME": ""}, False),
        ("/home/anna/.claude.json", {"HOME": "/home/ann"}, False),
        ("/etc/xdg/x.json", {"XDG_CONFIG_HOME": "/etc/xdg"}, True),
        ("/srv/x.json", {"XDG_CONFIG_HOME": ""}, False),
        ("/srv/.x.json", {}, False),
    ],
)
def test_a_file_among_a_persons_settings_is_told_from_one_of_a_project(
    path: str, environ: dict[str, str], own: bool
) -> None:
    assert is_users_own(Path(path), environ) is own


def test_a_helper_of_a_project_file_is_refused_with_the_way_out(write: Callable[..., Path], tmp_path: Path) -> None:
    entry = {"mcpServers": {"a": {"url": "https://x.test/mcp", "headersHelper": "y"}}}
    home = {"HOME": str(tmp_path)}
    projects, own = (
        load([write(entry, name)], home, tmp_path).servers[0].remote for name in ("garden/mcp.json", ".config/mcp.json")
    )
    assert (projects, own) == (None, Remote("https://x.test/mcp", "auto", {}, ("y",)))
