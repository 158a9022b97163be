"""Tools and words: what tools there are, what they are called, and how they are found.

Everything here is pure and synchronous: no file but its own word lists, no socket, no await, no policy. Other rooms
import from this package only, never from its modules.
"""

from index.catalog import Catalog, Classify, Unresolved
from index.confidence import Confidence
from index.cost import BYTES_PER_TOKEN, prompt_bytes, prompt_text, tokens
from index.evaluate import Evaluation, Question, evaluate, read_questions
from index.explain import Explanation, WordScore
from index.ids import owner_for_key, tool_id
from index.keywords import Draft, UnsoundSchema, check_structure, drafts_to_try, subschemas
from index.query import MAX_QUERY_CHARS
from index.search import Match, SearchIndex
from index.signature import output_signature, plain_signature, signature
from index.tool import Exposure, JsonObject, Judgement, Listing, Tool

__all__ = [
    "BYTES_PER_TOKEN",
    "MAX_QUERY_CHARS",
    "Catalog",
    "Classify",
    "Confidence",
    "Draft",
    "Evaluation",
    "Explanation",
    "Exposure",
    "JsonObject",
    "Judgement",
    "Listing",
    "Match",
    "Question",
    "SearchIndex",
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
    "prompt_bytes",
    "prompt_text",
    "read_questions",
    "signature",
    "subschemas",
    "tokens",
    "tool_id",
]
