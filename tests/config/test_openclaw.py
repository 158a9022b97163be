"""`gateway.openclaw`: one more upstream, whose secret is by reference."""

from collections.abc import Callable

import pytest

from server.config import OpenClaw, ServerEntry, Settings

TOKEN = "0123456789-token-of-a-gateway"


def codes(settings: Settings) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in settings.findings]


@pytest.fixture
def openclaw_of(settings_of: Callable[..., Settings]) -> Callable[..., tuple[ServerEntry, Settings]]:
    def read(written: object, **environ: str) -> tuple[ServerEntry, Settings]:
        settings = settings_of({"gateway": {"openclaw": written}}, **environ)
        (server,) = settings.servers
        return server, settings

    return read


Read = Callable[..., tuple[ServerEntry, Settings]]


def test_a_gateway_is_an_upstream_that_is_trusted(openclaw_of: Read) -> None:
    server, settings = openclaw_of({"url": "wss://claw.example.test/", "token": "${POND}", "timeout": 5000}, POND=TOKEN)
    assert (server.key, server.owner, server.trusted, server.timeout_seconds) == ("openclaw", "openclaw", True, 5.0)
    assert server.openclaw == OpenClaw("https://claw.example.test", TOKEN)
    assert server.secrets == {TOKEN}
    assert TOKEN not in repr(settings)
    assert codes(settings) == []


def test_true_asks_for_the_gateway_of_this_machine_with_openclaw_s_own_variable(openclaw_of: Read) -> None:
    server, settings = openclaw_of(True, OPENCLAW_GATEWAY_TOKEN=TOKEN)
    assert server.openclaw == OpenClaw("http://127.0.0.1:18789", TOKEN)
    assert codes(settings) == []


@pytest.mark.parametrize("written", [None, False])
def test_none_is_asked_for_where_none_is_written(settings_of: Callable[..., Settings], written: object) -> None:
    assert settings_of({"gateway": {"openclaw": written}}).servers == ()


@pytest.mark.parametrize(
    "token", ["${POND}", "${env:POND}", "${input:pond}", {"source": "env", "provider": "default", "id": "POND"}]
)
def test_the_token_is_by_reference_in_every_form(openclaw_of: Read, token: object) -> None:
    server, settings = openclaw_of({"token": token}, POND=TOKEN, TOOLFOLD_INPUT_POND=TOKEN)
    assert server.openclaw == OpenClaw("http://127.0.0.1:18789", TOKEN)
    assert server.secrets == {TOKEN}
    assert codes(settings) == []


def test_a_password_is_told_from_a_token(openclaw_of: Read) -> None:
    server, _ = openclaw_of({"password": "${POND}"}, POND=TOKEN)
    assert server.openclaw == OpenClaw("http://127.0.0.1:18789", TOKEN, is_password=True)


@pytest.mark.parametrize(
    ("written", "finding", "is_usable"),
    [
        ({"token": TOKEN}, ("warning", "literal_secret"), True),
        ({}, ("note", "no_token"), True),
        ({"token": "${POND}", "sesionKey": "main"}, ("warning", "unknown_key"), True),
        ({"token": "${POND}", "url": "http://claw.example.test"}, ("warning", "plain_http"), True),
        ({"token": "${POND}", "timeout": "long"}, ("warning", "wrong_type"), True),
        ({"token": "${POND}", "deny": ["a"], "alsoAllow": ["a"]}, ("warning", "given_twice"), True),
        ({"token": "${NOT_SET}"}, ("error", "variable_not_set"), False),
        ({"token": "${POND}", "password": "${POND}"}, ("error", "given_twice"), False),
        ({"token": "${POND}\n${POND}"}, ("error", "bad_secret"), False),
        ({"token": "${POND}", "visibility": "some"}, ("error", "wrong_type"), False),
        ({"token": "${POND}", "url": "ftp://x"}, ("error", "bad_url"), False),
        ("http://127.0.0.1:1", ("error", "wrong_type"), False),
    ],
)
def test_what_is_wrong_is_told_and_costs_no_more_than_it_must(
    openclaw_of: Read, written: object, finding: tuple[str, str], is_usable: bool
) -> None:
    server, settings = openclaw_of(written, POND=TOKEN)
    assert codes(settings) == [finding]
    assert (not server.problem) is is_usable
    assert TOKEN not in str(settings.findings)


def test_a_slip_names_the_key_that_was_meant(openclaw_of: Read) -> None:
    _, settings = openclaw_of({"token": "${POND}", "sesionKey": "main"}, POND=TOKEN)
    assert settings.findings[0].fix == "Did you mean `sessionKey`?"


def test_a_server_of_the_same_name_is_told_apart_from_it(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of(
        {"mcpServers": {"openclaw": {"command": "x"}}, "gateway": {"openclaw": {"token": "${T}"}}}, T=TOKEN
    )
    assert codes(settings) == [("error", "same_owner")] * 2


def test_another_session_or_token_is_another_listing(openclaw_of: Read) -> None:
    def fingerprint(token: str, **beside: object) -> str:
        return openclaw_of({"token": "${POND}", **beside}, POND=token)[0].fingerprint

    known = fingerprint(TOKEN)
    assert known == fingerprint(TOKEN) == fingerprint(TOKEN, timeout=5, deny=["a"])
    assert (
        len({known, fingerprint(f"{TOKEN}x"), fingerprint(TOKEN, sessionKey="b"), fingerprint(TOKEN, allow=["a"])}) == 4
    )


def test_it_is_read_from_the_root_by_nobody(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of({"mcpServers": {}, "openclaw": {"token": "${T}"}}, T=TOKEN)
    assert settings.servers == ()
    assert [(finding.code, finding.fix) for finding in settings.findings] == [
        ("misplaced_key", "Move it: gateway.openclaw")
    ]
