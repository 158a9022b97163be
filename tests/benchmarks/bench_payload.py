"""What a host carries in its context: the lists of all servers directly, against what toolfold gives of the same tools.

By default the tools are those of the three demo servers. `--tools-from FOLDER` takes recorded lists instead, one JSON file a
server: `{"server": …, "initialize": …, "tools": […]}`. Tokens are estimated, at 4.5 bytes each.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from index import encoded_bytes, shown_bytes
from server.demo import sample
from tests.benchmarks.landscape import JsonObject, configured, replayed
from tests.benchmarks.measuring import announce, percentile, show, tokens, verdict
from tests.support.raw_client import RawClient, wait_for_upstreams

QUERY_WORDS: Final = 12
SEARCH_BOUND: Final = 600.0
"""Tokens, for the 95th percentile of the text block of a search answer with the default number of hits."""


@dataclass(frozen=True, slots=True)
class Direct:
    """One server as it is without toolfold."""

    key: str
    entry: JsonObject
    tools: Sequence[JsonObject]


@dataclass(frozen=True, slots=True)
class Folded:
    """All of them behind toolfold: its list, and the sizes of the text blocks of its answers, in bytes."""

    tools: Sequence[JsonObject]
    searches: Sequence[int]
    describes: Sequence[int]
    refused: Sequence[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools-from", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as name:
        folder = Path(name)
        recorded = options.tools_from or record_demo(folder)
        servers = [read(path) for path in sorted(recorded.glob("*.json"))]
        if not servers:
            sys.exit(f"There is no .json file in {recorded}.")
        folded = {trusted: measure(folder, servers, trusted=trusted) for trusted in (False, True)}
    report(servers, folded[False], folded[True])


def record_demo(folder: Path) -> Path:
    """Writes what the demo servers list to a folder, which it returns."""
    root, lists = folder / "root", folder / "lists"
    root.mkdir()
    lists.mkdir()
    sample.prepare(root)
    for module, arguments in {"files": [root], "data": [root / sample.DATABASE], "everyday": []}.items():
        with RawClient([sys.executable, "-m", f"server.demo.{module}", *map(str, arguments)]) as client:
            listing = {"server": module, "initialize": client.greet(), "tools": client.tools()}
        (lists / f"{module}.json").write_text(json.dumps(listing), encoding="utf-8")
    return lists


def read(path: Path) -> Direct:
    listing = json.loads(path.read_text(encoding="utf-8"))
    return Direct(listing["server"], replayed(path.resolve()), listing["tools"])


def measure(folder: Path, servers: Sequence[Direct], *, trusted: bool) -> Folded:
    """Asks one toolfold over all servers: a search for what each tool is said to do, and a description of each."""
    landscape = configured(folder, {server.key: {**server.entry, "trusted": trusted} for server in servers})
    searches, describes, refused = [], [], []
    with RawClient(landscape.toolfold, landscape.env) as client:
        client.greet()
        wait_for_upstreams(client)
        for server in servers:
            for tool in server.tools:
                searches.append(text_size(client.call("tool_search", {"query": query(tool)})))
                tool_id = f"mcp:{server.key}:{tool['name']}"
                described = client.call("tool_describe", {"id": tool_id})
                if described.get("isError"):
                    refused.append(tool_id)
                else:
                    describes.append(text_size(described))
        return Folded(client.tools(), searches, describes, refused)


def query(tool: JsonObject) -> str:
    """The beginning of its description; its name's words where it has none."""
    described = str(tool.get("description") or "").split()
    return " ".join(described[:QUERY_WORDS]) or str(tool["name"]).replace("_", " ")


def report(servers: Sequence[Direct], folded: Folded, trusted: Folded) -> None:
    tools = [tool for server in servers for tool in server.tools]
    announce(f"What a host carries: {len(tools)} tools of {len(servers)} servers, tokens estimated")
    show(
        ("before the first question", "bytes", "tokens"),
        [
            (f"direct: {len(tools)} tools, as listed", *sizes(encoded_bytes(tools))),
            (f"direct: {len(tools)} tools, as shown to a model", *sizes(shown_bytes(tools))),
            (f"toolfold: {len(folded.tools)} tools, as listed", *sizes(encoded_bytes(folded.tools))),
            (f"toolfold: {len(folded.tools)} tools, as shown to a model", *sizes(shown_bytes(folded.tools))),
        ],
    )
    print()
    show(
        ("for a task", "p50 bytes", "p95 bytes", "p50 tokens", "p95 tokens", ""),
        [
            answers("one search", folded.searches, SEARCH_BOUND),
            answers("one search, all servers trusted", trusted.searches, SEARCH_BOUND),
            answers("one describe", folded.describes, None),
            answers("one describe, all servers trusted", trusted.describes, None),
        ],
    )
    if folded.refused:
        print(f"\nQuarantined, and so not described: {', '.join(folded.refused)}")


def answers(name: str, measured: Sequence[int], bound: float | None) -> tuple[str, ...]:
    half, most = percentile(measured, 50), percentile(measured, 95)
    judged = "" if bound is None else verdict(tokens(most), bound, "tokens")
    return (name, f"{half:,.0f}", f"{most:,.0f}", f"{tokens(half):,.0f}", f"{tokens(most):,.0f}", judged)


def sizes(size: int) -> tuple[str, str]:
    return f"{size:,}", f"{tokens(size):,.0f}"


def text_size(result: JsonObject) -> int:
    """Bytes of the one text block, which is what a model reads."""
    content = result["content"]
    assert isinstance(content, list)
    [block] = content
    return len(block["text"].encode())


if __name__ == "__main__":
    main()
