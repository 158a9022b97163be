"""Keeps the secrets of the configuration out of everything that is shown: errors, status, logs."""

import logging
from collections.abc import Iterable
from typing import Final

MASK: Final = "[redacted]"


class Redactor:
    """Replaces the exact values it was given. The longest first, so that no tail of one is left over."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(set(secrets), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._secrets)} values>"

    def learn(self, secrets: Iterable[str]) -> None:
        """More values to replace. What was once a secret stays one: its upstream may still be speaking."""
        self._secrets = sorted({*self._secrets, *secrets}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text


class RedactingFormatter(logging.Formatter):
    """Redacts the finished line: message, arguments and traceback alike."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("toolfold %(levelname)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))
