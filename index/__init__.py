"""Tools and words: what tools there are, what they are called, and how they are found.

Everything here is pure and synchronous: no file, no socket, no await, no policy. Other rooms import from this package
only, never from its modules.
"""

from index.catalog import Catalog, Classify, Unresolved
from index.ids import owner_for_key, tool_id
from index.keywords import Draft, UnsoundSchema, check_structure, drafts_to_try, subschemas
from index.search import MAX_QUERY_CHARS, Match, SearchIndex
from index.signature import output_signature, signature
from index.tool import Exposure, JsonObject, Listing, Tool

__all__ = [
    "MAX_QUERY_CHARS",
    "Catalog",
    "Classify",
    "Draft",
    "Exposure",
    "JsonObject",
    "Listing",
    "Match",
    "SearchIndex",
    "Tool",
    "Unresolved",
    "UnsoundSchema",
    "check_structure",
    "drafts_to_try",
    "output_signature",
    "owner_for_key",
    "signature",
    "subschemas",
    "tool_id",
]
