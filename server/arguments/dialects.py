"""The drafts of JSON Schema that a tool's schema may be written in, and what differs between them here.

`format` is in none of the tables: since 2019-09 it is an annotation, its checkers differ from library to library, and
refusing an address or a date that the upstream would have taken helps nobody. A document is read in its root's draft
throughout: a `$schema` further inside changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import jsonschema
from referencing import Specification
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012, Schema

from index import Draft, JsonObject, drafts_to_try, subschemas
from server.arguments.keywords import REPLACED, Keyword


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One draft: its keywords, and how it finds what a schema holds and refers to."""

    draft: Draft
    keywords: Mapping[str, Keyword]
    specification: Specification[Schema]

    @property
    def ref_stands_alone(self) -> bool:
        """Up to draft-07, whatever stands beside a `$ref` is ignored."""
        return self.draft <= Draft.DRAFT_7

    @property
    def has_items_lists(self) -> bool:
        """Up to 2019-09, `items` may be a list, which 2020-12 calls `prefixItems`."""
        return self.draft <= Draft.DRAFT_2019

    @property
    def takes_whole_floats(self) -> bool:
        """Since draft-06, 5.0 is an integer."""
        return self.draft >= Draft.DRAFT_6


def dialects_of(schema: JsonObject) -> Iterator[Dialect]:
    """The draft that `$schema` names; where it names none that is known, those that the schema may be written in."""
    return (_DIALECTS[draft] for draft in drafts_to_try(schema))


def _dialect(draft: Draft, library: Mapping[str, Keyword], specification: Specification[Schema]) -> Dialect:
    keywords = {name: REPLACED.get(name, keyword) for name, keyword in library.items() if name != "format"}
    return Dialect(draft, keywords, _of_one_draft(draft, specification))


def _of_one_draft(draft: Draft, specification: Specification[Schema]) -> Specification[Schema]:
    """The same rules for `$id`s and anchors, for all that stands in a schema, whatever `$schema` it has further inside."""

    def inside(contents: Schema) -> Iterator[Schema]:
        for _, _, part in subschemas(contents, draft) if isinstance(contents, dict) else ():
            if isinstance(part, dict):
                yield {name: value for name, value in part.items() if name != "$schema"} if "$schema" in part else part

    make: Callable[..., Specification[Schema]] = Specification  # attrs writes its signature where mypy doesn't see it
    return make(
        name=specification.name,
        id_of=specification.id_of,
        subresources_of=inside,
        maybe_in_subresource=specification.maybe_in_subresource,
        anchors_in=lambda _, contents: specification.anchors_in(contents),
    )


_DIALECTS: Mapping[Draft, Dialect] = {
    dialect.draft: dialect
    for dialect in (
        _dialect(Draft.DRAFT_4, jsonschema.Draft4Validator.VALIDATORS, DRAFT4),
        _dialect(Draft.DRAFT_6, jsonschema.Draft6Validator.VALIDATORS, DRAFT6),
        _dialect(Draft.DRAFT_7, jsonschema.Draft7Validator.VALIDATORS, DRAFT7),
        _dialect(Draft.DRAFT_2019, jsonschema.Draft201909Validator.VALIDATORS, DRAFT201909),
        _dialect(Draft.DRAFT_2020, jsonschema.Draft202012Validator.VALIDATORS, DRAFT202012),
    )
}
