"""The tools of the `data` server that change something. Each call is one transaction."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.database import CHANGING, Cell, Database, Parameters, Sql, TableName, quoted, run
from server.demo.serving import Refused

MAX_INSERTED = 500
# The CSV comes in one message, and a host writes those itself.
MAX_CSV_CHARS = 500_000
MAX_COLUMNS = 100

# A leading zero makes a postal code or a telephone number, which must keep it.
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
REAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")

ColumnType = Literal["INTEGER", "REAL", "TEXT", "BLOB"]
Row = Annotated[
    dict[str, str | int | float | bool | None],
    Field(min_length=1, max_length=MAX_COLUMNS, description="Column to value."),
]


class NewColumn(BaseModel, frozen=True):
    name: Annotated[str, Field(min_length=1, max_length=128)]
    type: ColumnType = "TEXT"
    required: Annotated[bool, Field(description="Refuse rows where it is empty.")] = False
    unique: Annotated[bool, Field(description="Refuse a second row with the same value.")] = False


class Done(BaseModel, frozen=True):
    rows_changed: int
    last_row_id: int | None


class Loaded(BaseModel, frozen=True):
    table: str
    created: bool
    rows: int
    columns: list[str]


class Changes:
    """What can be done to one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def execute(self, sql: Sql, parameters: Parameters = []) -> Done:  # noqa: B006  never changed
        """Run one statement that changes data or tables: INSERT, UPDATE, DELETE, CREATE, ALTER or DROP."""
        with self._database.changing() as connection:
            cursor = run(connection, sql, list(parameters), CHANGING)
            cursor.fetchall()  # what RETURNING yields; a transaction cannot end while rows wait to be read
            return Done(rows_changed=max(0, cursor.rowcount), last_row_id=cursor.lastrowid or None)

    def create_table(
        self,
        table: TableName,
        columns: Annotated[list[NewColumn], Field(min_length=1, max_length=MAX_COLUMNS)],
        primary_key: Annotated[
            list[str], Field(description="Columns that identify a row; none for SQLite's own row id.", max_length=10)
        ] = [],  # noqa: B006  never changed
    ) -> Loaded:
        """Create a table from a list of columns. Refuses when there is a table of that name."""
        names = [column.name for column in columns]
        if unknown := [key for key in primary_key if key not in names]:
            raise Refused(f"The primary key names no column of this table: {', '.join(unknown)}.")
        parts = [_definition(column) for column in columns]
        if primary_key:
            parts.append(f"PRIMARY KEY ({', '.join(map(quoted, primary_key))})")
        with self._database.changing() as connection:
            connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(parts)})")
        return Loaded(table=table, created=True, rows=0, columns=names)

    def insert_rows(
        self, table: TableName, rows: Annotated[list[Row], Field(min_length=1, max_length=MAX_INSERTED)]
    ) -> Loaded:
        """Insert rows, each an object from column to value, all with the same columns. All of them or none."""
        names = list(rows[0])
        if odd := next((number for number, row in enumerate(rows, start=1) if set(row) != set(names)), None):
            raise Refused(f"Row {odd} has other columns than row 1 ({', '.join(names)}). Insert them separately.")
        with self._database.changing() as connection:
            connection.executemany(_insertion(table, names), [[row[name] for name in names] for row in rows])
        return Loaded(table=table, created=False, rows=len(rows), columns=names)

    def import_csv(
        self,
        table: TableName,
        csv_text: Annotated[
            str,
            Field(
                description="CSV with a header line; empty cells become NULL.", min_length=1, max_length=MAX_CSV_CHARS
            ),
        ],
        separator: Literal[",", ";", "\t", "|"] = ",",
    ) -> Loaded:
        """Load CSV text into a table, which is created with guessed column types if it is not there. All or nothing."""
        names, rows = _parsed(csv_text, separator)
        kinds = [_kind([row[place] for row in rows]) for place in range(len(names))]
        columns = [NewColumn(name=name, type=kind) for name, kind in zip(names, kinds, strict=True)]
        with self._database.changing() as connection:
            known = connection.execute("SELECT 1 FROM pragma_table_info(?)", (table,)).fetchone()
            if known is None:
                connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(_definition, columns))})")
            connection.executemany(_insertion(table, names), rows)
        return Loaded(table=table, created=known is None, rows=len(rows), columns=names)

    def drop_table(self, table: TableName) -> Done:
        """Delete a table with all its rows, for good."""
        with self._database.changing() as connection:
            known = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone()
            if known is None:
                raise Refused(f"There is no table {table!r}. Use list_tables.")
            (rows,) = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608  quoted
            connection.execute(f"DROP TABLE {quoted(table)}")
        return Done(rows_changed=rows, last_row_id=None)


def _definition(column: NewColumn) -> str:
    limits = (" NOT NULL" if column.required else "") + (" UNIQUE" if column.unique else "")
    return f"{quoted(column.name)} {column.type}{limits}"


def _insertion(table: str, columns: Sequence[str]) -> str:
    places = ", ".join("?" * len(columns))
    return f"INSERT INTO {quoted(table)} ({', '.join(map(quoted, columns))}) VALUES ({places})"  # noqa: S608  quoted


def _parsed(text: str, separator: str) -> tuple[list[str], list[list[Cell]]]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=separator, strict=True) if line]
    except csv.Error as error:
        raise Refused(f"This is not CSV: {error}.") from error
    if not lines:
        raise Refused("The CSV is empty. It needs a header line.")
    names = [name.strip() for name in lines[0]]
    if not all(names) or len(set(names)) < len(names) or len(names) > MAX_COLUMNS:
        raise Refused(f"The header line needs different, non-empty names, at most {MAX_COLUMNS}.")
    if odd := next((number for number, line in enumerate(lines, start=1) if len(line) != len(names)), None):
        raise Refused(f"Row {odd} has {len(lines[odd - 1])} cells; the header has {len(names)}.")
    return names, [[cell if cell != "" else None for cell in line] for line in lines[1:]]


def _kind(values: Sequence[Cell]) -> ColumnType:
    """The narrowest type that takes every value; SQLite then stores the text '12' as the number 12 by itself."""
    present = [str(value) for value in values if value is not None]
    if present and all(map(INTEGER.fullmatch, present)):
        return "INTEGER"
    return "REAL" if present and all(map(REAL.fullmatch, present)) else "TEXT"
