"""Which keys of an object its schema speaks of, by whatever alternative or condition; the others are nobody's."""

from collections.abc import Iterator
from dataclasses import dataclass

from server.arguments.document import MAX_DECLARING, Document


@dataclass(frozen=True, slots=True)
class Names:
    """The keys that are named. `others_count`: keys of any name have a meaning, or the schema is too large to say."""

    named: frozenset[str]
    others_count: bool


def names_of(document: Document, schema: object) -> Names:
    """The names in all that can apply to a value of this schema."""
    named: set[str] = set()
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        if len(seen) > MAX_DECLARING or _describes_others(part):
            return Names(frozenset(named), True)
        named.update(_named(part))
        waiting += document.parts_in_place(part)
    return Names(frozenset(named), False)


def _describes_others(schema: dict[str, object]) -> bool:
    if schema.get("patternProperties") or "propertyNames" in schema:
        return True
    rests = (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
    return any(isinstance(rest, dict) and rest for rest in rests)


def _named(schema: dict[str, object]) -> Iterator[str]:
    for keyword in ("properties", "dependentRequired", "dependentSchemas", "dependencies"):
        entries = schema.get(keyword)
        if isinstance(entries, dict):
            yield from entries
    required = schema.get("required")
    if isinstance(required, list):
        yield from required
