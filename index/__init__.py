"""Tools and words: what tools there are, what they are called, and how they are found.

Everything here is pure and synchronous: no file but its own word lists, no socket, no await, no policy. Other rooms
import from this package only, never from its modules.
"""

from index.admission import BAD_NAME
from index.bill import BYTES_PER_TOKEN, approximate_tokens, encoded_bytes, shown_bytes, shown_text, utf8_bytes
from index.catalog import Catalog, Classify, Unresolved
from index.confidence import Confidence
from index.evaluate import HITS, Evaluation, Score, evaluate
from index.explain import Explanation, WordScore
from index.ids import owner_for_key, tool_id
from index.keywords import Draft, UnsoundSchema, check_structure, drafts_to_try, subschemas
from index.likeness import appearance, is_unmistakable, spelling
from index.query import MAX_QUERY_CHARS
from index.questions import BadQuestions, Question, read_questions
from index.search import Match, SearchIndex
from index.semantic import Near, meaning_text
from index.signature import output_signature, plain_signature, signature
from index.tally import NOTHING, Tally
from index.tool import Exposure, JsonObject, Judgement, Listing, Tool

__all__ = [
    "BAD_NAME",
    "BYTES_PER_TOKEN",
    "HITS",
    "MAX_QUERY_CHARS",
    "NOTHING",
    "BadQuestions",
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
    "Near",
    "Question",
    "Score",
    "SearchIndex",
    "Tally",
    "Tool",
    "Unresolved",
    "UnsoundSchema",
    "WordScore",
    "appearance",
    "approximate_tokens",
    "check_structure",
    "drafts_to_try",
    "encoded_bytes",
    "evaluate",
    "is_unmistakable",
    "meaning_text",
    "output_signature",
    "owner_for_key",
    "plain_signature",
    "read_questions",
    "shown_bytes",
    "shown_text",
    "signature",
    "spelling",
    "subschemas",
    "tool_id",
    "utf8_bytes",
]
