"""Every row of the fault matrix, injected for real. `make faults` prints the figures; here they only have to hold."""

import sys
from pathlib import Path

import pytest

from tests.faults.matrix import NotTried, Row, Run, is_whole, name_of, play
from tests.faults.rows import ROWS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes and memory through /proc")

RUNS = [
    pytest.param(run, id=name_of(row, run), marks=() if run.quick else pytest.mark.faults)
    for row in ROWS
    for run in row.runs
]


@pytest.mark.parametrize("run", RUNS)
async def test_the_outcome_is_the_expected_one_and_the_figures_hold(run: Run, tmp_path: Path) -> None:
    try:
        judged = await play(run, tmp_path)
    except NotTried as missing:
        pytest.skip(str(missing))
    assert [str(one) for one in judged if not one.is_held] == []


def test_every_row_of_the_matrix_is_there_once() -> None:
    assert [row.number for row in ROWS] == list(range(1, 33))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number:02}")
def test_a_row_has_runs_with_bounds(row: Row) -> None:
    assert row.runs != ()
    assert all(is_whole(run) for run in row.runs)
