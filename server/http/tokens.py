"""Bearer tokens: known by their SHA-256 alone, compared without telling how much of one was right."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

SHORTEST_TOKEN: Final = 16
"""Characters. A hash without salt is safe only for what nobody can guess."""

SCHEME: Final = "bearer"


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose token came in. `principal` stands for the very token: a session is its alone, whatever the name."""

    name: str
    principal: str
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that open the door, by name, and the profile of each that has one. Without any the door is open to all."""

    hashes: Mapping[str, str]
    profiles: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.hashes)

    def caller(self, authorization: str) -> Bearer | None:
        """Whose token an `Authorization` header has."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != SCHEME or not token.strip():
            return None
        given = hash_of(token.strip())
        # All are compared, so that the time taken does not tell which one was close.
        matching = [name for name, known in self.hashes.items() if hmac.compare_digest(given, known)]
        if not matching:
            return None
        return Bearer(matching[0], given, self.profiles.get(matching[0], ""))


def hash_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()
