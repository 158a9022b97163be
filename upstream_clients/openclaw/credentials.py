"""Finds what looks like a credential in a text, by the shape that its issuer gave it or the name that it stands under. Pure.

It errs on the side of redacting. No pattern goes back over what it has read, so that a text of any kind
costs by its length alone.
"""

import re
from typing import Final

MASK: Final = "[redacted]"

SHORTEST_SECRET: Final = 8
"""Characters. Taking out every occurrence of a shorter text would spoil more than it hides."""

_ISSUED: Final = re.compile(
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
"""The same as in `server.config.secrets`, which may import nothing from here (a test holds them equal)."""

_SCHEME: Final = re.compile(r"\b(bearer|basic)[ \t]{1,8}+([A-Za-z0-9._~+/=-]{12,4096}+)", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"""((?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|client[_-]?secret|(?:auth|access|refresh|bot)[_-]?token|token
        |passwd|password|passphrase|private[_-]?key)["']?\s{0,8}+[:=]\s{0,8}+["']?)([^\s"',;<>(){}\[\]]{8,512}+)""",
    re.VERBOSE | re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"""(?:.*[_.-])?(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|client[_-]?secret|(?:auth|access|refresh|bot)[_-]?token|token
        |passwd|password|passphrase|private[_-]?key|(?:proxy-)?authorization)\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_URL_PASSWORD: Final = re.compile(r"(://[^\s/:@]{1,128}+:)([^\s/@]{1,256}+)(?=@)")
_KEY_BEGINS: Final = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_ENDS: Final = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")


def redacted(text: str) -> str:
    """The text without them; the very same object if there are none."""
    text = _without_keys(text)
    text = _ISSUED.sub(MASK, text)
    text = _SCHEME.sub(rf"\1 {MASK}", text)
    text = _NAMED.sub(rf"\1{MASK}", text)
    return _URL_PASSWORD.sub(rf"\1{MASK}", text)


def names_credential(name: str) -> bool:
    """Whether a field of this name holds a credential: the name ends with one of the words above."""
    return len(name) <= 64 and _NAME.match(name) is not None


def without(value: object, secret: str) -> object:
    """A JSON value without this very secret, wherever in it that stands. One that is too short to be one is left alone."""
    if len(secret) < SHORTEST_SECRET:
        return value
    if isinstance(value, str):
        return value.replace(secret, MASK)
    if isinstance(value, dict):
        return {str(without(key, secret)): without(part, secret) for key, part in value.items()}
    return [without(part, secret) for part in value] if isinstance(value, list) else value


def _without_keys(text: str) -> str:
    """Private keys, to their last line or, if they are cut off, to the end."""
    kept: list[str] = []
    at = 0
    while begun := _KEY_BEGINS.search(text, at):
        kept += [text[at : begun.start()], MASK]
        ended = _KEY_ENDS.search(text, begun.end())
        if ended is None:
            return "".join(kept)
        at = ended.end()
    return "".join([*kept, text[at:]]) if kept else text
