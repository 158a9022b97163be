"""A small suite of queries over the tools of the demo servers, which `make test` holds to bounds.

The queries were written from what the tools are for. `make bench-search` has the large ones, over tools of others.
"""

import anyio
import pytest

from index import Exposure, SearchIndex, Tool
from server.demo import data, everyday, files
from server.demo.serving import build

HITS = 5
ENGLISH = """
read_file: read a text file | show me the first lines of notes.txt | view file contents
write_file: save text to a new file | create a file with this content
append_to_file: add a line to the end of a log file | append text
edit_file: replace a passage in a document | change one sentence of a file
delete_file: remove a file for good | erase old file
delete_folder: remove an empty directory | rmdir
move_file: rename a file | move document to another folder
copy_file: duplicate a file | make a copy of the report
make_folder: create a directory | mkdir
list_folder: what is in this directory | ls folder contents
find_files: find files by name pattern | glob for python files
file_info: how big is this file | file size and modification time
search_text: grep for a word in all files | search inside files
query: run a SQL select | read rows from the database
execute: update rows with SQL | run an INSERT statement
explain_query: which index does this query use | explain query plan
list_tables: which tables are there | show database tables
describe_table: columns and types of a table | schema of the orders table
create_table: make a new table with columns
drop_table: delete a table with all its data | drop table
insert_rows: add records to a table | insert several rows
import_csv: load a csv into the database | import spreadsheet data as csv
export_csv: export query result as csv | download rows as CSV
summarize_column: mean and range of a column | most frequent values in a column
calculate: evaluate a math expression | what is 3 * (4 + 5)
convert_units: miles to kilometers | convert temperature units
percentage: what percent of 80 is 20 | percentage increase
describe_numbers: median and standard deviation of a list | statistics of numbers
current_time: what time is it in Tokyo | current date and time
convert_time: convert time between time zones | 9 am Oslo in New York time
list_time_zones: list time zone names
add_to_date: date in three weeks | add two months to a date
days_between: how many days until a date | business days between two dates
count_words: word count of a text | how long does reading this take
change_case: convert text to upper case | snake case name
compare_texts: diff two texts | compare two versions line by line
replace_text: find and replace in a text
hash_text: sha256 digest of a string | compute a hash
base64_text: decode base64 | base64 encode text
slugify: make a url slug from a title
"""
OTHERS = """
read_file: leer un archivo | फ़ाइल पढ़ें | 读取文件 | ファイルを読む | 파일 읽기
read_file: lire un fichier | Datei lesen | ler um arquivo | прочитать файл | قراءة ملف
delete_file: borrar archivo | फ़ाइल हटाएँ | 删除文件 | ファイルを削除 | 파일 삭제
delete_file: supprimer un fichier | Datei löschen | excluir arquivo | удалить файл | حذف ملف
list_tables: listar tablas | टेबल की सूची | 列出数据库的表 | テーブル一覧 | 테이블 목록
list_tables: lister les tables | Tabellen auflisten | listar tabelas | список таблиц | قائمة الجداول
current_time: hora actual | वर्तमान समय | 当前时间 | 現在の時刻 | 현재 시간
current_time: heure actuelle | aktuelle Uhrzeit | hora atual | текущее время | الوقت الحالي
"""
FOREIGN = (
    "book a flight to Lisbon", "send an email to my boss", "order a pizza", "play some jazz", "create a github issue",
    "restart the kubernetes pod", "translate this into French", "charge the customer's credit card",
    "weather forecast for tomorrow", "take a screenshot of the page", "post a message to the channel",
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    folder, tools = tmp_path_factory.mktemp("demo"), []
    specs = {"files": files.spec(folder), "data": data.spec(folder / "demo.db"), "everyday": everyday.spec()}
    for owner, spec in specs.items():
        for one in anyio.run(build(spec).list_tools):
            definition = one.model_dump(mode="json", by_alias=True, exclude_none=True)
            identity = f"mcp:{owner}:{one.name}"
            tools.append(Tool(identity, "mcp", owner, one.name, definition, Exposure.CATALOG, "", False, False))
    return SearchIndex.build(tools)


def pairs(text: str) -> list[tuple[str, str]]:
    lines = (line.split(": ") for line in text.strip().splitlines())
    return [(query, name) for name, queries in lines for query in queries.split(" | ")]


def missed(index: SearchIndex, asked: list[tuple[str, str]]) -> list[str]:
    """The queries whose tool is not among the first hits."""

    def names(query: str) -> set[str]:
        return {match.tool_id.split(":")[2] for match in index.search(query, HITS)}

    return [query for query, name in asked if name not in names(query)]


def test_english_queries_find_the_tool_that_serves_them(index: SearchIndex) -> None:
    asked = pairs(ENGLISH)
    lost = missed(index, asked)
    assert len(asked) >= 70
    assert len(lost) <= 0.07 * len(asked), lost


def test_queries_in_ten_languages_find_tools_that_are_described_in_english(index: SearchIndex) -> None:
    asked = pairs(OTHERS)
    lost = missed(index, asked)
    assert len(asked) == 40
    assert len(lost) <= 0.1 * len(asked), lost


def test_of_queries_that_no_tool_serves_none_is_answered_with_high_confidence(index: SearchIndex) -> None:
    sure = [query for query in FOREIGN for match in index.search(query, 1) if match.confidence == "high"]
    assert sure == []
