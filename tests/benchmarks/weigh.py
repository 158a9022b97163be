"""Makes the weights by which `server/suspicion_score.py` adds up what a definition speaks of: `server/words/weights.tsv`.

    python tests/benchmarks/weigh.py SHARED LABELLED.json...

SHARED holds catalogues of honest tools (`real-tools`, `retrieval`, `openclaw`) and labelled descriptions (`faults`, of which
those are left out on which `hygiene.py` judges);
LABELLED are lists of {label, family, tool, other_servers_tools}, one of each writer. The weights are those of a logistic
regression in which a poisoned definition stands for its worst place and an honest one for all its places; none but those
of consent may lower a sum, and honest places that come near to an alarm count more in each round. The weights at hand are of
five sets by five writers (set1 to set5: 450 poisoned definitions, 770 honest ones) and of 148 short ones of our own (own).
With `--check` nothing is written: each writer's definitions are judged by weights that were made without them, though not
by words and rules that were. Needs numpy, which the extra `semantic` brings.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.concepts import as_read
from server.suspicion import all_texts, read
from server.suspicion_score import START, Place, features, lowers, places
from tests.benchmarks.hygiene import catalogues, elsewhere, real_servers
from tests.benchmarks.hygiene import rows as known_rows

WEIGHTS: Final = Path("server/words/weights.tsv")
PENALTY: Final = 4.0
"""On the square of each weight."""

ROUNDS: Final = 4
"""Times that the worst places are chosen anew."""

STEPS: Final = 150
STEP: Final = 0.05
LEAST_TOOLS: Final = 5
"""A feature of fewer definitions is not weighed."""

POISONED: Final = 4.0
LABELLED: Final = 4.0
"""How much a poisoned definition counts, and how much an honest one that was written to be mistaken for one."""

FEARED: Final = 2.5
NEARLY: Final = -0.5
"""How much more a place of an honest tool counts in each round after which its sum is above this."""

SHIFT: Final = -0.3
"""The sum from which a place is suspicious: it is taken off every place's start."""

LEAST_WEIGHT: Final = 0.02

Vector: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """A definition: what may be wrong with it, and where."""

    group: str
    is_poisoned: bool
    is_labelled: bool
    places: tuple[Place, ...]


def example(group: str, tool: Mapping[str, object], others: Sequence[str] = (), *, poisoned: bool) -> Example:
    names = elsewhere({"tool": tool, "other_servers_tools": others})
    found = places(read(tool, [(part, as_read(text)) for part, text in all_texts(tool)], names))
    return Example(group, poisoned, bool(others) and group != "real", tuple(found))


def honest(shared: Path) -> Iterator[Example]:
    """The tools of all catalogues."""
    names = {name: {tool["name"] for tool in tools} for name, tools in real_servers(shared).items()}
    for group, server, definition in catalogues(shared):
        elsewhere = [tool for other, tools in names.items() if server and other != server for tool in tools]
        own = names.get(server, set())
        yield example(group, definition, [name for name in sorted(elsewhere) if name not in own], poisoned=False)


def labelled(shared: Path, paths: Sequence[Path]) -> Iterator[Example]:
    for known in known_rows(shared / "faults" / "tool_descriptions.json"):
        if known.is_tuned:
            yield example("faults", known.definition, poisoned=known.is_poisoned)
    for path in paths:
        for row in json.loads(path.read_text(encoding="utf-8")):
            yield example(path.stem, row["tool"], row["other_servers_tools"], poisoned=row["label"] == 1)


class Table:
    """All places as rows of what is weighed there."""

    def __init__(self, examples: Sequence[Example]) -> None:
        numbers: dict[Place, int] = {}
        self.rows = [
            np.array([numbers.setdefault(place, len(numbers)) for place in one.places], int) for one in examples
        ]
        weighed = [frozenset(features(place)) for place in numbers]
        count = Counter(
            feature for rows in self.rows for feature in frozenset[str]().union(*(weighed[row] for row in rows))
        )
        self.features = sorted(feature for feature, times in count.items() if times >= LEAST_TOOLS)
        self.signs = np.array([-1 if lowers(feature) else 1 for feature in self.features], np.float32)
        column = {feature: place for place, feature in enumerate(self.features)}
        self.values: Vector = np.zeros((len(weighed), len(column)), np.float32)
        for row, found in enumerate(weighed):
            self.values[row, [column[feature] for feature in found if feature in column]] = 1


