"""Secrets of the configuration, kept out of what is shown."""

import logging
import sys

from server.redaction import RedactingFormatter, Redactor


def test_every_occurrence_of_a_secret_is_replaced() -> None:
    redact = Redactor(["s3cret-token"])
    assert redact("s3cret-token, again s3cret-token") == "[redacted], again [redacted]"


def test_no_tail_is_left_of_a_secret_that_begins_as_another_does() -> None:
    redact = Redactor(["abcdefgh", "abcdefgh-and-more"])
    assert redact("abcdefgh-and-more abcdefgh") == "[redacted] [redacted]"


def test_a_redactor_does_not_show_what_it_knows() -> None:
    assert repr(Redactor(["s3cret-token", "s3cret-token"])) == "<Redactor of 1 values>"


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
