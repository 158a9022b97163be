"""Keeps the secrets of the configuration out of everything that is shown: errors, status, logs, what upstreams list.

Two ways: by their exact values, in all forms in which they get into texts; and by the shapes that issuers give theirs,
which may be anybody's. What an upstream lists is searched for exact values alone: an example in a description is none.
"""

import json
import logging
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, quote_plus

from server.clean import visible
from server.config.secrets import ISSUED, PRIVATE_KEY_BLOCK, URL_PASSWORD
from upstream_clients import JsonObject

MASK: Final = "[redacted]"


SHORTEST_PART: Final = 8
"""A line of a longer secret counts as one itself from here on; a shorter one would blank out ordinary words."""

_BEARER: Final = re.compile(r"\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{16,4096})", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?:api[_-]?key|token|secret|passw(?:or)?d|pwd)[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?=[^\s\"'&,;]{0,256}\d)([^\s\"'&,;]{8,4096})",
    re.IGNORECASE,
)
"""`token=…`: a value with a digit in it, or an ordinary word would count."""

SHAPES: Final = (PRIVATE_KEY_BLOCK, ISSUED, URL_PASSWORD, _BEARER, _NAMED)
"""What is secret by its shape: the last group of each, or the whole where there is none."""


_ESCAPED: Final = re.compile("%[0-9A-F]{2}")


class Redactor:
    """Replaces the exact values it was given, the forms in which they get into texts, and what has a secret's shape.

    Those forms are: folded onto one line, line by line, escaped as in JSON or an address, and in base 64. The longest
    first, so that no tail is left over.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._known = frozenset(secrets)
        self._secrets = _forms_of(self._known)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._known)} values>"

    def learn(self, secrets: Iterable[str]) -> None:
        """More values to replace. What was once a secret stays one: its upstream may still be speaking."""
        self._known |= frozenset(secrets)
        self._secrets = _forms_of(self._known)

    def __call__(self, text: str) -> str:
        if not text:
            return text
        text = self.without_known(text)
        for shape in SHAPES:
            text = shape.sub(_masked, text)
        return text

    def without_known(self, text: str) -> str:
        """The text without the exact values."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def listed(self, tool: JsonObject) -> JsonObject:
        """A definition without the exact values; the very same object where there are none."""
        text = json.dumps(tool, ensure_ascii=False) if self._secrets else ""
        if not any(secret in text for secret in self._secrets):
            return tool
        return {self.without_known(key): self._within(value, exactly=True) for key, value in tool.items()}

    def failed(self, result: JsonObject) -> JsonObject:
        """What a tool says of its failure, without secrets."""
        return {self(key): self._within(value, exactly=False) for key, value in result.items()}

    def _within(self, value: object, *, exactly: bool) -> object:
        if isinstance(value, str):
            return self.without_known(value) if exactly else self(value)
        if isinstance(value, list):
            return [self._within(item, exactly=exactly) for item in value]
        if isinstance(value, dict):
            return {self.without_known(key): self._within(item, exactly=exactly) for key, item in value.items()}
        return value


def _masked(match: re.Match[str]) -> str:
    start, end = match.span(match.lastindex or 0)
    return f"{match.string[match.start() : start]}{MASK}{match.string[end : match.end()]}"


def _forms_of(secrets: Iterable[str]) -> list[str]:
    return sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)


def _forms(secret: str) -> set[str]:
    folded = " ".join(secret.split())
    lines = {line.strip() for line in secret.splitlines() if len(line.strip()) >= SHORTEST_PART}
    encoded = secret.encode("utf-8", "surrogatepass")
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    in_base_64 = {work(encoded).decode().rstrip("=") for work in (b64encode, urlsafe_b64encode)}
    return {secret, folded, *_in_address(encoded), *in_base_64, *in_json, *lines} - {""}


def _in_address(secret: bytes) -> set[str]:
    """With slashes or without, a plus for a space or not, and in either case of letters."""
    quoted = {quote(secret, safe=""), quote(secret), quote_plus(secret), quote_plus(secret, safe="/")}
    return quoted | {_ESCAPED.sub(lambda match: match[0].lower(), text) for text in quoted}


class RedactingFormatter(logging.Formatter):
    """Redacts and cleans the finished line: message, arguments and traceback alike. What cleaning joins is redacted too."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("toolfold %(levelname)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(visible(self._redact(super().format(record))))
