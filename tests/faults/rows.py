"""All rows of the fault matrix, in order. Each subject has a module of its own with a tuple `ROWS`."""

from typing import Final

from tests.faults import (
    rows_addresses,
    rows_answers,
    rows_bytes,
    rows_code,
    rows_disk,
    rows_edits,
    rows_ends,
    rows_host,
    rows_lists,
    rows_load,
    rows_machine,
    rows_silence,
)
from tests.faults.matrix import Row

OF_UPSTREAMS: Final = (*rows_answers.ROWS, *rows_bytes.ROWS, *rows_ends.ROWS, *rows_lists.ROWS, *rows_silence.ROWS)
OF_HOSTS: Final = (*rows_host.ROWS, *rows_edits.ROWS, *rows_load.ROWS)
OF_THE_MACHINE: Final = (*rows_disk.ROWS, *rows_machine.ROWS, *rows_addresses.ROWS, *rows_code.ROWS)

ROWS: Final[tuple[Row, ...]] = tuple(sorted((*OF_UPSTREAMS, *OF_HOSTS, *OF_THE_MACHINE), key=lambda row: row.number))
