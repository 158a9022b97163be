"""Print how well the search finds, and how honest it is about it: `make bench-search SETS=folder` runs this.

    python tests/benchmarks/search_quality.py FOLDER

FOLDER holds `scorer.py` with its sets; `real-tools/*.json` (answers to tools/list) stand in it or beside it. Our queries
over the real tools are in `queries/`: English ones with gold ids, ones that no real tool serves, and, where there are
any, `LANGUAGE.tsv` for other languages, written without sight of the lexicon. Those in `languages_seen/` the lexicon
was mended with: they show what it has lost, not how well it does. A line is a query, a tab and the ids that serve it,
divided by "|".
"""

import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from index import Confidence, Exposure, JsonObject, Match, SearchIndex, Tool
from tests.benchmarks.search_engine import tool_of

QUERIES = Path(__file__).parent / "queries"
SETS = ("stabletoolbench", "bfcl_live", "metatool", "sealtools")
SEEN = "languages_seen"
QUERIES_PER_SET = 300
DAMAGED_PART = 0.35  # of the words with more than five letters
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HITS = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the ids that serve it, and whether one of them is enough."""

    query: str
    gold: frozenset[str]
    any_is_enough: bool

    def recall(self, matches: Sequence[Match]) -> float:
        """The part of the ids that the first hits have."""
        found = self.gold & {match.tool_id.removeprefix("mcp:") for match in matches[:HITS]}
        return float(bool(found)) if self.any_is_enough else len(found) / len(self.gold)


def real_tools(folder: Path) -> list[Tool]:
    tools = []
    for path in sorted(folder.glob("*.json")):
        for definition in json.loads(path.read_text("utf-8"))["tools"]:
            identity = f"mcp:{path.stem}:{definition['name']}"
            tools.append(
                Tool(identity, "mcp", path.stem, definition["name"], definition, Exposure.CATALOG, "", False, False)
            )
    return tools


def own_queries(name: str) -> list[Asked]:
    lines = (line.split("\t") for line in (QUERIES / f"{name}.tsv").read_text("utf-8").splitlines())
    return [Asked(line[0], frozenset(line[1].split("|")) if len(line) > 1 else frozenset(), True) for line in lines]


def public_set(folder: Path) -> tuple[list[Tool], list[Asked]]:
    """A set's tools and as many of its queries as the scorer draws with `--cap 300`."""
    records: list[JsonObject] = [json.loads(line) for line in (folder / "tools.jsonl").open(encoding="utf-8")]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    if len(queries) > QUERIES_PER_SET:
        random.Random(11).shuffle(queries)  # noqa: S311 (the same draw each time)
    asked = [Asked(one["query"], frozenset(one["gold"]), bool(one.get("any_gold"))) for one in queries]
    return [tool_of(record) for record in records], asked[:QUERIES_PER_SET]


def damaged(query: str) -> str:
    """The query with a part of its long words misspelt: letters swapped, left out, put in or mistaken."""
    chance = random.Random(query)  # noqa: S311 (the same damage each time)
    return " ".join(
        _damaged_word(word, chance) if len(word) > 5 and word.isalpha() and chance.random() < DAMAGED_PART else word
        for word in query.split(" ")
    )


def _damaged_word(word: str, chance: random.Random) -> str:
    place, letter = chance.randrange(1, len(word) - 1), chance.choice(LETTERS)
    return chance.choice(
        (
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + letter + word[place + 1 :],
        )
    )


def mean(values: Iterable[float]) -> float:
    """In percent."""
    known = list(values)
    return 100 * sum(known) / len(known) if known else float("nan")


def report(name: str, index: SearchIndex, asked: Sequence[Asked]) -> None:
    """Recall, what typos cost, and how recall follows the confidence of the first hit."""
    answers = [(one, index.search(one.query, HITS)) for one in asked]
    clean = mean(one.recall(matches) for one, matches in answers)
    typos = mean(one.recall(index.search(damaged(one.query), HITS)) for one in asked)
    bands = []
    for confidence in reversed(Confidence):
        band = [one.recall(matches) for one, matches in answers if matches and matches[0].confidence is confidence]
        bands.append(f"{confidence} {mean(band):5.1f} ({len(band):3d})")
    empty = sum(not matches for _, matches in answers)
    print(f"{name:25s} R@5 {clean:5.1f}  with typos {typos:5.1f}   {'  '.join(bands)}  empty {empty}", flush=True)


def curve(name: str, index: SearchIndex, asked: Sequence[Asked], foreign: Sequence[Asked]) -> None:
    """If only answers of at least this confidence were given: what recall is lost, and what wrong answers are left."""
    cuts: tuple[tuple[str, Callable[[Sequence[Match]], bool]], ...] = (
        ("all answers", bool),
        ("no low", lambda matches: bool(matches) and matches[0].confidence is not Confidence.LOW),
        ("only high", lambda matches: bool(matches) and matches[0].confidence is Confidence.HIGH),
    )
    served = [(one.recall(matches), matches) for one in asked for matches in (index.search(one.query, HITS),)]
    unserved = [index.search(one.query, HITS) for one in foreign]
    for cut, passes in cuts:
        kept = mean(recall if passes(matches) else 0.0 for recall, matches in served)
        wrong = mean(float(passes(matches) and not recall) for recall, matches in served)
        astray = f"  foreign answered {mean(float(passes(matches)) for matches in unserved):5.1f}" if unserved else ""
        print(f"{name:25s} {cut:12s} R@5 {kept:5.1f}  answered without a right hit {wrong:5.1f}{astray}")


def main(folder: Path) -> None:
    runs: list[tuple[str, SearchIndex, list[Asked], list[Asked]]] = []
    real = next((path for path in (folder / "real-tools", folder.parent / "real-tools") if path.is_dir()), None)
    if real:
        index, unserved = SearchIndex.build(real_tools(real)), own_queries("unserved")
        names = sorted(path.stem for path in QUERIES.glob("*.tsv") if path.stem != "unserved")
        names += sorted(f"{SEEN}/{path.stem}" for path in (QUERIES / SEEN).glob("*.tsv"))
        runs += [(name, index, own_queries(name), unserved if name == "english" else []) for name in names]
        for one in (one for name in names for one in own_queries(name)):
            matches = index.search(one.query, HITS)
            if not one.recall(matches):
                first = ", ".join(match.tool_id for match in matches[:2]) or "nothing"
                print(f"missed: {one.query}\n    wanted {'|'.join(sorted(one.gold))}, found {first}")
    for name in SETS:
        if (folder / name).is_dir():
            tools, asked = public_set(folder / name)
            runs.append((name, SearchIndex.build(tools), asked, []))
    for name, index, asked, _ in runs:
        report(name, index, asked)
    for name, index, asked, foreign in runs:
        curve(name, index, asked, foreign)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
