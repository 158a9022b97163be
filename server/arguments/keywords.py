"""The JSON Schema keywords that jsonschema's own functions would not do safely here. All others stay the library's.

`pattern`, `patternProperties`, `additionalProperties` and `unevaluatedProperties` search with Python's `re` there;
`uniqueItems` and `unevaluatedItems` take quadratic time; `multipleOf` overflows and rounds. `required` and the
dependencies keep the missing name only in a sentence, and a name is needed. The functions have the library's shape:
(visit, the keyword's value, the instance, the schema around) -> errors. Their messages are never shown to anyone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from jsonschema import Draft201909Validator, Draft202012Validator, ValidationError

if TYPE_CHECKING:
    from server.arguments.visit import Visit

Errors: TypeAlias = Iterator[ValidationError]
Keyword: TypeAlias = Callable[["Visit", object, object, Mapping[str, object]], Errors | None]

# unevaluatedItems looks each item up in a list, some 4 ns a comparison: 1,000 of them are worth a step.
_COMPARISONS_PER_STEP = 1_000


def pattern(visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    if isinstance(instance, str) and visit.matches(value, instance) is False:
        yield ValidationError("pattern")


def pattern_properties(visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    assert isinstance(value, dict)
    if isinstance(instance, dict):
        for regex, subschema in value.items():
            for key, item in instance.items():
                if visit.matches(regex, key):
                    yield from visit.descend(item, subschema, path=key, schema_path=regex)


def additional_properties(visit: "Visit", value: object, instance: object, schema: Mapping[str, object]) -> Errors:
    if isinstance(instance, dict) and value is not True:
        declared = _mapping(schema, "properties")
        for key in instance:
            if key not in declared and not _may_match(visit, schema, key):
                yield from _extra(visit, value, instance, key)


def unevaluated_properties(visit: "Visit", value: object, instance: object, schema: Mapping[str, object]) -> Errors:
    if isinstance(instance, dict) and value is not True:
        others = {name: rule for name, rule in schema.items() if name != "unevaluatedProperties"}
        evaluated = set(_evaluated(visit, others, instance))
        for key in instance:
            if key not in evaluated:
                yield from _extra(visit, value, instance, key)


def required(_visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    assert isinstance(value, list)
    return _missing(value, instance)


def dependencies(visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    """`dependencies` of the older drafts, and `dependentRequired`, which is its half with names."""
    assert isinstance(value, dict)
    if isinstance(instance, dict):
        for key, needed in value.items():
            if key not in instance:
                continue
            if isinstance(needed, list):
                yield from _missing(needed, instance)
            else:
                yield from visit.descend(instance, needed, schema_path=key)


def unique_items(visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    if value is True and isinstance(instance, list):
        seen = set()
        for item in instance:
            seen.add(_hashable(visit, item))
        if len(seen) < len(instance):
            yield ValidationError("uniqueItems")


def unevaluated_items(visit: "Visit", value: object, instance: object, schema: Mapping[str, object]) -> Errors:
    if isinstance(instance, list):
        visit.budget.spend(len(instance) ** 2 // _COMPARISONS_PER_STEP)
        is_old = visit.document.dialect.has_items_lists
        library = (Draft201909Validator if is_old else Draft202012Validator).VALIDATORS["unevaluatedItems"]
        try:
            yield from library(visit, value, instance, schema)
        except (
            TypeError
        ):  # of 2019-09, it counts the entries of `items`, which may be true: then each item is evaluated
            return


def multiple_of(_visit: "Visit", value: object, instance: object, _schema: Mapping[str, object]) -> Errors:
    """Exact in decimal: 0.3 is a multiple of 0.1, and 10**400 has no float to overflow."""
    if isinstance(instance, int | float) and not isinstance(instance, bool):
        assert isinstance(value, int | float)
        if (Fraction(str(instance)) / Fraction(str(value))).denominator != 1:
            yield ValidationError("multipleOf")


def _missing(names: Iterable[object], instance: object) -> Errors:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield ValidationError("required", path=[str(name)])


def _extra(visit: "Visit", subschema: object, instance: dict[str, object], key: str) -> Errors:
    if subschema is False:
        yield ValidationError("additionalProperties", path=[key])
    else:
        yield from visit.descend(instance[key], subschema, path=key)


def _may_match(visit: "Visit", schema: Mapping[str, object], key: str) -> bool:
    """Whether a `patternProperties` pattern takes the key, or can't be checked and so may."""
    return any(visit.matches(regex, key) is not False for regex in _mapping(schema, "patternProperties"))


def _mapping(schema: Mapping[str, object], keyword: str) -> Mapping[str, object]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _evaluated(visit: "Visit", schema: object, instance: dict[str, object]) -> Iterator[str]:
    """The keys of a valid instance that this schema has looked at, as `unevaluatedProperties` counts them."""
    if not isinstance(schema, dict):
        return
    visit.budget.spend(1 + len(instance))
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        yield from instance
        return
    yield from _mapping(schema, "properties")
    for key in instance:
        if _may_match(visit, schema, key):
            yield key
    for inner, subschema in _applied_in_place(visit, schema, instance):
        yield from _evaluated(inner, subschema, instance)


def _applied_in_place(
    visit: "Visit", schema: dict[str, object], instance: dict[str, object]
) -> Iterator[tuple["Visit", object]]:
    """The subschemas that apply to the instance itself and accept it, each with the visit to go on from."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema and keyword in visit.document.dialect.keywords:
            yield visit.referred(keyword, schema[keyword])
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(keyword)
        for subschema in branches if isinstance(branches, list) else ():
            yield from _if_valid(visit, subschema, instance)
    for key, subschema in _mapping(schema, "dependentSchemas").items():
        if key in instance:
            yield visit.evolve(schema=subschema), subschema
    if "if" in schema:
        yield from _of_condition(visit, schema, instance)


def _of_condition(visit: "Visit", schema: dict[str, object], instance: object) -> Iterator[tuple["Visit", object]]:
    holds = visit.evolve(schema=schema["if"]).is_valid(instance)
    for keyword in ("if", "then") if holds else ("else",):
        if keyword in schema:
            yield visit.evolve(schema=schema[keyword]), schema[keyword]


def _if_valid(visit: "Visit", subschema: object, instance: object) -> Iterator[tuple["Visit", object]]:
    inner = visit.evolve(schema=subschema)
    if inner.is_valid(instance):
        yield inner, subschema


def _hashable(visit: "Visit", value: object) -> object:
    """A key that is equal exactly when the JSON values are: 1 and 1.0 are, 1 and true are not."""
    visit.budget.spend(1)
    if isinstance(value, dict):
        return frozenset((key, _hashable(visit, item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(_hashable(visit, item) for item in value)
    return (bool, value) if isinstance(value, bool) else value


REPLACED: Mapping[str, Keyword] = {
    "additionalProperties": additional_properties,
    "dependencies": dependencies,
    "dependentRequired": dependencies,
    "multipleOf": multiple_of,
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "required": required,
    "unevaluatedItems": unevaluated_items,
    "unevaluatedProperties": unevaluated_properties,
    "uniqueItems": unique_items,
}
