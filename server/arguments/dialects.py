"""The drafts of JSON Schema that a tool's schema may be written in, and what differs between them here.

`format` is in none of the tables: since 2019-09 it is an annotation, its checkers differ from library to library, and
refusing an address or a date that the upstream would have taken helps nobody. A document is read in its root's draft
throughout: a `$schema` further inside changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jsonschema
from referencing import Specification
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012, Schema

from server.arguments.keywords import REPLACED, Keyword


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One draft: its address, its keywords, and how it finds what a schema holds and refers to."""

    uri: str
    keywords: Mapping[str, Keyword]
    specification: Specification[Schema]
    ref_stands_alone: bool  # up to draft-07, whatever stands beside a `$ref` is ignored
    has_items_lists: bool  # up to 2019-09, `items` may be a list, which 2020-12 calls `prefixItems`
    takes_whole_floats: bool  # since draft-06, 5.0 is an integer


def _dialect(uri: str, library: Mapping[str, Keyword], specification: Specification[Schema], age: int) -> Dialect:
    keywords = {name: REPLACED.get(name, keyword) for name, keyword in library.items() if name != "format"}
    return Dialect(uri, keywords, specification, age <= 7, age <= 2019, age > 4)


_DIALECTS = (
    _dialect("http://json-schema.org/draft-04/schema", jsonschema.Draft4Validator.VALIDATORS, DRAFT4, 4),
    _dialect("http://json-schema.org/draft-06/schema", jsonschema.Draft6Validator.VALIDATORS, DRAFT6, 6),
    _dialect("http://json-schema.org/draft-07/schema", jsonschema.Draft7Validator.VALIDATORS, DRAFT7, 7),
    _dialect(
        "https://json-schema.org/draft/2019-09/schema",
        jsonschema.Draft201909Validator.VALIDATORS,
        DRAFT201909,
        2019,
    ),
    _dialect(
        "https://json-schema.org/draft/2020-12/schema",
        jsonschema.Draft202012Validator.VALIDATORS,
        DRAFT202012,
        2020,
    ),
)
_BY_ADDRESS: Mapping[str, Dialect] = {dialect.uri.partition("//")[2]: dialect for dialect in _DIALECTS}


def dialect_of(schema: Mapping[str, object]) -> Dialect:
    """The draft that `$schema` names; 2020-12, as MCP has it, where none is named or none that is known."""
    named = schema.get("$schema")
    address = named.rstrip("#").partition("//")[2] if isinstance(named, str) else ""
    return _BY_ADDRESS.get(address, _DIALECTS[-1])
