"""What one snapshot answers to queries: tools that are there now, how sure each hit is, and why. Pure; it blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from index import Catalog, Explanation, Exposure, Near, Tool
from server.access import Access
from server.clean import one_line
from server.client_tools import CLIENT, refused
from server.errors import GatewayError
from server.library import Snapshot
from upstream_clients import JsonObject

LONGEST_QUERY: Final = 10_000
"""Characters. The index reads fewer; a longer query is a document pasted by mistake, and is refused rather than cut."""

SHOWN_QUERY: Final = 80
"""Characters of a query that an answer repeats."""

DEEPER: Final = 4
"""Times as many matches are looked at where the caller may not see all of the first ones."""


LARGEST_LIMIT: Final = 1_000_000
"""Of hits, that is told from a larger one: JSON can write infinity (1e999), which is no whole number."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found: tools that are there now, the confidence of each by id, and words to try instead."""

    tools: tuple[Tool, ...]
    confidence: Mapping[str, str]
    closest_words: tuple[str, ...]


def check(query: str) -> None:
    """Raises GatewayError for a query that is not looked up."""
    if not query.strip():
        raise GatewayError("invalid_arguments", "The query is empty.", "Say in a few words what the tool should do.")
    if len(query) > LONGEST_QUERY:
        raise GatewayError("invalid_arguments", f"The query is over {LONGEST_QUERY} characters.", "Use a few words.")


def whole_limit(written: object) -> int | None:
    """How many hits are asked for. What is not a whole number falls back to the default: it is never worth an error."""
    if isinstance(written, str) and written.strip().isdecimal():
        return int(written.strip()[:6])
    return int(min(written, LARGEST_LIMIT)) if isinstance(written, (int, float)) and written >= 1 else None


def found_in(
    snapshot: Snapshot, queries: Sequence[str], count: int, near: Near | None, access: Access
) -> tuple[Found, ...]:
    """For a worker thread: the answers of one snapshot to all queries, as far as the caller may see them."""
    return tuple(_found(snapshot, query, count, near, access) for query in queries)


def _found(snapshot: Snapshot, query: str, count: int, near: Near | None, access: Access) -> Found:
    if snapshot.index is None:
        return Found((), {}, ())
    asked = count
    while True:
        matches = snapshot.index.search(query, asked, near)
        found = [tool for match in matches if (tool := snapshot.catalog.get(match.tool_id)) and _is_found(tool, access)]
        if access.sees_all or len(found) >= count or len(matches) < asked:
            break
        asked *= DEEPER  # what was left out makes room for what came after it
    closest_words = snapshot.index.closest_words(query) if access.sees_all and not found else ()
    confidence = {match.tool_id: str(match.confidence) for match in matches}
    return Found(tuple(found[:count]), confidence, closest_words)


def taken_apart(snapshot: Snapshot, query: str, count: int, near: Near | None) -> tuple[Explanation, ...]:
    """For a worker thread: why each hit of a query is one."""
    return snapshot.index.explain(query, count, snapshot.catalog.get, near) if snapshot.index else ()


def short_answer(query: str, found: Found) -> JsonObject:
    """One of several answers: ids and confidence; the tools stand beside it."""
    answer: JsonObject = {
        "query": one_line(query, SHOWN_QUERY),
        "found": {tool.id: found.confidence[tool.id] for tool in found.tools},
    }
    if found.closest_words:
        answer["closest_words"] = list(found.closest_words)
    return answer


def ids_in(answer: JsonObject) -> tuple[str, ...]:
    """The ids in an answer of hits."""
    tools = answer["tools"]
    return tuple(hit["id"] for hit in tools) if isinstance(tools, list) else ()


def held(catalog: Catalog, reference: str, access: Access) -> GatewayError | None:
    """The error of a tool that waits for a person's word, or that is the host's own and refused. Whoever has its id may know
    why it does not work.
    """
    tool = catalog.get(reference.strip())
    if tool is None or tool.exposure is not Exposure.QUARANTINED or not access.sees(tool):
        return None
    if tool.source == CLIENT:
        return refused(tool)
    if not tool.warning:
        return None
    hint = f"A person has to look at it: toolfold trust {tool.upstream} {tool.name}"
    return GatewayError("tool_held", f"{tool.id} is held back: {tool.warning}.", hint)


def _is_found(tool: Tool, access: Access) -> bool:
    """The index may lag behind: a tool that has just been hidden must not be found. It knows nothing of callers."""
    return tool.exposure in (Exposure.CATALOG, Exposure.DIRECT) and access.sees(tool)
