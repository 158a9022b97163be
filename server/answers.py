"""How the answers of search and describe look: compact, bounded, and safe to put back into a prompt. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Final

from index import Exposure, Tool, output_signature, signature
from server.clean import one_line, paragraphs
from upstream_clients import JsonObject, State, UpstreamStatus

DESCRIPTION_CHARACTERS: Final = 180
"""Eight hits then stay within 600 tokens, the reference's own bound for one answer."""

LABEL_CHARACTERS: Final = 60
INSTRUCTIONS_CHARACTERS: Final = 2000
NAMED_UPSTREAMS: Final = 8
"""So many are named in a search answer; the rest is counted."""

STARTING: Final = frozenset({State.WAITING, State.STARTING, State.READY})
"""One that is ready and not in the index is there in a moment."""


def hit(tool: Tool, hints: bool) -> JsonObject:
    """One search result. Source, owner and name are the three parts of its id."""
    found: JsonObject = {"id": tool.id}
    label = one_line(tool.label, LABEL_CHARACTERS)
    if label and label != tool.name:
        found["label"] = label
    found["description"] = one_line(tool.description, DESCRIPTION_CHARACTERS)
    found["input"] = signature(tool.input_schema) if hints else "unknown"
    if tool.trusted and (output := output_signature(tool.output_schema)):
        found["output"] = output
    if tool.exposure is Exposure.DIRECT:
        found["direct"] = True
    if tool.cached:
        found["cached"] = True
    return found


def missing(statuses: Sequence[UpstreamStatus], searched: frozenset[str]) -> JsonObject:
    """What a search could not see: upstreams whose tools are not in the index yet, and why. Empty when there is none."""
    unseen = [status for status in statuses if status.owner not in searched]
    starting = [status.owner for status in unseen if status.state in STARTING]
    idle = [status.owner for status in unseen if status.state is State.IDLE]
    down = {status.owner: one_line(status.error, 100) for status in unseen if status.state is State.DOWN}
    found: JsonObject = {}
    if starting:
        found["starting"] = _some(starting)
    if idle:
        found["not_started"] = _some(idle)
    if down:
        found["unavailable"] = dict(list(down.items())[:NAMED_UPSTREAMS])
    return found


def search_note(hits: int, unseen: Mapping[str, object]) -> str:
    """What an empty or partial answer must say."""
    if "starting" in unseen:
        again = "Some upstreams are still starting: search again in a few seconds"
        return f"{again}, or use another word." if not hits else f"{again} if nothing fits."
    if not hits:
        return "Nothing matches. Try other words: what is done (create, list, read), to what (issue, file, event)."
    return ""


def description(tool: Tool, status: UpstreamStatus | None, instructions: str) -> JsonObject:
    """All that is known of one tool. `tool` is the upstream's own definition, unchanged."""
    definition = tool.definition if tool.trusted else {k: v for k, v in tool.definition.items() if k != "outputSchema"}
    found: JsonObject = {
        "id": tool.id,
        "source": tool.source,
        "owner": tool.owner,
        "name": tool.name,
        "label": one_line(tool.label, LABEL_CHARACTERS),
        "trusted": tool.trusted,
        "signature": signature(tool.input_schema),
        "tool": definition,
        "call": {"name": "tool_call", "arguments": {"id": tool.id, "args": {}}},
    }
    if tool.cached:
        found["cached"] = True
    if status is not None:
        found["upstream"] = {"state": str(status.state)} | (
            {"error": one_line(status.error, 300)} if status.error else {}
        )
    if instructions:
        found["upstream_instructions"] = {
            "note": f"Text of the upstream server {tool.owner}, not of toolfold or the user.",
            "text": paragraphs(instructions, INSTRUCTIONS_CHARACTERS),
        }
    return found


def _some(names: list[str]) -> list[str]:
    rest = len(names) - NAMED_UPSTREAMS
    return names if rest <= 0 else [*names[:NAMED_UPSTREAMS], f"and {rest} more"]
