"""All rows of the fault matrix, in order. Each subject has a module of its own with a tuple `ROWS`."""

from typing import Final

from tests.faults import (
    rows_addresses,
    rows_code,
    rows_disk,
    rows_edits,
    rows_ends,
    rows_host,
    rows_load,
    rows_machine,
)
from tests.faults.matrix import Row

ROWS: Final[tuple[Row, ...]] = tuple(
    sorted(
        (
            *rows_ends.ROWS,
            *rows_host.ROWS,
            *rows_edits.ROWS,
            *rows_disk.ROWS,
            *rows_load.ROWS,
            *rows_machine.ROWS,
            *rows_addresses.ROWS,
            *rows_code.ROWS,
        ),
        key=lambda row: row.number,
    )
)
