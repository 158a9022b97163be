"""Tools and words: what tools there are, what they are called, and how they are found.

Everything here is pure and synchronous: no file but its own word lists, no socket, no await, no policy. Other rooms
import from this package only, never from its modules.
"""

from index.catalog import Catalog, Classify, Unresolved
from index.confidence import Confidence
from index.evaluate import Evaluation, Question, evaluate, read_questions
from index.explain import Explanation, WordScore
from index.ids import owner_for_key, tool_id
from index.keywords import Draft, UnsoundSchema, check_structure, drafts_to_try, subschemas
from index.query import MAX_QUERY_CHARS
from index.search import Match, SearchIndex
from index.signature import output_signature, plain_signature, signature
from index.tally import NOTHING, Tally
from index.tool import Exposure, JsonObject, Listing, Tool

__all__ = [
    "MAX_QUERY_CHARS",
    "NOTHING",
    "Catalog",
    "Classify",
    "Confidence",
    "Draft",
    "Evaluation",
    "Explanation",
    "Exposure",
    "JsonObject",
    "Listing",
    "Match",
    "Question",
    "SearchIndex",
    "Tally",
    "Tool",
    "Unresolved",
    "UnsoundSchema",
    "WordScore",
    "check_structure",
    "drafts_to_try",
    "evaluate",
    "output_signature",
    "owner_for_key",
    "plain_signature",
    "read_questions",
    "signature",
    "subschemas",
    "tool_id",
]
