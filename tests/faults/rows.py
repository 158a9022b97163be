"""All rows of the fault matrix, in order. Each subject has a module of its own with a tuple `ROWS`."""

from typing import Final

from tests.faults import rows_ends
from tests.faults.matrix import Row

ROWS: Final[tuple[Row, ...]] = tuple(sorted((*rows_ends.ROWS,), key=lambda row: row.number))
