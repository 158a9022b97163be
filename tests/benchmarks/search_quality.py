"""Print how well the search finds, and how honest it is about it: `make bench-search SETS=folder` runs this.

    python tests/benchmarks/search_quality.py FOLDER [--semantic]

FOLDER holds `scorer.py` with its sets; `real-tools/*.json` (answers to tools/list) stand in it or beside it. Our queries
over the real tools are in `queries/`: English ones with gold ids, ones that no real tool serves, and, where there are
any, `LANGUAGE.tsv` for other languages, written without sight of the lexicon. Those in `languages_seen/` the lexicon
was mended with: they show what it has lost, not how well it does, and are held to no bound. A line is a query, a tab and
the ids that serve it, divided by "|". What is missed is listed, and then the bounds (`search_bounds.py`) with their
verdicts: it ends with 1 if one does not hold.
"""

import copy
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from index import Confidence, Exposure, JsonObject, Match, SearchIndex, Tool
from tests.benchmarks.answers import HITS, Answered, Asked, bare, mean
from tests.benchmarks.search_bounds import counts, empty_rule, foreign, languages, rising, show, typos
from tests.benchmarks.search_engine import meaning_of, tool_of

QUERIES = Path(__file__).parent / "queries"
SETS = ("stabletoolbench", "bfcl_live", "metatool", "sealtools")
SEEN = "languages_seen"
QUERIES_PER_SET = 300
DAMAGED_PART = 0.35  # of the words with more than five letters
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CUTS: Mapping[str, frozenset[Confidence]] = {
    "all answers": frozenset(Confidence),
    "no low": frozenset({Confidence.HIGH, Confidence.MEDIUM}),
    "only high": frozenset({Confidence.HIGH}),
}


class Searching:
    """An index, searched by words alone or by meaning too."""

    def __init__(self, tools: Sequence[Tool], *, semantic: bool) -> None:
        self.index = SearchIndex.build(tools)
        self.near = meaning_of(tools) if semantic else None

    def search(self, query: str) -> tuple[Match, ...]:
        return self.index.search(query, HITS, self.near)

    def never_hopeless(self, query: str) -> tuple[Match, ...]:
        """The answer without the rule by which there is none."""
        lenient = copy.copy(self.index)
        made = getattr(self.index, "_made")  # noqa: B009
        setattr(lenient, "_made", replace(made, vocabulary=NeverHopeless(made.vocabulary)))  # noqa: B010
        return lenient.search(query, HITS, self.near)


class NeverHopeless:
    """The words of an index, without the rule by which it answers nothing."""

    def __init__(self, vocabulary: object) -> None:
        self._vocabulary = vocabulary

    def __getattr__(self, name: str) -> object:
        return getattr(self._vocabulary, name)

    def is_hopeless(self, *_: object) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Run:
    """One set: its index, its queries with their answers, and the answers to queries that none of its tools serves."""

    name: str
    index: Searching
    answers: Sequence[Answered]
    foreign: Sequence[Answered] = ()

    @property
    def recall(self) -> float:
        return mean(one.recall for one in self.answers)


def answered(index: Searching, asked: Iterable[Asked]) -> list[Answered]:
    """The answers of an index, each beside what it would have been without the empty rule."""
    answers = []
    for one in asked:
        matches = index.search(one.query)
        ids, unjudged = bare(matches), bare(index.never_hopeless(one.query))
        first = matches[0].confidence if matches else None
        answers.append(Answered(one, ids, first, one.recall(ids), one.recall(unjudged)))
    return answers


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
        random.Random(11).shuffle(queries)
    asked = [Asked(one["query"], frozenset(one["gold"]), bool(one.get("any_gold"))) for one in queries]
    return [tool_of(record) for record in records], asked[:QUERIES_PER_SET]


def damaged(query: str) -> str:
    """The query with a part of its long words misspelt: letters swapped, left out, put in or mistaken."""
    chance = random.Random(query)
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


