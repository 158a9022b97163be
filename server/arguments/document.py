"""A tool's schema, compiled: what applies at each place in it, what its references name, what a walk through it costs.

1. A document is complete once built and never changes.
2. Only schemas of a sound structure are ever visited: a keyword's value has the shape that the draft wants. The
   catalogue asks the same function before it admits a tool, so what it admits can be called.
3. Nothing is fetched. A reference that the document itself can't answer makes the schema unusable.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from jsonschema import ValidationError
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY, Schema, lookup_recursive_ref

from index import UnsoundSchema, check_structure, subschemas
from server.arguments.bounds import Budget, require_schema
from server.arguments.dialects import Dialect, dialects_of
from server.arguments.keywords import Keyword
from server.arguments.patterns import Pattern, compile_pattern
from server.arguments.problems import UnusableSchema, quoted
from server.arguments.scale import require_end, weigh
from server.arguments.visit import Visit

if TYPE_CHECKING:
    from referencing._core import Resolved, Resolver

# Schemas that are asked for the properties of one object: a large union has 64.
MAX_DECLARING = 200
# `$ref` to `$ref` to …: real schemas have one, or two.
MAX_CHAIN = 8
# Distinct patterns that are compiled, at up to 5 ms each; the rest count as unchecked.
MAX_PATTERNS = 200
# Entries of a list or mapping in a schema that are looped over on every visit: this many pass for one step.
_ENTRIES_PER_STEP = 16

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# What malformed `$id`, `$anchor` and `$ref` values make referencing and urllib raise; ours are only used as they are.
_UNRESOLVABLE = (Unresolvable, LookupError, ValueError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Place:
    """One schema in the document: the keywords that apply, the steps of a visit, and where its references start from."""

    schema: dict[str, object]
    rules: tuple[tuple[str, Keyword, object], ...]
    cost: int
    resolver: "Resolver[Schema]"


class Document:
    """The compiled schema. `compile_schema` makes it; `unchecked` are the patterns that can't be checked."""

    def __init__(self, schema: dict[str, object], dialect: Dialect) -> None:
        """Raises: UnusableSchema."""
        _require_sound(schema, dialect)
        self.schema = schema
        self.dialect = dialect
        self._places: dict[int, Place] = {}
        self._patterns: dict[str, Pattern | None] = {}
        self._answers: dict[int, Resolved[Schema]] = {}
        try:
            resource = dialect.specification.create_resource(schema)
            uri = resource.id() or ""
            resolver = EMPTY_REGISTRY.with_resource(uri, resource).crawl().resolver(uri)
        except _UNRESOLVABLE:
            raise UnusableSchema("an `$id` or `$anchor` in the schema is malformed") from None
        self._enter(schema, resolver)
        self._follow_references()
        self.unchecked = tuple(sorted(text for text, pattern in self._patterns.items() if pattern is None))
        require_end(self)
        self.weight = weigh(self)

    def __repr__(self) -> str:
        return f"<Document of {len(self._places)} schemas, weight {self.weight}>"

    def errors(self, instance: object, budget: Budget, schema: object = None) -> Iterator[ValidationError]:
        """What is wrong with the instance, by the whole schema or by one that stands in it.

        Raises: GaveUp, when the budget ends first.
        """
        start = self.schema if schema is None else schema
        resolver = self._places[id(start if isinstance(start, dict) else self.schema)].resolver
        return Visit(self, budget, start, resolver, 0).iter_errors(instance)

    def place(self, schema: dict[str, object]) -> Place:
        """What is known of a schema that stands in the document."""
        return self._places[id(schema)]

    def pattern(self, regex: object) -> Pattern | None:
        """The compiled pattern; None when it can't be checked."""
        assert isinstance(regex, str)
        return self._patterns[regex]

    def answer(self, schema: object) -> "Resolved[Schema] | None":
        """What the `$ref` of a schema names; None where that depends on the way there."""
        return self._answers.get(id(schema))

    def is_type(self, instance: object, name: str) -> bool:
        """Whether the instance is of that JSON type."""
        if isinstance(instance, bool):
            return name == "boolean"
        if isinstance(instance, float):
            return name == "number" or (name == "integer" and self.dialect.takes_whole_floats and instance.is_integer())
        return isinstance(instance, _TYPES[name])

    def targets(self, place: Place) -> Iterator[object]:
        """What the references of a place name."""
        for keyword in _REFERENCES:
            if keyword in place.schema and keyword in self.dialect.keywords:
                yield self._target(place, keyword).contents

    def declared(self, schema: object) -> Mapping[str, object]:
        """The properties that an object may be meant to have by this schema, through references and combinators.

        Of alternatives, only a single one that has properties counts (an optional object); of more, none is certain.
        """
        return self._declared(schema, set())

    def plain(self, schema: object) -> object:
        """The schema that says something: the end of a chain of references, if it is short."""
        for _ in range(MAX_CHAIN):
            answer = self.answer(schema)
            if answer is None:
                break
            schema = answer.contents
        return schema

    def schemas(self) -> list[dict[str, object]]:
        """Every schema in the document."""
        return [place.schema for place in self._places.values()]

    def parts(self, schema: dict[str, object]) -> list[object]:
        """The schemas that can apply because this one does: those inside it, definitions aside, and those it names."""
        applied = {name: value for name, value in schema.items() if name not in ("$defs", "definitions")}
        inside = [part for _, _, part in subschemas(applied, self.dialect.draft)]
        return [*inside, *self.targets(self.place(schema))]

    def parts_in_place(self, schema: dict[str, object]) -> list[object]:
        """Those of them that apply to the same value, not to something inside it."""
        active = {name: value for name, _, value in self.place(schema).rules}
        several = [part for name in ("allOf", "anyOf", "oneOf") for part in _list(active, name)]
        chosen = [schema.get(name) for name in ("if", "then", "else") if "if" in active]
        dependent = [*_dict(active, "dependentSchemas").values(), *_dict(active, "dependencies").values()]
        return [active.get("not"), *several, *chosen, *dependent, *self.targets(self.place(schema))]

    def _declared(self, schema: object, seen: set[int]) -> dict[str, object]:
        if not isinstance(schema, dict) or id(schema) in seen or len(seen) > MAX_DECLARING:
            return {}
        seen.add(id(schema))
        found: dict[str, object] = {}
        for keyword in ("anyOf", "oneOf"):
            branches = [self._declared(branch, seen) for branch in _list(schema, keyword)]
            alternatives = [branch for branch in branches if branch]
            if len(alternatives) == 1:
                found.update(alternatives[0])
        for part in (*_list(schema, "allOf"), *self.targets(self.place(schema))):
            found.update(self._declared(part, seen))
        return found | _dict(schema, "properties")

    def _target(self, place: Place, keyword: str) -> "Resolved[Schema]":
        ref = place.schema[keyword]
        if not isinstance(ref, str):
            raise UnusableSchema(f"a `{keyword}` in the schema is not a string")
        try:
            return lookup_recursive_ref(place.resolver) if keyword == "$recursiveRef" else place.resolver.lookup(ref)
        except _UNRESOLVABLE:
            raise UnusableSchema(f"the schema refers to {quoted(ref)}, which is not in it") from None

    def _enter(self, start: object, resolver: "Resolver[Schema]") -> None:
        """Compile a schema with all that stands in it."""
        specification = self.dialect.specification
        waiting = [(start, resolver)]
        while waiting:
            schema, outer = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in self._places:
                continue
            try:
                inner = outer.in_subresource(specification.create_resource(schema))
            except _UNRESOLVABLE:
                raise UnusableSchema("an `$id` in the schema is malformed") from None
            self._places[id(schema)] = Place(schema, self._rules(schema), _cost(schema), inner)
            for regex in (*_dict(schema, "patternProperties"), schema.get("pattern")):
                if isinstance(regex, str) and regex not in self._patterns:
                    has_room = len(self._patterns) < MAX_PATTERNS
                    self._patterns[regex] = compile_pattern(regex) if has_room else None
            waiting.extend((part, inner) for _, _, part in subschemas(schema, self.dialect.draft))

    def _follow_references(self) -> None:
        """Compile what references name outside the places that schemas usually stand in."""
        waiting = list(self._places.values())
        while waiting:
            place = waiting.pop()
            for keyword in _REFERENCES:
                if keyword in place.schema and keyword in self.dialect.keywords:
                    target = self._target(place, keyword)
                    self._answers[id(place.schema)] = target
                    waiting.extend(self._admit(target))
        if any("$dynamicRef" in place.schema or "$recursiveRef" in place.schema for place in self._places.values()):
            self._answers.clear()

    def _admit(self, target: "Resolved[Schema]") -> list[Place]:
        """Compile a reference's target, and return the places that are new by it."""
        schema: object = target.contents
        if isinstance(schema, bool) or id(schema) in self._places:
            return []
        if not isinstance(schema, dict):
            raise UnusableSchema("the schema refers to something that is not a schema")
        _require_sound(schema, self.dialect)
        before = len(self._places)
        self._enter(schema, target.resolver)
        return list(islice(self._places.values(), before, None))

    def _rules(self, schema: dict[str, object]) -> tuple[tuple[str, Keyword, object], ...]:
        keywords = self.dialect.keywords
        names = ["$ref"] if self.dialect.ref_stands_alone and "$ref" in schema else list(schema)
        if not isinstance(schema.get("items"), list):
            names = [name for name in names if name != "additionalItems"]  # it has no meaning then
        return tuple((name, keywords[name], schema[name]) for name in names if name in keywords)


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}


def compile_schema(schema: object, *, of_arguments: bool = True) -> Document:
    """Compile a tool's schema; that of its result may be of any type.

    Raises: UnusableSchema, with the reason.
    """
    require_schema(schema)
    assert isinstance(schema, dict)
    kinds = schema.get("type", "object")
    if of_arguments and kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise UnusableSchema("the schema describes something that is not an object")
    refusals: list[UnusableSchema] = []
    for dialect in dialects_of(schema):
        try:
            return Document(schema, dialect)
        except UnusableSchema as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _require_sound(schema: dict[str, object], dialect: Dialect) -> None:
    try:
        check_structure(schema, dialect.draft)
    except UnsoundSchema as fault:
        raise UnusableSchema(f"in the schema, {fault}") from None


def _cost(schema: dict[str, object]) -> int:
    entries = sum(len(value) for value in schema.values() if isinstance(value, list | dict))
    compared = _size(schema.get("enum")) + _size(schema.get("const"))
    return 1 + (entries + compared) // _ENTRIES_PER_STEP


def _size(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(_size(item) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(_size(item) for item in value)
    return 1


def _list(schema: dict[str, object], keyword: str) -> list[object]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _dict(schema: dict[str, object], keyword: str) -> dict[str, object]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}
