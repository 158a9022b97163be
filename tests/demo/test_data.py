import pytest
from mcp import Client
from mcp_types import TextContent

NOT_ALLOWED = "Not allowed: only plain statements over the tables of this file, and only reading ones in query."
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

REFUSED = [
    ("query", {"sql": "DELETE FROM orders"}, NOT_ALLOWED),
    ("query", {"sql": "ATTACH 'other.db' AS other"}, NOT_ALLOWED),
    ("query", {"sql": "PRAGMA journal_mode = WAL"}, NOT_ALLOWED),
    ("query", {"sql": "SELECT load_extension('x')"}, "SQLite: not authorized."),
    ("query", {"sql": "SELECT 1; SELECT 2"}, "SQLite: You can only execute one statement at a time."),
    ("query", {"sql": "SELEC 1"}, 'SQLite: near "SELEC": syntax error.'),
    ("query", {"sql": ENDLESS}, "Stopped after 2 seconds. Ask for less."),
    ("query", {"sql": "SELECT zeroblob(1000000000)"}, "SQLite: string or blob too big."),
    ("explain_query", {"sql": "DELETE FROM orders"}, NOT_ALLOWED),
    ("execute", {"sql": "ATTACH 'other.db' AS other"}, NOT_ALLOWED),
    ("execute", {"sql": "PRAGMA writable_schema = ON"}, NOT_ALLOWED),
    ("execute", {"sql": "COMMIT"}, NOT_ALLOWED),
    ("execute", {"sql": "VACUUM INTO 'other.db'"}, "SQLite: cannot VACUUM from within a transaction."),
    (
        "execute",
        {"sql": "INSERT INTO customers VALUES (1, 'x', 'y')"},
        "SQLite: UNIQUE constraint failed: customers.id.",
    ),
    ("describe_table", {"table": "nothing"}, "There is no table 'nothing'. Use list_tables."),
    ("drop_table", {"table": "sqlite_master"}, "There is no table 'sqlite_master'. Use list_tables."),
    (
        "summarize_column",
        {"table": "customers", "column": "nme"},
        "Table 'customers' has no column 'nme'. It has: id, name, town.",
    ),
    (
        "insert_rows",
        {"table": "customers", "rows": [{"name": "Di", "town": "Easton"}, {"name": "Ed"}]},
        "Row 2 has other columns than row 1 (name, town). Insert them separately.",
    ),
    (
        "insert_rows",
        {"table": "customers", "rows": [{"name": "Di", "town": "Easton"}, {"name": None, "town": "Easton"}]},
        "SQLite: NOT NULL constraint failed: customers.name.",
    ),
    ("import_csv", {"table": "t", "csv_text": "a,b\n1,2,3\n"}, "Row 2 has 3 cells; the header has 2."),
    (
        "import_csv",
        {"table": "t", "csv_text": "a,a\n"},
        "The header line needs different, non-empty names, at most 100.",
    ),
    (
        "create_table",
        {"table": "t", "columns": [{"name": "a"}], "primary_key": ["b"]},
        "The primary key names no column of this table: b.",
    ),
]


async def test_every_tool_says_what_it_does_and_whether_it_changes_anything(data: Client) -> None:
    tools = (await data.list_tools()).tools
    assert len(tools) == 11
    reading = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    assert reading == {"list_tables", "describe_table", "query", "explain_query", "summarize_column", "export_csv"}
    assert all(tool.title and tool.description for tool in tools)


async def test_a_table_is_described_with_its_columns_and_keys(data: Client) -> None:
    described = await data.call_tool("describe_table", {"table": "customers"})
    assert described.structured_content == {
        "name": "customers",
        "rows": 3,
        "columns": [
            {"name": "id", "type": "INTEGER", "required": True, "primary_key": True, "default": None},
            {"name": "name", "type": "TEXT", "required": True, "primary_key": False, "default": None},
            {"name": "town", "type": "TEXT", "required": True, "primary_key": False, "default": None},
        ],
        "references": [],
    }
    orders = await data.call_tool("describe_table", {"table": "orders"})
    assert orders.structured_content is not None
    assert orders.structured_content["references"] == ["customer_id -> customers.id"]


async def test_a_query_binds_its_parameters_and_is_cut_at_its_limit(data: Client) -> None:
    found = await data.call_tool(
        "query",
        {
            "sql": "SELECT c.name, sum(o.price) AS total FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE c.town = ? GROUP BY c.id ORDER BY total DESC",
            "parameters": ["Millbrook"],
            "limit": 1,
        },
    )
    assert found.structured_content == {"columns": ["name", "total"], "rows": [["Ada Hopper", 97.5]], "more": True}


