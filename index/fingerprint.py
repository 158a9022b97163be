"""What search may find of each owner, and the digests of it, so that an unchanged listing builds nothing.

Two catalogues with the same fingerprint give the same index; a change that search cannot see (an annotation, an
output schema, a connection that came back) leaves it as it was.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from index.giving_way import GiveWay, giving_way, never
from index.tool import Exposure, Tool


@dataclass(frozen=True, slots=True)
class Searchable:
    """The tools of one owner that search may find, in the order of their ids; at least one."""

    tools: tuple[Tool, ...] = field(repr=False)
    digest: str  # of all that search reads of them, the ids included


def searchable(tools: Iterable[Tool], give_way: GiveWay = never) -> Searchable | None:
    """What search may find of one owner's tools; None when that is nothing."""
    found = tuple(sorted((tool for tool in tools if tool.exposure is Exposure.CATALOG), key=lambda tool: tool.id))
    if not found:
        return None
    digest = hashlib.sha256()
    for tool in giving_way(found, give_way):
        parts = (tool.id, tool.label, tool.description, tool.search_hint, tool.input_schema)
        digest.update(json.dumps(parts).encode())
    return Searchable(found, digest.hexdigest())


def by_owner(tools: Iterable[Tool]) -> tuple[Searchable, ...]:
    """What search may find of tools of any number of owners, in the order of their ids."""
    owners: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        owners[tool.source, tool.owner].append(tool)
    return in_order(filter(None, map(searchable, owners.values())))


def in_order(owners: Iterable[Searchable]) -> tuple[Searchable, ...]:
    """By their ids: an owner's ids begin alike, so that those of two owners never mix."""
    return tuple(sorted(owners, key=lambda one: one.tools[0].id))


def fingerprint_of(owners: Iterable[Searchable]) -> str:
    """The fingerprint of what search may find of owners in order."""
    whole = hashlib.sha256()
    for one in owners:
        whole.update(one.digest.encode())
    return whole.hexdigest()
