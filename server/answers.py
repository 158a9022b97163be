"""How the answers of search and describe look: compact, bounded, and safe to put back into a prompt. Pure functions."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from index import Explanation, Exposure, Tool, Unresolved, output_signature, plain_signature, signature
from server import ways
from server.access import Verdict
from server.clean import one_line, paragraphs, visible
from server.client_tools import CLIENT
from server.config import Pinning
from server.errors import GatewayError
from server.pins import UNSHOWN
from server.surface import Surface
from server.suspicion import suspicion_of_greeting
from server.ways import CALL
from upstream_clients import JsonObject, State, UpstreamStatus

DESCRIPTION_CHARACTERS: Final = 180
"""Eight hits then stay within 600 tokens, the reference's own bound for one answer."""

HIT_BYTES: Final = 320
"""Room for a hit, hints included, on average over the hits of an answer: eight of them are 2,560 bytes, or 569 tokens."""

LABEL_CHARACTERS: Final = 60
SCORE_DIGITS: Final = 3
INSTRUCTIONS_CHARACTERS: Final = 2000
OTHER_WORDS: Final = "other words: what is done (create, list, read), to what (issue, file, event)"
AGAIN_IN_SECONDS: Final = "Try again in a few seconds."
SCHEMAS: Final = frozenset({"inputSchema", "outputSchema"})
"""What a call is held against, which must be read as it was written."""

NAMED_UPSTREAMS: Final = 8
"""So many are named in a search answer; the rest is counted."""

STARTING: Final = frozenset({State.IDLE, State.WAITING, State.STARTING, State.READY, State.ASLEEP})
"""One that is idle is started by the search that misses it; one that is ready or asleep has listed its tools, and they
are in the index in a moment."""


VERDICTS: Final[Mapping[Verdict, str]] = {
    Verdict.ASK: "ask: before it is run, a person is asked to approve the call",
    Verdict.BLOCK: "block: the operator does not let it be run; a call is refused",
}
"""What a description says of a tool that is not simply run."""


def hits(
    tools: Sequence[Tool],
    shows_hints: Callable[[Tool], bool],
    verdict: Callable[[Tool], Verdict],
    confidence: Mapping[str, str] | None = None,
) -> list[JsonObject]:
    """Search results, best first. Typed hints are given from the top down while there is room for them."""
    found = [_hit(tool, (confidence or {}).get(tool.id, ""), verdict(tool)) for tool in tools]
    room = HIT_BYTES * len(found) - len(_encode(found))
    for tool, one in zip(tools, found, strict=True):
        for key, hint in _hints(tool).items() if shows_hints(tool) else ():
            cost = len(_encode({key: hint})) - (len(_encode({key: one[key]})) if key in one else 0)
            if cost <= room:
                one[key] = hint
                room -= cost
    return found


def _hit(tool: Tool, confidence: str, verdict: Verdict) -> JsonObject:
    """One result without hints. Source, owner and name are the three parts of its id."""
    found: JsonObject = {"id": tool.id}
    if confidence:
        found["confidence"] = confidence
    label = one_line(tool.label, LABEL_CHARACTERS)
    if label and label != tool.bare_name:
        found["label"] = label
    found |= {"description": one_line(tool.description, DESCRIPTION_CHARACTERS), "input": "unknown"}
    if tool.exposure is Exposure.DIRECT or tool.source == CLIENT:
        found["direct"] = True
    if tool.cached:
        found["cached"] = True
    if verdict:
        found["policy"] = verdict.name.lower()
    return found


def _hints(tool: Tool) -> dict[str, str]:
    """The typed input, and for a trusted tool the output, if it can be said in full."""
    if not tool.trusted:
        return {"input": plain_signature(tool.input_schema)}
    typed = signature(tool.input_schema)
    output = output_signature(tool.output_schema)
    return {"input": typed} | ({"output": output} if output else {})


