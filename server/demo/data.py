"""Demo server `data`: the tables of one SQLite file. What it publishes, and how it starts.

Started as `python -P -m server.demo.data DATABASE`; must never open another file (see `database`).
"""

import argparse
from pathlib import Path

from server.demo.data_changes import Changes
from server.demo.data_queries import Queries
from server.demo.database import Database
from server.demo.serving import ADDS, DESTROYS, READS, ServerSpec, ToolSpec, serve


def spec(file: Path) -> ServerSpec:
    database = Database(file)
    queries, changes = Queries(database), Changes(database)
    return ServerSpec(
        name="data",
        title="SQLite tables",
        instructions="One SQLite database. Look at list_tables and describe_table before writing SQL; bind values with ?.",
        tools=(
            ToolSpec(queries.list_tables, "List tables", READS),
            ToolSpec(queries.describe_table, "Describe a table", READS),
            ToolSpec(queries.query, "Query with SQL", READS),
            ToolSpec(queries.explain_query, "Explain a query", READS),
            ToolSpec(queries.summarize_column, "Sum up a column", READS),
            ToolSpec(queries.export_csv, "Export as CSV", READS),
            ToolSpec(changes.execute, "Change with SQL", DESTROYS),
            ToolSpec(changes.create_table, "Create a table", ADDS),
            ToolSpec(changes.insert_rows, "Insert rows", ADDS),
            ToolSpec(changes.import_csv, "Import CSV", ADDS),
            ToolSpec(changes.drop_table, "Delete a table", DESTROYS),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="server.demo.data", description="MCP server over stdio: one SQLite file.")
    parser.add_argument("database", type=Path, help="the SQLite file; created empty if it is not there")
    file: Path = parser.parse_args().database
    if file.is_dir() or not file.absolute().parent.is_dir():
        parser.error(f"{file} is not a file in an existing folder")
    serve(spec(file))


if __name__ == "__main__":
    main()
