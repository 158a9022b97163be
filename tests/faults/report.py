"""Plays every row of the fault matrix and prints what was seen beside what the matrix asks: `make faults`.

Ends with 1 if a row does not hold. A run that fails is shown with the reason, and the others go on. Arguments are numbers
of rows, to play these alone.
"""

import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio

from tests.faults.matrix import Bound, NotTried, Outcome, Row, Run, play
from tests.faults.rows import ROWS

HEADER: Final = ("#", "fault", "metric of the matrix", "bound", "seen", "held")


def main(arguments: Sequence[str]) -> int:
    wanted = {int(argument) for argument in arguments} or {row.number for row in ROWS}
    print("| " + " | ".join(HEADER) + " |")
    print("|" + " --- |" * len(HEADER))
    shown = [show(row, run) for row in ROWS if row.number in wanted for run in row.runs]
    outcomes = [outcome for outcome in shown if outcome.was_tried]
    held = sum(outcome.is_held for outcome in outcomes)
    print(
        f"\n{held} of {len(outcomes)} runs held, {sum(one.meets_metric for one in outcomes)} within the metric itself."
    )
    for row in ROWS:
        if row.number in wanted and row.remark:
            print(f"Row {row.number}: {row.remark}")
    return 0 if held == len(outcomes) else 1


def show(row: Row, run: Run) -> Outcome:
    outcome = outcome_of(run)
    fault = f"{row.fault}, {run.how}" if run.how else row.fault
    bounds = "; ".join(map(in_words, run.bounds))
    seen = outcome.reason or "; ".join(map(str, outcome.judged))
    cells = (str(row.number), fault, row.metric, bounds, seen, verdict(outcome))
    print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |", flush=True)
    return outcome


def outcome_of(run: Run) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="toolfold-fault-") as folder:
        try:
            return Outcome(anyio.run(play, run, Path(folder)))
        except NotTried as missing:
            return Outcome(reason=str(missing), was_tried=False)
        except Exception as error:  # noqa: BLE001  (whatever it is, the other rows are played)
            return Outcome(reason=reason_of(error))


def reason_of(error: BaseException) -> str:
    """The innermost failure, and the line of ours that it came from."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" in frame.filename]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno} `{ours[-1].line}`" if ours else ""
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}{where} {words}".strip()


def in_words(bound: Bound) -> str:
    return f"{bound.figure} ≤ {bound.most:g} {bound.unit}".rstrip()


def verdict(outcome: Outcome) -> str:
    if not outcome.was_tried:
        return "not tried"
    if outcome.meets_metric:
        return "yes"
    return "within the bound" if outcome.is_held else "**NO**"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
