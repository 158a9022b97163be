"""Secrets of the configuration, kept out of what is shown."""

import logging
import sys

import pytest

from server.redaction import RedactingFormatter, Redactor
from upstream_clients import JsonObject


def test_every_occurrence_of_a_secret_is_replaced() -> None:
    redact = Redactor(["s3cret-token"])
    assert redact("s3cret-token, again s3cret-token") == "[redacted], again [redacted]"


def test_no_tail_is_left_of_a_secret_that_begins_as_another_does() -> None:
    redact = Redactor(["abcdefgh", "abcdefgh-and-more"])
    assert redact("abcdefgh-and-more abcdefgh") == "[redacted] [redacted]"


def test_a_redactor_does_not_show_what_it_knows() -> None:
    assert repr(Redactor(["s3cret-token", "s3cret-token"])) == "<Redactor of 1 values>"


SECRET = 's3cret/"ken"\nof two lines'


@pytest.mark.parametrize(
    "form",
    [
        's3cret/"ken" of two lines',
        "of two lines",
        "s3cret%2F%22ken%22%0Aof%20two%20lines",
        "czNjcmV0LyJrZW4iCm9mIHR3byBsaW5lcw==",
        's3cret/\\"ken\\"\\nof two lines',
        "s3cret/%22ken%22%0Aof%20two%20lines",
        "s3cret%2F%22ken%22%0Aof+two+lines",
        "s3cret%2f%22ken%22%0aof%20two%20lines",
    ],
)
def test_a_secret_is_known_in_every_form_in_which_it_gets_into_a_text(form: str) -> None:
    assert Redactor([SECRET])(f"<{form}>").rstrip("=>") == "<[redacted]"


def test_base_64_for_addresses_is_known_too() -> None:
    assert Redactor(["~~~???>>>secret"])("<fn5-Pz8_Pj4-c2VjcmV0>") == "<[redacted]>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-abcdefghijklmnop0123 was refused", "key [redacted] was refused"),
        ("postgres://me:hunter22@db/x", "postgres://me:[redacted]@db/x"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [redacted]"),
        ("?access_token=abc12345&x=1", "?access_token=[redacted]&x=1"),
        ('{"password": "hunter2hunter2"}', '{"password": "[redacted]"}'),
        ("a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b", "a [redacted] b"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMIIE", "a [redacted]"),
        ("a bearer token is needed, token: required", "a bearer token is needed, token: required"),
        ("the token provided has expired; basic authentication failed", None),
        ("https://host:8080/x@y", None),
    ],
)
def test_what_has_the_shape_of_a_secret_is_replaced_and_ordinary_words_are_not(text: str, shown: str | None) -> None:
    assert Redactor([])(text) == (text if shown is None else shown)


@pytest.mark.parametrize(
    "part", ["token", "a://", "-----BEGIN ", "bearer ", "eyJ", "password=", "-----BEGIN PRIVATE KEY-----"]
)
def test_a_megabyte_made_to_be_slow_is_looked_through(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert len(Redactor([])(text)) <= len(text)


def test_what_an_upstream_lists_is_searched_for_exact_values_alone() -> None:
    redact = Redactor(["s3cret-token"])
    plain: JsonObject = {"description": "Takes a key such as sk-abcdefghijklmnop0123."}
    assert redact.listed(plain) is plain
    listed = redact.listed({"s3cret-token": ["s3cret-token", 1], "plain": plain})
    assert listed == {"[redacted]": ["[redacted]", 1], "plain": plain}


def test_a_log_line_is_redacted_whole_its_traceback_included() -> None:
    formatter = RedactingFormatter(Redactor(["s3cret-token"]))
    try:
        raise ValueError("token s3cret-token refused")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f", 1, "using %s", ("s3cret-token",), sys.exc_info())
    line = formatter.format(record)
    assert "s3cret-token" not in line
    assert line.startswith("toolfold ERROR: using [redacted]\nTraceback")
    assert line.endswith("ValueError: token [redacted] refused")
