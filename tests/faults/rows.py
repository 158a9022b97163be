"""All rows of the fault matrix, in order. Each subject has a module of its own with a tuple `ROWS`."""

from typing import Final

from tests.faults import rows_answers, rows_bytes, rows_ends, rows_lists, rows_silence
from tests.faults.matrix import Row

PARTS: Final = (rows_answers, rows_bytes, rows_ends, rows_lists, rows_silence)

ROWS: Final[tuple[Row, ...]] = tuple(sorted((row for part in PARTS for row in part.ROWS), key=lambda row: row.number))
