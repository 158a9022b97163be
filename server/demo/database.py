"""One SQLite file, opened for one question or one change at a time, within limits.

Laws:
1. A caller's SQL runs under an authoriser with a list of what is allowed. Other files, pragmas, extensions and
   transactions of its own are not on it.
2. Every statement has a deadline; every connection has a cap on a value's length and on the file's size.
3. A change happens whole or not at all.

Must never know what a tool is for.
"""

import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from server.demo.serving import Refused

MAX_STATEMENT_SECONDS = 2.0
# SQLite asks for the time after this many of its own steps: often enough to stop in time, too seldom to be felt.
STEPS_BETWEEN_CHECKS = 10_000
# Also what keeps one built-in function call short: those cannot be interrupted, and some take length x length.
MAX_VALUE_BYTES = 256 * 1024
MAX_SQL_CHARS = 20_000
MAX_PATTERN_BYTES = 200
MAX_FILE_PAGES = 16_384  # 64 MiB with SQLite's usual pages of 4 KiB
MAX_ROWS = 500
MAX_CELL_CHARS = 2_000
MAX_ANSWER_CHARS = 200_000

Cell: TypeAlias = str | int | float | None
Sql = Annotated[
    str, Field(description="One SQL statement in SQLite's dialect.", min_length=1, max_length=MAX_SQL_CHARS)
]
Parameters = Annotated[
    list[str | int | float | bool | None],
    Field(description="Values for the statement's ? placeholders, in order.", max_length=500),
]
TableName = Annotated[str, Field(description="Name of a table.", min_length=1, max_length=128)]
RowLimit = Annotated[int, Field(description="How many rows to return at most.", ge=1, le=MAX_ROWS)]

ASKING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
CHANGING = ASKING | {
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_DROP_TABLE,
    sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_VIEW,
    sqlite3.SQLITE_DROP_TRIGGER,
    sqlite3.SQLITE_ALTER_TABLE,
    sqlite3.SQLITE_REINDEX,
    sqlite3.SQLITE_ANALYZE,
}
REASONS = {
    sqlite3.SQLITE_INTERRUPT: f"Stopped after {MAX_STATEMENT_SECONDS:g} seconds. Ask for less.",
    sqlite3.SQLITE_AUTH: "Not allowed: only plain statements over the tables of this file, and only reading ones in query.",
}


class Rows(BaseModel, frozen=True):
    columns: list[str]
    rows: list[list[Cell]]
    more: Annotated[bool, Field(description="Whether there are more rows than are returned.")]


class Database:
    """The file that a demo server was started for."""

    def __init__(self, file: Path) -> None:
        self._file = file.resolve()
        self._file.touch()

    @contextmanager
    def asking(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot change the file."""
        with _translated(), closing(self._connect("ro")) as connection:
            yield connection

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction, committed at the end unless something was raised."""
        with _translated(), closing(self._connect("rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.set_authorizer(None)
            connection.execute("COMMIT")

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{self._file.as_uri()}?mode={mode}", uri=True, isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        connection.execute(f"PRAGMA max_page_count = {MAX_FILE_PAGES}")
        connection.set_progress_handler(_deadline(), STEPS_BETWEEN_CHECKS)
        return connection


def run(connection: sqlite3.Connection, sql: str, parameters: list[Cell], allowed: frozenset[int]) -> sqlite3.Cursor:
    """Execute a caller's own statement; from here on the connection allows nothing else than `allowed`."""

    def authorise(action: int, *_about: str | None) -> int:
        return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorise)
    return connection.execute(sql, parameters)


def fetch(cursor: sqlite3.Cursor, limit: int) -> Rows:
    """At most `limit` rows of at most `MAX_ANSWER_CHARS` characters in all."""
    if cursor.description is None:
        raise Refused("This statement answers with no rows. Use execute for statements that change something.")
    rows: list[list[Cell]] = []
    spent, more = 0, False
    for raw in cursor:
        row = [_cell(value) for value in raw]
        spent += sum(len(str(cell)) for cell in row)
        more = len(rows) == limit or spent > MAX_ANSWER_CHARS
        if more:
            break
        rows.append(row)
    return Rows(columns=[column[0] for column in cursor.description], rows=rows, more=more)


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _cell(value: object) -> Cell:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str):
        return value if len(value) <= MAX_CELL_CHARS else f"{value[:MAX_CELL_CHARS]}… ({len(value)} characters)"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinity
    assert value is None or isinstance(value, int | float)
    return value


def _deadline() -> Callable[[], bool]:
    end = time.monotonic() + MAX_STATEMENT_SECONDS
    return lambda: time.monotonic() > end


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, ValueError, OverflowError) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        raise Refused(REASONS.get(code, f"SQLite: {str(error).rstrip('.')}.")) from error
