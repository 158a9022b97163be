"""One schema applied to one value, counted: what jsonschema's keyword functions are handed as `validator`.

jsonschema's own Validator is not used for this: it has no bound on steps or depth, and it changes to another, stock
class (with Python's `re`) wherever a subschema has a `$schema`. The keyword functions are the library's; the walk that
calls them is this one.

1. Every visit pays its place's cost before it looks at the value, and none is deeper than `MAX_NESTING`.
2. A visit changes nothing but the budget of its own call, so one document serves any number of threads.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jsonschema import ValidationError
from referencing.jsonschema import lookup_recursive_ref

from server.arguments.bounds import MAX_NESTING, Budget, GaveUp

if TYPE_CHECKING:
    from referencing._core import Resolver
    from referencing.jsonschema import Schema

    from server.arguments.document import Document

# An error takes as long to make as three visits, and each level that it passes on its way up takes another step. The
# library's quote the value: this many characters of it pass for a step, which also bounds the memory, to 40 MB.
_STEPS_PER_ERROR = 3
_CHARACTERS_PER_STEP = 400


class Visit:
    """Has the methods that keyword functions call: `descend`, `evolve`, `is_valid`, `is_type` and two private ones."""

    __slots__ = ("_depth", "_resolver", "budget", "document", "schema")

    def __init__(
        self, document: "Document", budget: Budget, schema: object, resolver: "Resolver[Schema]", depth: int
    ) -> None:
        if depth > MAX_NESTING:
            raise GaveUp
        self.document = document
        self.budget = budget
        self.schema = schema
        self._resolver = resolver
        self._depth = depth

    def __repr__(self) -> str:
        return f"<Visit {self._depth} deep>"

    def iter_errors(
        self, instance: object, path: str | int | None = None, schema_path: str | int | None = None
    ) -> Iterator[ValidationError]:
        """What is wrong with the instance here, inner schemas included; the steps that led here stand first in paths.

        One generator for each visit, not one to find and one to name: the depth of Python's stack is what bounds ours.
        """
        schema = self.schema
        if not isinstance(schema, dict):
            self.budget.spend(1)
            if schema is False:
                error = self._described(ValidationError("false schema"), "false", False, instance)
                yield _led_by(error, path, schema_path)
            return
        place = self.document.place(schema)
        self.budget.spend(place.cost)
        for name, keyword, value in place.rules:
            for error in keyword(self, value, instance, schema) or ():
                if not isinstance(error.validator, str):
                    self._described(error, name, value, instance)
                error.schema_path.appendleft(name)
                self.budget.spend(1)
                yield _led_by(error, path, schema_path)

    def descend(
        self,
        instance: object,
        schema: object,
        path: str | int | None = None,
        schema_path: str | int | None = None,
        resolver: "Resolver[Schema] | None" = None,
    ) -> Iterator[ValidationError]:
        """The errors of an inner schema, with the steps that lead there."""
        return self.evolve(schema=schema, _resolver=resolver).iter_errors(instance, path, schema_path)

    def evolve(self, *, schema: object, _resolver: "Resolver[Schema] | None" = None) -> "Visit":
        """The visit of another schema from here."""
        resolver = _resolver
        if resolver is None:
            resolver = self._resolver
            if isinstance(schema, dict) and ("$id" in schema or "id" in schema):
                resolver = resolver.in_subresource(self.document.dialect.specification.create_resource(schema))
        return Visit(self.document, self.budget, schema, resolver, self._depth + 1)

    def is_valid(self, instance: object) -> bool:
        """Whether nothing is wrong with the instance here."""
        return next(self.iter_errors(instance), None) is None

    def is_type(self, instance: object, name: str) -> bool:
        """Whether the instance is of the JSON type of that name."""
        return self.document.is_type(instance, name)

    def matches(self, regex: object, text: str) -> bool | None:
        """Whether the pattern is in the text; None when it can't be checked."""
        pattern = self.document.pattern(regex)
        if pattern is None:
            return None
        self.budget.spend(pattern.cost(text))
        return pattern.is_in(text)

    def referred(self, keyword: str, ref: object) -> tuple["Visit", object]:
        """The visit of what a reference names, and that schema."""
        assert isinstance(ref, str)
        recursive = keyword == "$recursiveRef"
        resolved = lookup_recursive_ref(self._resolver) if recursive else self._resolver.lookup(ref)
        return self.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents

    def _validate_reference(self, ref: str, instance: object) -> Iterator[ValidationError]:
        resolved = self.document.answer(self.schema) or self._resolver.lookup(ref)
        return self.descend(instance, resolved.contents, resolver=resolved.resolver)

    def _described(self, error: ValidationError, name: str, value: object, instance: object) -> ValidationError:
        error.validator = name
        error.validator_value = value
        error.instance = instance
        assert isinstance(self.schema, dict | bool)
        error.schema = self.schema
        self.budget.spend(_STEPS_PER_ERROR + len(error.message) // _CHARACTERS_PER_STEP)
        return error


def _led_by(error: ValidationError, path: str | int | None, schema_path: str | int | None) -> ValidationError:
    if path is not None:
        error.path.appendleft(path)
    if schema_path is not None:
        error.schema_path.appendleft(schema_path)
    return error