async def test_values_that_json_cannot_carry_are_described(data: Client) -> None:
    found = await data.call_tool(
        "query", {"sql": "SELECT x'00ff' AS b, 9e999 AS inf, NULL AS n, printf('%.*c', 3000, 'x') AS s"}
    )
    assert found.structured_content == {
        "columns": ["b", "inf", "n", "s"],
        "rows": [["<2 bytes>", "inf", None, "x" * 2_000 + "… (3000 characters)"]],
        "more": False,
    }


async def test_a_column_is_summed_up(data: Client) -> None:
    summary = await data.call_tool("summarize_column", {"table": "customers", "column": "town"})
    assert summary.structured_content == {
        "rows": 3,
        "empty": 0,
        "distinct": 2,
        "smallest": "Easton",
        "largest": "Millbrook",
        "mean": None,
        "most_frequent": [{"value": "Millbrook", "count": 2}, {"value": "Easton", "count": 1}],
    }


async def test_a_plan_shows_what_is_scanned(data: Client) -> None:
    plan = await data.call_tool("explain_query", {"sql": "SELECT * FROM orders WHERE id = 3"})
    assert plan.content == [TextContent(text="SEARCH orders USING INTEGER PRIMARY KEY (rowid=?)")]


async def test_a_csv_becomes_a_table_with_guessed_types_and_comes_back_as_csv(data: Client) -> None:
    text = "code,price,pieces\n007,1.50,3\n012,,4\n"
    loaded = await data.call_tool("import_csv", {"table": 'my "parts"', "csv_text": text})
    assert loaded.structured_content == {
        "table": 'my "parts"',
        "created": True,
        "rows": 2,
        "columns": ["code", "price", "pieces"],
    }
    sql = 'SELECT *, typeof(code) AS kind FROM "my ""parts""" ORDER BY code'
    exported = await data.call_tool("export_csv", {"sql": sql})
    assert exported.content == [TextContent(text="code,price,pieces,kind\n007,1.5,3,text\n012,,4,text\n")]
    dropped = await data.call_tool("drop_table", {"table": 'my "parts"'})
    assert dropped.structured_content == {"rows_changed": 2, "last_row_id": None}


async def test_a_table_is_created_filled_changed_and_listed(data: Client) -> None:
    columns = [{"name": "id", "type": "INTEGER"}, {"name": "name", "required": True, "unique": True}]
    created = await data.call_tool("create_table", {"table": "bikes", "columns": columns, "primary_key": ["id"]})
    assert created.structured_content == {"table": "bikes", "created": True, "rows": 0, "columns": ["id", "name"]}
    inserted = await data.call_tool("insert_rows", {"table": "bikes", "rows": [{"name": "red"}, {"name": "green"}]})
    assert inserted.structured_content == {"table": "bikes", "created": False, "rows": 2, "columns": ["name"]}
    sql = "UPDATE bikes SET name = upper(name) WHERE name = ? RETURNING id"
    changed = await data.call_tool("execute", {"sql": sql, "parameters": ["red"]})
    assert changed.structured_content == {"rows_changed": 1, "last_row_id": None}
    rows = await data.call_tool("query", {"sql": "SELECT * FROM bikes ORDER BY id"})
    assert rows.structured_content == {"columns": ["id", "name"], "rows": [[1, "RED"], [2, "green"]], "more": False}
    listed = await data.call_tool("list_tables", {})
    assert listed.structured_content == {
        "tables": [{"name": name, "kind": "table"} for name in ("bikes", "customers", "orders")]
    }


@pytest.mark.parametrize(("tool", "arguments", "reason"), REFUSED)
async def test_what_cannot_be_done_is_refused_with_the_reason_and_changes_nothing(
    data: Client, tool: str, arguments: dict[str, object], reason: str
) -> None:
    result = await data.call_tool(tool, arguments)
    assert result.is_error
    assert result.content == [TextContent(text=f"Error executing tool {tool}: {reason}")]
    rows = await data.call_tool(
        "query", {"sql": "SELECT (SELECT count(*) FROM customers), (SELECT count(*) FROM orders)"}
    )
    assert rows.structured_content is not None
    assert rows.structured_content["rows"] == [[3, 5]]
