"""Digests of what a search index is built from, so that an unchanged listing builds nothing.

Two catalogues with the same fingerprint give the same index; a change that search cannot see (an annotation, an
output schema, a connection that came back) leaves it as it was.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping

from index.tool import Exposure, Tool


def searchable(tools: Iterable[Tool]) -> list[Tool]:
    """The tools that search may find, in the order of the index."""
    return sorted((tool for tool in tools if tool.exposure is Exposure.CATALOG), key=lambda tool: tool.id)


def owner_digest(tools: Iterable[Tool]) -> str:
    """Digest of one owner's searchable tools; empty when it has none."""
    digest = hashlib.sha256()
    some = False
    for tool in searchable(tools):
        some = True
        parts = (tool.id, tool.label, tool.description, tool.search_hint, tool.input_schema)
        digest.update(json.dumps(parts).encode())
    return digest.hexdigest() if some else ""


def combined(digests: Mapping[tuple[str, str], str]) -> str:
    """Digest over all owners, from the digests of each."""
    whole = hashlib.sha256()
    for owner, digest in sorted(digests.items()):
        if digest:
            whole.update(f"{owner[0]}:{owner[1]}:{digest}\n".encode())
    return whole.hexdigest()


def fingerprint_of(tools: Iterable[Tool]) -> str:
    """The fingerprint of tools of any number of owners; the one that a catalogue of them has."""
    owners: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        owners[tool.source, tool.owner].append(tool)
    return combined({owner: owner_digest(its_tools) for owner, its_tools in owners.items()})
