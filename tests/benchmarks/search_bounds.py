"""What `make bench-search` holds the search to: each bound with its verdict, and whether all of them hold.

Takes answers that were given; asks nothing itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from index import Confidence
from tests.benchmarks.answers import Answered, mean

EMPTY_RULE_POINTS = 1.0  # of Recall@5 that answering nothing may lose
EMPTY_RULE_EXCEPTIONS: Mapping[str, float] = {"metatool": 2.0, "stabletoolbench": 2.0}
FOREIGN_HIGH_PERCENT = 5.0  # of the queries that no tool serves may have a `high` hit first
TYPO_POINTS = 6.0  # of Recall@5, on average over the sets, that damaged words may lose
ENGLISH_PERCENT = 95.0
LANGUAGES_MEAN_PERCENT, LANGUAGE_PERCENT = 75.0, 65.0
LEAST_ENGLISH, LEAST_UNSERVED = 300, 40
SMALL_BAND = 5  # answers: of fewer the mean says nothing about the order of the bands


@dataclass(frozen=True, slots=True)
class Bound:
    """One thing that must hold, what was measured, and whether it does."""

    what: str
    measured: str
    holds: bool

    def __str__(self) -> str:
        return f"{'ok  ' if self.holds else 'FAIL'} {self.what}: {self.measured}"


def empty_rule(name: str, answers: Sequence[Answered]) -> Bound:
    """What Recall@5 is lost where the answer is empty, against the same hits unjudged."""
    most = EMPTY_RULE_EXCEPTIONS.get(name, EMPTY_RULE_POINTS)
    lost = mean(one.recall_unjudged for one in answers) - mean(one.recall for one in answers)
    return Bound(f"{name}: the empty rule loses at most {most:g} points of Recall@5", f"{lost:.2f}", lost <= most)


def rising(name: str, answers: Sequence[Answered]) -> Bound:
    """Recall@5 from `low` to `medium` to `high`, of bands with enough answers to tell."""
    bands = [(band, [one.recall for one in answers if one.confidence is band]) for band in reversed(Confidence)]
    told = [(band, mean(recalls)) for band, recalls in bands if len(recalls) >= SMALL_BAND]
    said = ", ".join(f"{band} {value:.1f}" for band, value in told)
    values = [value for _, value in told]
    return Bound(f"{name}: Recall@5 rises with confidence", said, values == sorted(values))


def foreign(answers: Sequence[Answered]) -> Bound:
    share = mean(float(one.confidence is Confidence.HIGH) for one in answers)
    what = f"at most {FOREIGN_HIGH_PERCENT:g} % of the queries that no tool serves reach high"
    return Bound(what, f"{share:.1f} %", bool(answers) and share <= FOREIGN_HIGH_PERCENT)


def typos(lost: Sequence[float]) -> Bound:
    what = f"typos lose at most {TYPO_POINTS:g} points of Recall@5 on average over the public sets"
    most = sum(lost) / len(lost) if lost else 0.0
    return Bound(what, f"{most:.2f}", most <= TYPO_POINTS)


def counts(english: int, unserved: int) -> Iterator[Bound]:
    yield Bound(f"at least {LEAST_ENGLISH} English queries", str(english), english >= LEAST_ENGLISH)
    yield Bound(f"at least {LEAST_UNSERVED} queries that no tool serves", str(unserved), unserved >= LEAST_UNSERVED)


def languages(recalls: Mapping[str, float]) -> Iterator[Bound]:
    """English, and the others where there are any."""
    others = {name: recall for name, recall in recalls.items() if name != "english"}
    if "english" in recalls:
        value = recalls["english"]
        yield Bound(f"English: Recall@5 at least {ENGLISH_PERCENT:g}", f"{value:.1f}", value >= ENGLISH_PERCENT)
    for name, value in others.items():
        yield Bound(f"{name}: Recall@5 at least {LANGUAGE_PERCENT:g}", f"{value:.1f}", value >= LANGUAGE_PERCENT)
    if others:
        value = sum(others.values()) / len(others)
        what = f"other languages: Recall@5 at least {LANGUAGES_MEAN_PERCENT:g} on average"
        yield Bound(what, f"{value:.1f}", value >= LANGUAGES_MEAN_PERCENT)


def show(bounds: Iterable[Bound]) -> bool:
    """Prints the verdicts, and says whether all hold."""
    all_hold = True
    for bound in bounds:
        print(bound)
        all_hold &= bound.holds
    print("All bounds hold." if all_hold else "Not all bounds hold.")
    return all_hold
