"""What looks like a secret: by the name it is kept under, or by the shape that its issuer gave it.

Three users: the warning about secrets written out in a file, the redaction of what a child was given, and that of shapes.
It guesses, and errs on the side of redacting; nothing is ever refused because of it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

# Shorter values are left out of redaction: replacing "dev" everywhere would make logs unreadable and hide nothing.
MIN_REDACTED = 8

# Below this a value written under a telling name is a switch ("yes", "0"), not a secret.
MIN_WARNED = 4

# Every pattern is bounded at its start, so that searching stays linear on long values.
_MAX_SEARCHED = 16 * 1024

_TELLING_WORDS = frozenset(
    (
        "apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "key",
        "dsn", "jwt", "pass", "passphrase", "passwd", "password", "pat", "pwd", "secret", "token",
    )
)  # fmt: skip

# An address of these is itself the key to what lies behind it: `SLACK_WEBHOOK_URL`, `SENTRY_DSN`.
_TELLING_ADDRESSES = frozenset(("dsn", "webhook"))
_TELLING_ENDINGS = ("apikey", "password", "passwd", "secret", "token")

# `TOKEN_FILE`, `API_KEY_ID`: the name tells where a secret is or which, not the secret.
_HARMLESS_LAST_WORDS = frozenset(
    (
        "count", "dir", "directory", "enabled", "endpoint", "expiry", "file", "folder", "host", "id",
        "length", "limit", "max", "method", "mode", "name", "path", "port", "region", "size", "sock",
        "timeout", "ttl", "type", "uri", "url", "user", "username", "version",
    )
)  # fmt: skip

_PLACEHOLDER = re.compile(
    r"(none|null|true|false|dummy|test|example|change-?me|todo|placeholder|redacted|[x*.]+|<.*>|your[-_ ].*|\d{1,4})",
    re.IGNORECASE,
)

# The same as in `upstream_clients.openclaw.credentials`, which is too heavy to be imported here (a test holds them equal).
ISSUED = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
        sk-[A-Za-z0-9_-]{16,}+ | [rs]k_(?:live|test)_[A-Za-z0-9]{16,}+ | gsk_[A-Za-z0-9]{20,}+
      | gh[opusr]_[A-Za-z0-9]{20,}+ | github_pat_[A-Za-z0-9_]{20,}+ | glpat-[A-Za-z0-9_-]{16,}+(?:\.[A-Za-z0-9_-]++){0,4}+
      | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{10,}+
      | npm_[A-Za-z0-9]{30,}+ | pypi-[A-Za-z0-9_-]{16,}+ | hf_[A-Za-z0-9]{20,}+ | dapi[0-9a-f]{32}(?:-\d)?
      | A[KS]IA[0-9A-Z]{16} | AIza[A-Za-z0-9_-]{30,}+ | \d{8,10}:AA[A-Za-z0-9_-]{30,}+
      | SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,}+
      | eyJ[A-Za-z0-9_-]{10,2048}+\.[A-Za-z0-9_-]{10,4096}+\.[A-Za-z0-9_-]{10,}+
    )""",
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
# To its end, or to that of the text.
PRIVATE_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----).)*+(?:-----END [A-Z ]{0,40}-----)?", re.DOTALL
)
_BEARER = re.compile(r"\b(?:bearer|basic|token)\s+([^\s\"']{8,4096})", re.IGNORECASE)
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token)\b", re.IGNORECASE)
URL_PASSWORD = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/:@]{0,128}:([^\s/@]{1,256})@")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_telling_name(name: str) -> bool:
    """Whether a variable, header or option of this name usually holds a secret."""
    words = [word.lower() for word in _WORDS.findall(name[:128])]
    if not _TELLING_ADDRESSES.isdisjoint(words):
        return True
    if not words or words[-1] in _HARMLESS_LAST_WORDS or "public" in words:
        return False
    return any(word in _TELLING_WORDS or word.endswith(_TELLING_ENDINGS) for word in words)


def is_written_out(name: str, literal: str) -> bool:
    """Whether `literal`, the part of a value that stands in the file itself, is a secret."""
    if secrets_inside(literal):
        return True
    bare = _SCHEME.sub("", literal).strip()
    return is_telling_name(name) and len(bare) >= MIN_WARNED and not _PLACEHOLDER.fullmatch(bare)


def secrets_inside(text: str) -> frozenset[str]:
    """The parts of `text` that are secret by their shape."""
    searched = text[:_MAX_SEARCHED]
    found = {match[0] for match in ISSUED.finditer(searched)}
    found |= {match[1] for pattern in (_BEARER, URL_PASSWORD) for match in pattern.finditer(searched)}
    if _PRIVATE_KEY.search(searched):
        found.add(text)
    return frozenset(part for part in found if not _PLACEHOLDER.fullmatch(part))


def named_arguments(args: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Each argument with the name it goes by: `--token VALUE`, `--token=VALUE`, `TOKEN=VALUE`; "" where it has none."""
    before = ""
    for argument in args:
        name, equals, value = argument.partition("=")
        if equals and len(name) <= 128 and not any(character in name for character in ":/ "):
            yield name.lstrip("-"), value
        elif not argument.startswith("-"):
            yield before, argument
        before = argument.lstrip("-") if argument.startswith("-") and not equals else ""


def redacted_values(environment: Mapping[str, str], args: Sequence[str], used: Mapping[str, str]) -> frozenset[str]:
    """What must not be printed of a child's environment, its arguments and the variables its entry used."""
    named = [*environment.items(), *named_arguments(args), *used.items()]
    found = {value for name, value in named if is_telling_name(name)}
    for _, value in named:
        found |= secrets_inside(value)
    return frozenset(value for value in found if len(value) >= MIN_REDACTED)
