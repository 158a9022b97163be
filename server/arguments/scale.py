"""What a compiled schema costs before any value is seen: its weight, and whether a walk through it ends at all."""

from typing import TYPE_CHECKING

from server.arguments.bounds import MAX_NESTING
from server.arguments.problems import UnusableSchema

if TYPE_CHECKING:
    from server.arguments.document import Document

# What a schema weighs that refers to itself: more than any that does not, as far as the caller's choice is concerned.
MAX_WEIGHT = 1_000_000


def weigh(document: "Document") -> int:
    """How many steps a value can take that meets every schema once and holds one item in each list."""
    return _Weights(document).of(document.schema, 0)


def require_end(document: "Document") -> None:
    """Raises: UnusableSchema, when a schema applies itself to the same value again, as `{"$ref": "#"}` does."""
    ended: set[int] = set()
    for start in document.schemas():
        trail = [(start, document.parts_in_place(start))] if id(start) not in ended else []
        met = {id(start)}
        while trail:
            schema, parts = trail[-1]
            if not parts:
                trail.pop()
                ended.add(id(schema))
                continue
            part = parts.pop()
            if isinstance(part, dict) and id(part) not in ended:
                if id(part) in met:
                    raise UnusableSchema("the schema refers to itself without end")
                met.add(id(part))
                trail.append((part, document.parts_in_place(part)))


class _Weights:
    """Memo of one weighing."""

    def __init__(self, document: "Document") -> None:
        self._document = document
        self._known: dict[int, int] = {}

    def of(self, schema: object, depth: int) -> int:
        if not isinstance(schema, dict):
            return 1
        if depth > MAX_NESTING:
            return MAX_WEIGHT
        if id(schema) not in self._known:
            self._known[id(schema)] = MAX_WEIGHT  # what it weighs where it is met inside itself
            parts = self._document.parts(schema)
            weight = self._document.place(schema).cost + sum(self.of(part, depth + 1) for part in parts)
            self._known[id(schema)] = min(weight, MAX_WEIGHT)
        return self._known[id(schema)]