def report(run: Run) -> float:
    """Prints recall, what typos cost, and how recall follows the confidence of the first hit. Gives what typos cost."""
    typos = mean(one.asked.recall(bare(run.index.search(damaged(one.asked.query)))) for one in run.answers)
    bands = []
    for confidence in reversed(Confidence):
        band = [one.recall for one in run.answers if one.confidence is confidence]
        bands.append(f"{confidence} {mean(band):5.1f} ({len(band):3d})")
    empty = sum(one.confidence is None for one in run.answers)
    print(
        f"{run.name:25s} R@5 {run.recall:5.1f}  with typos {typos:5.1f}   {'  '.join(bands)}  empty {empty}", flush=True
    )
    return run.recall - typos


def curve(run: Run) -> None:
    """If only answers of at least this confidence were given: what recall is lost, and what wrong answers are left."""
    everything = mean(one.recall_unjudged for one in run.answers)
    wrong = mean(float(not one.recall_unjudged) for one in run.answers)
    print(f"{run.name:25s} {'never empty':12s} R@5 {everything:5.1f}  answered without a right hit {wrong:5.1f}")
    for cut, confidences in CUTS.items():
        kept = mean(one.recall if one.confidence in confidences else 0.0 for one in run.answers)
        wrong = mean(float(one.confidence in confidences and not one.recall) for one in run.answers)
        given = mean(float(one.confidence in confidences) for one in run.foreign)
        astray = f"  foreign answered {given:5.1f}" if run.foreign else ""
        print(f"{run.name:25s} {cut:12s} R@5 {kept:5.1f}  answered without a right hit {wrong:5.1f}{astray}")


def own_runs(folder: Path, *, semantic: bool) -> list[Run]:
    """Our queries over the real tools, where these are."""
    real = next((path for path in (folder / "real-tools", folder.parent / "real-tools") if path.is_dir()), None)
    if real is None:
        return []
    index = Searching(real_tools(real), semantic=semantic)
    names = sorted(path.stem for path in QUERIES.glob("*.tsv") if path.stem != "unserved")
    names += sorted(f"{SEEN}/{path.stem}" for path in (QUERIES / SEEN).glob("*.tsv"))
    unserved = answered(index, own_queries("unserved"))
    runs = [Run(one, index, answered(index, own_queries(one)), unserved if one == "english" else ()) for one in names]
    for answer in (answer for run in runs for answer in run.answers if not answer.recall):
        print(f"missed: {answer.asked.query}")
        print(f"    wanted {'|'.join(sorted(answer.asked.gold))}, found {', '.join(answer.ids[:2]) or 'nothing'}")
    return runs


def public_runs(folder: Path, *, semantic: bool) -> list[Run]:
    runs = []
    for name in SETS:
        if (folder / name).is_dir():
            tools, asked = public_set(folder / name)
            index = Searching(tools, semantic=semantic)
            runs.append(Run(name, index, answered(index, asked)))
    return runs


def main(folder: Path, *, semantic: bool) -> int:
    own, public = own_runs(folder, semantic=semantic), public_runs(folder, semantic=semantic)
    lost = {run.name: report(run) for run in (*own, *public)}
    for run in (*own, *public):
        curve(run)
    judged = [run for run in own if not run.name.startswith(SEEN)]
    english = [run for run in judged if run.name == "english"]
    others = [run for run in judged if run.name != "english"]
    sets = {run.name: run.answers for run in (*english, *public)}
    if others:  # too few queries each for a curve of their own
        sets["other languages"] = [answer for run in others for answer in run.answers]
    bounds = [bound for name, answers in sets.items() for bound in (empty_rule(name, answers), rising(name, answers))]
    bounds.append(typos([lost[run.name] for run in public]))
    for run in english:
        bounds += [*counts(len(run.answers), len(run.foreign)), foreign(run.foreign)]
    bounds += languages({run.name: run.recall for run in judged})
    return 0 if show(bounds) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), semantic="--semantic" in sys.argv))
