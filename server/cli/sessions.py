"""What session logs come to: for each session what the model was shown up front, what it asked, called and paid.

Pure functions over the lines of `server.session_log`, whatever is missing or odd in them. The bill compares contexts at the
end of a session: every schema once, against the published list with the answers of searches and describes, and of code as
far as they are more than the results of the tools that it called. Results of tools cost the same either way.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from index import approximate_tokens
from server.cli.documents import inner, number, text, words
from server.private_files import read_file
from server.session_log import ALL_BYTES, log_files
from server.telemetry import OK
from upstream_clients import JsonObject

OPERATIONS: Final = ("search", "describe", "call", "code")
MOST_CALLED: Final = 50
"""Tools of a session that are named."""


def read_records(folder: Path) -> Iterator[JsonObject]:
    """Every record of every session in order, with its session's name. Raises OSError."""
    for path in log_files(folder):
        session = path.stem.rpartition("-")[0]
        for line in (read_file(path, ALL_BYTES) or b"").splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # the last line of a process that was killed
                continue
            if isinstance(record, dict):
                yield {"session": session, **record}


def summaries(records: Iterable[JsonObject]) -> list[JsonObject]:
    """One summary a session, the oldest first."""
    sessions: dict[str, list[JsonObject]] = {}
    for record in records:
        sessions.setdefault(text(record, "session"), []).append(record)
    return [summary(name, own) for name, own in sessions.items()]


def summary(name: str, records: list[JsonObject]) -> JsonObject:
    """The four questions of one session, and its bill."""
    published = next((record for record in reversed(records) if record.get("kind") == "published"), {})
    done = [record for record in records if record.get("kind") in OPERATIONS]
    calls = [record for record in done if record["kind"] == "call"]
    ran = [record for record in calls if words(record, "ids")]
    return {
        "session": name,
        "from": number(records[0], "at"),
        "to": number(records[-1], "at"),
        "mode": text(published, "mode"),
        "why": text(published, "why"),
        "up_front": {"tools": _whole(published, "tools"), **_cost(_whole(published, "bytes"))},
        "catalogue": {"tools": _whole(published, "catalogue"), "sources": inner(published, "sources")},
        "counts": {kind: sum(record["kind"] == kind for record in done) for kind in OPERATIONS},
        "chosen": dict(Counter(one for record in done if record["kind"] != "search" for one in words(record, "ids"))),
        "called": _called(ran),
        "sources": dict(Counter(words(record, "ids")[0].partition(":")[0] for record in ran)),
        "outcomes": dict(Counter(text(record, "outcome") for record in done)),
        "ms": {kind: _median(record for record in done if record["kind"] == kind) for kind in OPERATIONS},
        "bill": bill(published, done),
    }


def bill(published: Mapping[str, object], done: Iterable[Mapping[str, object]]) -> JsonObject:
    """What the model read because tools were folded, against all schemas up front. What code was answered no model has read,
    and of what code has answered the results of tools would have been read anyway.
    """
    read, bridged = Counter[str](), Counter[str]()
    for record in done:
        (bridged if record.get("via") == "code" else read)[text(record, "kind")] += _whole(record, "bytes")
    read = Counter(search=read["search"], describe=read["describe"], code=max(0, read["code"] - bridged["call"]))
    up_front, direct = _whole(published, "bytes"), _whole(published, "direct_bytes")
    total = up_front + read.total()
    return {
        "direct": _cost(direct),
        "up_front": _cost(up_front),
        "searches": _cost(read["search"]),
        "describes": _cost(read["describe"]),
        "code": _cost(read["code"]),
        "total": _cost(total),
        "saved": _cost(direct - total),
        "folding_pays": total < direct,
    }


def _called(calls: Iterable[Mapping[str, object]]) -> list[JsonObject]:
    found: dict[str, list[Mapping[str, object]]] = {}
    for record in calls:
        found.setdefault(words(record, "ids")[0], []).append(record)
    most = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_CALLED]
    return [
        {
            "id": tool_id,
            "source": tool_id.partition(":")[0],
            "calls": len(own),
            "failed": sum(record.get("outcome") != OK for record in own),
            "ms": _median(own),
            "bytes": sum(_whole(record, "bytes") for record in own),
        }
        for tool_id, own in most
    ]


def _cost(size: int) -> JsonObject:
    return {"bytes": size, "tokens": approximate_tokens(size)}


def _whole(record: Mapping[str, object], key: str) -> int:
    return round(number(record, key) or 0)


def _median(records: Iterable[Mapping[str, object]]) -> float | None:
    times = [time for record in records if (time := number(record, "ms")) is not None]
    return round(median(times), 1) if times else None