def _encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def explained(hit: Explanation) -> JsonObject:
    """Why a hit was found: what each word of the query scored in which field, and what the rules added to it."""
    return {
        "named": hit.named,
        "score": round(hit.score, SCORE_DIGITS),
        "ceiling": round(hit.ceiling, SCORE_DIGITS),
        "words": [
            {
                "word": word.word,
                "met_as": word.met_as,
                "origin": word.origin,
                "score": round(word.score, SCORE_DIGITS),
                "fields": _rounded(word.fields),
            }
            for word in hit.words
        ],
        "bonuses": _rounded(hit.bonuses),
        "unmet": list(hit.unmet),
    }


def _rounded(scores: Mapping[str, float]) -> JsonObject:
    return {name: round(score, SCORE_DIGITS) for name, score in scores.items()}


def missing(statuses: Sequence[UpstreamStatus], searched: frozenset[str]) -> JsonObject:
    """What a search could not see: upstreams whose tools are not in the index yet, and why. Empty when there is none.

    One that has failed and is just being tried again has failed: nothing says that the next try will fare better.
    """
    unseen = [status for status in statuses if status.owner not in searched]
    failed = [status for status in unseen if status.state is State.DOWN or status.down_since is not None]
    starting = [status.owner for status in unseen if status.state in STARTING and status not in failed]
    down = {status.owner: one_line(status.error, 100) for status in failed}
    found: JsonObject = {}
    if starting:
        found["starting"] = _some(starting)
    if down:
        found["unavailable"] = dict(list(down.items())[:NAMED_UPSTREAMS])
    return found


def search_note(hits: int, unseen: Mapping[str, object], closest_words: Sequence[str]) -> str:
    """What an empty or partial answer must say."""
    if "starting" in unseen:
        again = "Some upstreams are still starting: search again in a few seconds"
        return f"{again}, or use another word." if not hits else f"{again} if nothing fits."
    if not hits and closest_words:
        return f"Nothing matches. The closest words of the catalogue: {', '.join(closest_words)}."
    return f"Nothing matches. Try {OTHER_WORDS}." if not hits else ""


def batch_note(has_found: Sequence[bool], unseen: Mapping[str, object]) -> str:
    """The same for the answers to several queries, each of which names the closest words itself."""
    if "starting" in unseen or not any(has_found):
        return search_note(sum(has_found), unseen, ())
    return "" if all(has_found) else f"Where nothing was found, try {OTHER_WORDS}."


def unresolved(found: Unresolved, surface: Surface) -> GatewayError:
    """What an unknown id and an ambiguous name are answered with, to one who is shown this. Hidden tools are unknown ones
    here. Where tools are called by their published names, it is these that are told.
    """
    named, called = found.reference[:80], _published_names(surface)
    candidates = ", ".join(called.get(one, one) for one in found.candidates)
    if found.ambiguous:
        which = "names" if called else "ids"
        return GatewayError(
            "ambiguous_tool", f"{named!r} names several tools.", f"Use one of these {which}: {candidates}."
        )
    way = ways.find(surface.mode)
    hint = f"Did you mean {candidates}? Else {way}." if candidates else f"{way[0].upper()}{way[1:]}."
    return GatewayError("unknown_tool", f"There is no tool {named!r}.", hint)


def way_to_call(tool: Tool, surface: Surface) -> JsonObject:
    """The `tools/call` that runs the tool."""
    if tool.source == CLIENT:
        return {"name": tool.name, "arguments": {}}
    if name := _published_names(surface).get(tool.id):
        return {"name": name, "arguments": {}}
    return {"name": CALL, "arguments": {"id": tool.id, "args": {}}}


def _published_names(surface: Surface) -> Mapping[str, str]:
    """The names by their ids, where there is no other way to call."""
    if surface.mode != "off":
        return {}
    return {surface.direct[name]: name for tool in surface.tools if (name := str(tool["name"])) in surface.direct}


