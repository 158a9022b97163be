"""Takes parts out of plain documents whose shape is known and not relied on: what is missing or odd reads as empty."""

from collections.abc import Mapping
from typing import TypeAlias

Document: TypeAlias = Mapping[str, object]


def text(document: Document, key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""


def number(document: Document, key: str) -> float | None:
    value = document.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def inner(document: Document, key: str) -> dict[str, object]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def members(document: Document, key: str) -> list[dict[str, object]]:
    """The objects in a list."""
    value = document.get(key)
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def words(document: Document, key: str) -> list[str]:
    """The texts in a list."""
    value = document.get(key)
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
