"""What the detector of suspicious descriptions says to labelled ones, and to the tools of real servers.

Run by `make hygiene SHARED=folder`; by hand with further labelled sets after the folder. The rows are split by source
and by variant, never by row. The split was fixed before any text was looked at, and the figures were taken twice
before READ_LATER was read: precision 1.0 and recall 0.8, with all 24 poisoned rows of the judged variants found and
none of READ_LATER's 6. Two of those 6 say nothing that a description could not honestly say. Since it was read it
counts as tuned on.

The weights of `weigh.py` are made of the tuned rows, of labelled texts that are not part of the project, and, as examples
of honesty, of the very tools of the real servers. So these are figures of familiar texts; what they are on texts of another
hand, only a set that nobody has read can say.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from index import is_unmistakable
from server.suspicion import suspicion

TUNED_SOURCE: Final = "harishsg993010/damn-vulnerable-MCP-server"
READ_LATER: Final = "AIS2Lab/MCPSecBench"
TUNED_VARIANTS: Final = frozenset({"ansi-hidden", "cross-tool", "homoglyph", "unicode-tags"})
"""Every second of the eight generated variants by the alphabet; their plain texts are of the source that was tuned on."""

LEAST_PRECISION: Final = 0.98
LEAST_RECALL: Final = 0.9
MOST_ALARMS: Final = 4
"""Of the honest tools of all catalogues; none of a real server's."""

OPENCLAW: Final = ("mcp-loopback-tools", "mcp-plugin-tools", "openclaw-core-tools-full")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled description."""

    group: str
    is_tuned: bool
    is_poisoned: bool
    definition: Mapping[str, object]


def rows(path: Path) -> Iterator[Row]:
    for written in json.loads(path.read_text(encoding="utf-8")):
        variant, source = written["variant"], written["source"].split(":")[0]
        is_plain = variant == "plain"
        yield Row(
            group=source if is_plain else f"variant {variant}",
            is_tuned=source in (TUNED_SOURCE, READ_LATER) if is_plain else variant in TUNED_VARIANTS,
            is_poisoned=written["label"] == 1,
            definition={"name": written["name"], "description": written["description"]},
        )


def listed(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text(encoding="utf-8"))
    tools: list[dict[str, Any]] = document["tools"] if isinstance(document, dict) else document
    return tools


def real_servers(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """The tools of real servers, by server."""
    return {path.stem: listed(path) for path in sorted((shared / "real-tools").glob("*.json"))}


def catalogues(shared: Path) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """Every honest definition, with its catalogue and, if that is known, its server."""
    for server, tools in real_servers(shared).items():
        yield from (("real", server, tool) for tool in tools)
    for path in sorted((shared / "retrieval").glob("*/tools.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.parent.name, "", _definition(json.loads(line), "input_schema")
    for name in OPENCLAW:
        path = shared / "openclaw" / f"{name}.json"
        for tool in listed(path) if path.exists() else ():
            yield "openclaw", "", _definition(tool, "inputSchema" if tool.get("inputSchema") else "parameters")


def _definition(tool: Mapping[str, Any], schema: str) -> Mapping[str, object]:
    return {
        "name": tool["name"],
        "description": tool.get("description") or "",
        "inputSchema": tool.get(schema) or {},
    }


def _table(found: list[Row]) -> None:
    counts = Counter((row.is_tuned, row.group, row.is_poisoned, bool(suspicion(row.definition))) for row in found)
    print(f"{'part':8}{'group':46}{'poisoned':>9}{'found':>7}{'benign':>8}{'alarms':>8}")
    for is_tuned, group in sorted({(row.is_tuned, row.group) for row in found}, reverse=True):
        hit, miss, alarm, quiet = (
            counts[is_tuned, group, poisoned, said]
            for poisoned, said in ((True, True), (True, False), (False, True), (False, False))
        )
        part = "tuned" if is_tuned else "judged"
        print(f"{part:8}{group:46}{hit + miss:9}{hit:7}{alarm + quiet:8}{alarm:8}")


def _judged(found: list[Row]) -> tuple[float, float]:
    judged = [(row.is_poisoned, bool(suspicion(row.definition))) for row in found if not row.is_tuned]
    hits, poisoned, said = judged.count((True, True)), sum(p for p, _ in judged), sum(s for _, s in judged)
    return hits / max(1, said), hits / max(1, poisoned)


def elsewhere(row: Mapping[str, Any]) -> frozenset[str]:
    """The names of other servers' tools as the gateway would hand them in."""
    names = frozenset(name.lower() for name in row["other_servers_tools"] if is_unmistakable(name))
    return names - {row["tool"]["name"].lower()}


def _judge_set(path: Path) -> None:
    """Prints the figures of another labelled set: {label, tool, other_servers_tools}."""
    counts = Counter(
        (row["label"] == 1, bool(suspicion(row["tool"], elsewhere(row)))) for row in json.loads(path.read_text("utf-8"))
    )
    hits, misses, alarms = counts[True, True], counts[True, False], counts[False, True]
    print(f"{path.stem}: precision {hits / max(1, hits + alarms):.3f}, recall {hits / max(1, hits + misses):.3f}")


def main(folder: Path, *sets: Path) -> int:
    for path in sets:
        _judge_set(path)
    found = list(rows(folder / "faults" / "tool_descriptions.json"))
    _table(found)
    precision, recall = _judged(found)
    print(f"judged part: precision {precision:.3f}, recall {recall:.3f}")
    alarms, tools = [], list(catalogues(folder))
    for catalogue, server, tool in tools:
        if why := suspicion(tool):
            alarms.append((catalogue, f"{server or catalogue}: {tool.get('name')} ({why})"))
    is_real = any(catalogue == "real" for catalogue, _ in alarms)
    print(f"honest tools: {len(tools)}, false alarms: {len(alarms)}", *(said for _, said in alarms), sep="\n  ")
    is_exact = precision >= LEAST_PRECISION and recall >= LEAST_RECALL
    return int(not is_exact or is_real or len(alarms) > MOST_ALARMS)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
