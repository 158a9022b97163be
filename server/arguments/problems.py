"""What can be wrong with a call, as values, and the only ways in which text from outside gets into them.

1. A problem names properties, types and what the schema allows. It never holds a value that was sent: that may be a secret.
2. Every name, sent or declared, passes `clean`: printable characters only, at most `MAX_NAME_CHARS` of them.
3. Nothing here knows a validator or a form of call.
"""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from server.clean import visible

# A property name that says something fits in this; a longer one is likelier a payload that slipped into a key.
MAX_NAME_CHARS = 64
# A name is looked at this many times as far as it is shown, for what is dropped of it.
CLEANED = 4
# Comparing names costs some 50 µs a pair: 200 of them stay near 10 ms, and no tool that people use has more properties.
MAX_COMPARED = 200
# A model needs one good suggestion; three is what the rest of the gateway offers, too.
MAX_SUGGESTIONS = 3

Code: TypeAlias = Literal["missing", "unknown", "type", "enum", "value", "unplaced", "envelope"]
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where (a JSON pointer into the arguments, "" for the whole), and near names to use."""

    path: str
    code: Code
    message: str
    suggestions: tuple[str, ...] = ()


class InvalidArguments(Exception):
    """The arguments don't fit, and no repair is certain. The upstream must not be called."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{problem.code} at {problem.path or 'the root'}" for problem in problems))
        self.problems = tuple(problems)


class UnusableSchema(Exception):
    """The tool's schema can't be used to check a call; `reason` says why in a sentence without a full stop."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def clean(text: str, limit: int = MAX_NAME_CHARS) -> str:
    """The printable part of a text, cut. Drops control, bidirectional, zero-width and lone surrogate characters."""
    kept = "".join(character for character in visible(text[: CLEANED * limit]) if character.isprintable())
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def quoted(text: str) -> str:
    """A name or a schema's string for a sentence."""
    return json.dumps(clean(text), ensure_ascii=False)


def pointer(path: Iterable[str | int]) -> str:
    """The JSON pointer of a path, each name cleaned."""
    return "".join("/" + clean(str(step)).replace("~", "~0").replace("/", "~1") for step in path)


def close(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates that are written like the word, best first, cleaned. At most `MAX_COMPARED` are looked at."""
    names: dict[str, str] = {}
    for candidate in islice(candidates, MAX_COMPARED):
        names.setdefault(_letters(candidate), clean(candidate))
    hits = difflib.get_close_matches(_letters(word), names, n=MAX_SUGGESTIONS, cutoff=0.7)
    return tuple(names[hit] for hit in hits)


def _letters(name: str) -> str:
    """`userId`, `user_id` and `User-ID` are one name to whoever types it from memory."""
    return clean(name).lower().replace("_", "").replace("-", "").replace(" ", "")