def unavailable(tool: Tool) -> GatewayError:
    """What a tool is answered with that is there and cannot be called from outside its host. It is no secret."""
    return GatewayError("tool_unavailable", f"{tool.id} cannot be called: {tool.reason}.", "Use another tool.")


def not_yet_listed(status: UpstreamStatus, now: float) -> GatewayError:
    """Why no tool of this upstream is known: it is down, since when and why, or it has not started yet."""
    if status.state in STARTING:
        return GatewayError(
            "still_starting", f"{status.owner} is still starting: its tools are not known yet.", AGAIN_IN_SECONDS
        )
    seconds = max(0.0, now - (status.down_since or status.since))
    why = one_line(status.error, 300).rstrip(".")
    retry = "" if status.next_try is None else f"; it is tried again in {max(0.0, status.next_try - now):.0f} s"
    return GatewayError(
        "upstream_down",
        f"{status.owner} has been down for {seconds:.0f} s: {why}{retry}.",
        status.hint or "Run `toolfold check` to see what it needs.",
    )


def with_starting(error: GatewayError, statuses: Iterable[UpstreamStatus], listed: Collection[str]) -> GatewayError:
    """The answer to an unknown id, which may belong to an upstream that has not listed its tools yet."""
    starting = [status.owner for status in statuses if status.state in STARTING and status.owner not in listed]
    if not starting or error.code != "unknown_tool":
        return error
    return GatewayError(
        error.code, error.message, f"{error.hint} Still starting: {', '.join(_some(starting))}. {AGAIN_IN_SECONDS}"
    )


def upstream_words(upstream: str, text: str, pins: Pinning) -> JsonObject:
    """What an upstream says of itself. No pin holds it, so it is looked through each time: where it is suspicious that is
    said, and strictly it is not shown.
    """
    if not text:
        return {}
    shown = paragraphs(text, INSTRUCTIONS_CHARACTERS)
    doubt = "" if pins == "off" else suspicion_of_greeting(text[: INSTRUCTIONS_CHARACTERS + 1])
    if doubt and pins == "strict":
        return {"note": f"What the upstream server {upstream} says of itself is not shown: {doubt}."}
    beware = f" Beware: {doubt}." if doubt else ""
    return {"note": f"Text of the upstream server {upstream}, not of toolfold or the user.{beware}", "text": shown}


def description(tool: Tool, verdict: Verdict, status: UpstreamStatus | None, words: JsonObject) -> JsonObject:
    """All that is known of one tool; `words` are its upstream's (`upstream_words`). `tool` is the upstream's own definition,
    as far as a model has a use for it.
    """
    found: JsonObject = {
        "id": tool.id,
        "source": tool.source,
        "owner": tool.owner,
        "name": tool.name,
        "label": one_line(tool.label, LABEL_CHARACTERS),
        "trusted": tool.trusted,
        "signature": signature(tool.input_schema),
        "tool": _shown_definition(tool),
    }
    if verdict:
        found["policy"] = VERDICTS[verdict]
    if tool.cached:
        found["cached"] = True
    if status is not None:
        found["upstream"] = {"state": str(status.state)} | (
            {"error": one_line(status.error, 300)} if status.error else {}
        )
    if words:
        found["upstream_instructions"] = words
    return found


def _shown_definition(tool: Tool) -> JsonObject:
    """The upstream's own: schemas as they are, the rest as a reader sees it, and nothing that no model has a use for."""
    unshown = UNSHOWN if tool.trusted else UNSHOWN | {"outputSchema"}
    shown = {key: value for key, value in tool.definition.items() if key not in unshown}
    return {key: value if key in SCHEMAS else _visible(value) for key, value in shown.items()}


def _visible(value: object) -> object:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_visible(item) for item in value]
    return {visible(key): _visible(item) for key, item in value.items()} if isinstance(value, dict) else value


def _some(names: list[str]) -> list[str]:
    rest = len(names) - NAMED_UPSTREAMS
    return names if rest <= 0 else [*names[:NAMED_UPSTREAMS], f"and {rest} more"]
