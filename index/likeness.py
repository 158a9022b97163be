"""Names that look alike. They are ASCII: a matter of l, 1 and I, of 0 and O, of rn and m, of case and separators."""

from typing import Final

_PLAIN: Final = str.maketrans("", "", "-_.")
_DRAWN: Final = str.maketrans("i10", "llo", "-_.")

SHORTEST_HYPHENED: Final = 10
"""Letters of a hyphened name that is not taken for a word: "query-docs", but not "read-only"."""


def spelling(name: str) -> str:
    """The name without what differs from style to style: case and separators."""
    return name.lower().translate(_PLAIN)


def appearance(name: str) -> str:
    """What a reader in a hurry sees of the name: two names of one appearance can be taken for each other."""
    return name.lower().translate(_DRAWN).replace("rn", "m").replace("vv", "w")


def is_unmistakable(name: str) -> bool:
    """Whether the name in a text can only be meant as one: no word is written with an underscore or a capital within.

    Words are written with a hyphen, but few so long ones.
    """
    is_hyphened = "-" in name.strip("-") and len(name) >= SHORTEST_HYPHENED
    return "_" in name.strip("_") or name[1:] != name[1:].lower() or is_hyphened