def fit(table: Table, examples: Sequence[Example], chosen: Sequence[int]) -> tuple[Vector, float]:
    """The weights and the start, made of the chosen examples."""
    counts: dict[int, float] = {}
    for one in chosen:
        if not examples[one].is_poisoned:
            for row in table.rows[one]:
                counts[row] = max(counts.get(row, 0.0), LABELLED if examples[one].is_labelled else 1.0)
    honest_rows = np.array(list(counts))
    poisoned = [table.rows[one] for one in chosen if examples[one].is_poisoned and len(table.rows[one])]
    truth = np.r_[np.ones(len(poisoned)), np.zeros(len(honest_rows))].astype(np.float32)
    matter = np.r_[np.full(len(poisoned), POISONED), list(counts.values())].astype(np.float32)
    rarity = -np.log(table.values[honest_rows].mean(0) + 1e-3)
    weights: Vector = np.zeros(len(table.features), np.float32)
    start = -3.0
    sums = table.values @ rarity
    for _ in range(ROUNDS):
        matter[len(poisoned) :] *= np.where(sums[honest_rows] > NEARLY, FEARED, 1.0) if weights.any() else 1.0
        worst = [rows[np.argmax(sums[rows])] for rows in poisoned]
        rows = np.concatenate([np.array(worst), honest_rows])
        weights, start = descend(table.values[rows], truth, matter, (weights, start), table.signs)
        sums = table.values @ weights + start
    return weights, start


def descend(
    values: Vector, truth: Vector, matter: Vector, begin: tuple[Vector, float], signs: Vector
) -> tuple[Vector, float]:
    """Logistic regression by Adam's steps: deterministic, and no library needed."""
    weights, start = begin[0].copy(), begin[1]
    first, second, pull = np.zeros_like(weights), np.zeros_like(weights), 0.0
    for step in range(1, STEPS + 1):
        chance = 1 / (1 + np.exp(-np.clip(values @ weights + start, -30, 30)))
        error = (matter * (chance - truth)).astype(np.float32)
        slope = values.T @ error + PENALTY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope * slope
        change = STEP * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        weights = signs * np.maximum(signs * (weights - change), 0).astype(np.float32)
        pull = 0.9 * pull + 0.1 * float(error.sum())
        start -= 0.03 * float(np.sign(pull)) * min(1.0, abs(pull) / 5)
    return weights, start


def check(table: Table, examples: Sequence[Example]) -> None:
    """Prints what is said of each writer's definitions by weights that were made without any of theirs."""
    for writer in sorted({one.group for one in examples if one.is_labelled}):
        weights, start = fit(table, examples, [place for place, one in enumerate(examples) if one.group != writer])
        sums = table.values @ weights + start - SHIFT
        said = Counter(
            (one.is_poisoned, bool(len(rows) and sums[rows].max() > 0))
            for one, rows in zip(examples, table.rows, strict=True)
            if one.group == writer
        )
        found, missed, alarms = said[True, True], said[True, False], said[False, True]
        print(f"{writer}: recall {found / max(1, found + missed):.3f}, precision {found / max(1, found + alarms):.3f}")


def write(table: Table, weights: Vector, start: float) -> None:
    kept = sorted(
        (feature, float(value))
        for feature, value in zip(table.features, weights, strict=True)
        if abs(value) >= LEAST_WEIGHT
    )
    lines = [f"{START}\t{start - SHIFT:.2f}", *(f"{feature}\t{value:.2f}" for feature, value in kept)]
    WEIGHTS.write_text("# Made by tests/benchmarks/weigh.py.\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    shared, *paths = (Path(argument) for argument in arguments if argument != "--check")
    examples = [*labelled(shared, paths), *honest(shared)]
    table = Table(examples)
    print(f"{len(examples)} definitions, {len(table.values)} places, {len(table.features)} features")
    if "--check" in arguments:
        check(table, examples)
    else:
        write(table, *fit(table, examples, range(len(examples))))


if __name__ == "__main__":
    main(sys.argv[1:])
