from collections.abc import Callable

import pytest

from server.config import ConfigError, Settings
from server.config.secrets import is_telling_name, is_written_out, redacted_values, secrets_inside

GITHUB = "ghp_0123456789abcdefghij0123456789"


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "apiKey",
        "GITHUB_TOKEN",
        "token",
        "DB_PASSWORD",
        "pgpassword",
        "CLIENT_SECRET",
        "Authorization",
        "AUTHTOKEN",
        "SMTP_PASS",
        "SLACK_WEBHOOK_URL",
        "SENTRY_DSN",
    ],
)
def test_a_name_that_tells_of_a_secret(name: str) -> None:
    assert is_telling_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "PATH",
        "TOKEN_FILE",
        "API_KEY_ID",
        "SSH_AUTH_SOCK",
        "MAX_TOKENS",
        "KEYBOARD",
        "PUBLIC_KEY",
        "AUTH_URL",
        "PORT",
    ],
)
def test_a_name_that_does_not(name: str) -> None:
    assert not is_telling_name(name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nothing", set()),
        (f"use {GITHUB}!", {GITHUB}),
        ("sk-ant-api03-0123456789abcdef", {"sk-ant-api03-0123456789abcdef"}),
        ("Authorization: Bearer abcdef123456", {"abcdef123456"}),
        ("postgres://ann:hunter22@db/x", {"hunter22"}),
        ("http://ann@host/x", set()),
        ("http://host:8080/a@b", set()),
        ("AKIAIOSFODNN7EXAMPLE", {"AKIAIOSFODNN7EXAMPLE"}),
        ("-----BEGIN RSA PRIVATE KEY-----\nx", {"-----BEGIN RSA PRIVATE KEY-----\nx"}),
    ],
)
def test_secrets_are_known_by_their_shape(text: str, found: set[str]) -> None:
    assert secrets_inside(text) == found


@pytest.mark.parametrize(
    ("name", "literal", "is_secret"),
    [
        ("API_KEY", "abcd1234", True),
        ("API_KEY", "", False),
        ("API_KEY", "none", False),
        ("API_KEY", "<your key>", False),
        ("API_KEY", "your-key-here", False),
        ("API_KEY", "xxxx", False),
        ("API_KEY", "0", False),
        ("Authorization", "Bearer ", False),
        ("Authorization", "Bearer none", False),
        ("Authorization", "Bearer abcd1234", True),
        ("MODE", "abcd1234", False),
        ("MODE", GITHUB, True),
        ("DATABASE", "postgres://ann:hunter22@db", True),
    ],
)
def test_what_counts_as_written_out(name: str, literal: str, is_secret: bool) -> None:
    assert is_written_out(name, literal) is is_secret


def test_what_must_be_redacted_is_found_in_environment_arguments_and_variables() -> None:
    environment = {
        "API_KEY": "environment-key",
        "MODE": "production",
        "PIN_TOKEN": "short",
        "DB": "x://a:db-password@h",
    }
    args = ["--token", "argument-token", "--key=argument-key", "-v", "positional-word", "API_TOKEN=assigned-token"]
    used = {"MY_SECRET": "used-secret", "FOLDER": "/home/ann"}
    assert redacted_values(environment, args, used) == {
        "environment-key",
        "db-password",
        "argument-token",
        "argument-key",
        "assigned-token",
        "used-secret",
    }


@pytest.mark.parametrize(
    ("entry", "places"),
    [
        ({"env": {"API_KEY": "s3cret-value", "MODE": "fast"}}, ["env.API_KEY"]),
        ({"env": {"API_KEY": "${API_KEY:-s3cret-value}"}}, ["env.API_KEY"]),
        ({"environment": {"API_KEY": "s3cret-value"}}, ["env.API_KEY"]),
        ({"env": {"API_KEY": "${API_KEY:-}"}}, []),
        ({"env": {"API_KEY": "${env:API_KEY:-none}"}}, []),
        ({"args": ["--api-key", "s3cret-value"]}, ["args"]),
        ({"args": ["--api-key=s3cret-value", "--token", "s3cret-value"]}, ["args"]),
        ({"args": ["--api-key", "${API_KEY:-}", "--api-key", "--other", "s3cret-value"]}, []),
        ({"args": ["postgres://ann:s3cret-value@db/x"]}, ["args"]),
        ({"url": "https://x", "headers": {"Authorization": "Bearer s3cret-value"}}, ["headers.Authorization"]),
    ],
)
def test_a_secret_written_out_works_and_is_warned_about_without_being_shown(
    settings_of: Callable[..., Settings], entry: dict[str, object], places: list[str]
) -> None:
    settings = settings_of({"mcpServers": {"a": {"command": "x", **entry}}})
    found = [finding for finding in settings.findings if finding.code == "literal_secret"]
    assert [finding.where.partition("mcpServers.a.")[2] for finding in found] == places
    assert {finding.severity for finding in found} <= {"warning"}
    assert settings.servers[0].problem == ""
    assert "s3cret-value" not in repr(settings)
    if places and "headers" not in entry:
        assert settings.servers[0].secrets == {"s3cret-value"}


def test_the_secrets_of_a_misconfigured_entry_are_known_too(settings_of: Callable[..., Settings]) -> None:
    entry = {"command": "x", "args": ["${UNSET}", "--token", "${T}"], "env": {"API_KEY": "another-secret"}}
    settings = settings_of({"mcpServers": {"a": entry}}, T="token-value")
    assert settings.servers[0].problem
    assert settings.servers[0].secrets == {"token-value", "another-secret"}


def test_no_value_is_shown_by_repr_findings_or_problems(settings_of: Callable[..., Settings]) -> None:
    canary = "canary-7f3a"
    entry = {
        "command": ["x", canary],
        "args": [canary, f"--token={canary}"],
        "env": {"API_KEY": canary, "B": "${SECRET}", "C": [canary]},
        "envFile": {canary: 1},
        "cwd": 3,
        "timeout": canary,
        "hints": canary,
        "type": canary,
        "disabled": canary,
        "includeTools": {"a": canary},
        "protocol": canary,
    }
    good = {
        "command": "x",
        "args": ["${SECRET}"],
        "env": {"A": "${SECRET}"},
        "cwd": "${SECRET}",
        "includeTools": [canary],
    }
    gateway = {
        "toolSearch": {"mode": canary},
        "log": {"level": canary},
        "limits": {"lineBytes": canary},
        "hints": canary,
    }
    settings = settings_of({"mcpServers": {"bad": entry, "good": good}, "gateway": gateway}, SECRET=canary)
    assert len(settings.findings) >= 12
    assert canary not in repr(settings)
    assert canary not in "".join(server.problem for server in settings.servers)
    assert settings.servers[1].problem == ""


def test_a_syntax_error_shows_no_value(settings_of: Callable[..., Settings]) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of('{"mcpServers": {"a": {"env": {"API_KEY": "canary-7f3a" canary-7f3a}}}}')
    assert "canary" not in f"{caught.value} {caught.value!r}"
