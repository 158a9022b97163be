"""The tools of the `data` server that ask and never change anything."""

import csv
import io
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.database import (
    ASKING,
    MAX_ROWS,
    Cell,
    Database,
    Parameters,
    RowLimit,
    Rows,
    Sql,
    TableName,
    fetch,
    quoted,
    run,
)
from server.demo.serving import Refused

MAX_TABLES = 200
MOST_FREQUENT = 5


class TableEntry(BaseModel, frozen=True):
    name: str
    kind: Literal["table", "view"]


class TableList(BaseModel, frozen=True):
    tables: list[TableEntry]


class ColumnFacts(BaseModel, frozen=True):
    name: str
    type: str
    required: Annotated[bool, Field(description="NOT NULL, or part of the primary key.")]
    primary_key: bool
    default: str | None


class TableFacts(BaseModel, frozen=True):
    name: str
    rows: int
    columns: list[ColumnFacts]
    references: Annotated[list[str], Field(description="Foreign keys as 'column -> table.column'.")]


class Frequent(BaseModel, frozen=True):
    value: Cell
    count: int


class ColumnSummary(BaseModel, frozen=True):
    rows: int
    empty: Annotated[int, Field(description="Rows where the column is NULL.")]
    distinct: int
    smallest: Cell
    largest: Cell
    mean: Annotated[float | None, Field(description="Over the numbers in the column; null when there are none.")]
    most_frequent: list[Frequent]


class Queries:
    """What can be asked about one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_tables(self) -> TableList:
        """List the tables and views of the database."""
        with self._database.asking() as connection:
            found = connection.execute(
                "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name LIMIT ?",
                (MAX_TABLES,),
            ).fetchall()
        return TableList(tables=[TableEntry(name=name, kind=kind) for name, kind in found])

    def describe_table(self, table: TableName) -> TableFacts:
        """Show a table's or view's columns with their types, its keys and its number of rows."""
        with self._database.asking() as connection:
            columns = connection.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()
            if not columns:
                raise Refused(f"There is no table {table!r}. Use list_tables.")
            keys = connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (table,)).fetchall()
            (rows,) = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608  quoted
        return TableFacts(
            name=table,
            rows=rows,
            columns=[
                ColumnFacts(name=name, type=kind, required=bool(strict or key), primary_key=bool(key), default=default)
                for _, name, kind, strict, default, key in columns
            ],
            references=[f"{key[3]} -> {key[2]}.{key[4] or '(its key)'}" for key in keys],
        )

    def query(self, sql: Sql, parameters: Parameters = [], limit: RowLimit = 100) -> Rows:  # noqa: B006  never changed
        """Run one reading statement (SELECT, or WITH … SELECT) and return its rows. It cannot change anything."""
        with self._database.asking() as connection:
            return fetch(run(connection, sql, list(parameters), ASKING), limit)

    def explain_query(self, sql: Sql) -> str:
        """Show how SQLite would run a SELECT: which tables it scans and which indexes it uses."""
        with self._database.asking() as connection:
            plan = run(connection, f"EXPLAIN QUERY PLAN {sql}", [], ASKING).fetchmany(MAX_ROWS)
        depth = {0: -1}
        lines = []
        for identity, parent, _, detail in plan:
            depth[identity] = depth.get(parent, -1) + 1
            lines.append("  " * depth[identity] + detail)
        return "\n".join(lines)

    def summarize_column(
        self,
        table: TableName,
        column: Annotated[str, Field(description="Name of a column of the table.", min_length=1, max_length=128)],
    ) -> ColumnSummary:
        """Sum up one column: how many values, empty ones and different ones, the range, the mean, the most frequent."""
        known = [facts.name for facts in self.describe_table(table).columns]
        if column not in known:
            raise Refused(f"Table {table!r} has no column {column!r}. It has: {', '.join(known)}.")
        name, source = quoted(column), quoted(table)
        totals = (
            f"SELECT count(*), count(*) - count({name}), count(DISTINCT {name}), min({name}), max({name}), "  # noqa: S608
            f"avg(CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END) FROM {source}"
        )
        frequent = (
            f"SELECT {name}, count(*) FROM {source} WHERE {name} IS NOT NULL "  # noqa: S608  both names are quoted
            f"GROUP BY {name} ORDER BY count(*) DESC, {name} LIMIT {MOST_FREQUENT}"
        )
        with self._database.asking() as connection:
            (facts,) = fetch(connection.execute(totals), 1).rows
            values = fetch(connection.execute(frequent), MOST_FREQUENT).rows
        keys = ("rows", "empty", "distinct", "smallest", "largest", "mean")
        return ColumnSummary.model_validate(
            dict(zip(keys, facts, strict=True)) | {"most_frequent": [{"value": v, "count": n} for v, n in values]}
        )

    def export_csv(self, sql: Sql, parameters: Parameters = [], limit: RowLimit = MAX_ROWS) -> str:  # noqa: B006
        """Run one reading statement and return its rows as CSV text with a header line."""
        found = self.query(sql, parameters, limit)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows(found.rows)
        return text.getvalue()
