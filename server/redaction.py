"""Keeps the secrets of the configuration out of everything that is shown: errors, status, logs."""

import json
import logging
from collections.abc import Iterable
from typing import Final

from server.clean import visible

MASK: Final = "[redacted]"


SHORTEST_PART: Final = 8
"""A line of a longer secret counts as one itself from here on; a shorter one would blank out ordinary words."""


class Redactor:
    """Replaces the exact values it was given, and the forms in which they get into texts.

    Those are: folded onto one line, line by line, and escaped as in JSON. The longest first, so that no tail is left over.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._secrets)} values>"

    def learn(self, secrets: Iterable[str]) -> None:
        """More values to replace. What was once a secret stays one: its upstream may still be speaking."""
        forms = {form for secret in secrets for form in _forms(secret)}
        self._secrets = sorted({*self._secrets, *forms}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text


def _forms(secret: str) -> set[str]:
    folded = " ".join(secret.split())
    lines = {line.strip() for line in secret.splitlines() if len(line.strip()) >= SHORTEST_PART}
    return {secret, folded, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], *lines} - {""}


class RedactingFormatter(logging.Formatter):
    """Redacts and cleans the finished line: message, arguments and traceback alike. What cleaning joins is redacted too."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("toolfold %(levelname)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(visible(self._redact(super().format(record))))
