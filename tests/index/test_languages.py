"""Tools described in English are found by what people say in their own language; and tools of that language as well."""

import pytest

from index import Confidence, Exposure, JsonObject, SearchIndex, Tool


def tool(identity: str, description: str, *parameters: str) -> Tool:
    owner, name = identity.split(":")
    schema: JsonObject = {"type": "object", "properties": {name: {"type": "string"} for name in parameters}}
    definition: JsonObject = {"name": name, "description": description, "inputSchema": schema}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, Exposure.CATALOG, "", False, False)


TOOLS = (
    tool("calendar:create_event", "Add an event to a calendar.", "title", "start", "end"),
    tool("calendar:list_events", "List the events of a calendar between two dates.", "from", "to"),
    tool("calendar:delete_event", "Remove an event from a calendar.", "event_id"),
    tool("github:create_issue", "Open a new issue in a GitHub repository.", "owner", "repo", "title"),
    tool("github:list_issues", "List the issues of a GitHub repository.", "owner", "repo", "state"),
    tool("github:merge_pull_request", "Merge a pull request.", "owner", "repo", "number"),
    tool("jira:create_issue", "Create an issue in a Jira project.", "project", "summary"),
    tool("files:read_file", "Read the content of a file.", "path"),
    tool("files:delete_file", "Delete a file.", "path"),
    tool("files:create_folder", "Create a folder.", "path"),
    tool("files:move_file", "Move a file to another folder.", "from", "to"),
    tool("database:run_query", "Run a SQL query.", "sql"),
    tool("database:list_tables", "List the tables of a database."),
    tool("database:describe_table", "Columns and types of a table.", "table"),
    tool("mail:send_email", "Send an email.", "to", "subject", "body"),
    tool("mail:search_emails", "Search the mailbox.", "query"),
    tool("weather:get_forecast", "Weather forecast for a city.", "city"),
    tool("time:get_current_time", "Current time in a time zone.", "zone"),
    tool("browser:take_screenshot", "Take a screenshot of the page."),
    tool("browser:click", "Click on an element of the page.", "element"),
    tool("docs:translate", "Translate a text into another language.", "text", "language"),
    tool("tianqi:forecast", "查询城市天气预报"),
    tool("rilich:novoe", "Создаёт новую встречу в календаре"),
    tool("thai:bill", "สร้างใบแจ้งหนี้ของลูกค้า"),
)


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(TOOLS)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("GitHub इश्यू बनाएँ", "github:create_issue"),
        ("कैलेंडर इवेंट", "calendar:*"),
        ("evento del calendario", "calendar:*"),
        ("创建 GitHub 问题", "github:create_issue"),
        ("予定を追加", "calendar:create_event"),
        ("leer un archivo", "files:read_file"),
        ("enviar un correo electrónico", "mail:send_email"),
        ("ईमेल भेजें", "mail:send_email"),
        ("फ़ाइल हटाओ", "files:delete_file"),
        ("列出数据库的表", "database:list_tables"),
        ("截图", "browser:take_screenshot"),
        ("ファイルを削除", "files:delete_file"),
        ("プルリクエストをマージ", "github:merge_pull_request"),
        ("파일을 폴더로 이동", "files:move_file"),
        ("이메일 보내기", "mail:send_email"),
        ("créer un dossier", "files:create_folder"),
        ("prévisions météo", "weather:get_forecast"),
        ("Datenbanktabellen auflisten", "database:list_tables"),
        ("aktuelle Uhrzeit", "time:get_current_time"),
        ("traduzir um texto", "docs:translate"),
        ("excluir evento da agenda", "calendar:delete_event"),
        ("сделать скриншот страницы", "browser:take_screenshot"),
        ("прочитать файл", "files:read_file"),
        ("إنشاء مجلد جديد", "files:create_folder"),
        ("حذف الملف", "files:delete_file"),
        ("اعرض جداول قاعدة البيانات", "database:list_tables"),
        ("muéstrame las tablas de la base de datos", "database:list_tables"),
        ("Datei in einen anderen Ordner verschoben", "files:move_file"),
        ("풀 리퀘스트를 합쳐줘", "github:merge_pull_request"),
        ("メールを探したい", "mail:search_emails"),
        ("把文件挪到另一个文件夹", "files:move_file"),
    ],
)
def test_a_tool_described_in_english_is_found_in_ten_languages(index: SearchIndex, query: str, best: str) -> None:
    first = index.search(query, 1)[0].tool_id.removeprefix("mcp:")
    assert first == best or (best.endswith("*") and first.startswith(best[:-1]))


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("天气预报", "tianqi:forecast"),
        ("城市天气", "tianqi:forecast"),
        ("новую встречу в календаре", "rilich:novoe"),
        ("ใบแจ้งหนี้", "thai:bill"),
        ("ลูกค้า", "thai:bill"),
    ],
)
def test_a_tool_is_found_in_its_own_language(index: SearchIndex, query: str, best: str) -> None:
    assert best in [match.tool_id.removeprefix("mcp:") for match in index.search(query, 2)]


def test_words_that_could_not_be_translated_do_not_empty_an_answer(index: SearchIndex) -> None:
    found = index.search("buscar con cualquier criterio insólito", 2)
    assert "mail:search_emails" in [match.tool_id.removeprefix("mcp:") for match in found]
    assert {match.confidence for match in found} == {Confidence.LOW}


def test_a_name_that_no_tool_has_still_empties_an_answer(index: SearchIndex) -> None:
    assert index.search("найти Zyxwvut", 2) == ()


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("compartir archivo", "mcp:o:share_file"),
        ("compartir un archivo con alguien", "mcp:o:share_file"),
        ("comparar dos archivos", "mcp:o:compare_files"),
        ("comparaison de fichiers", "mcp:o:compare_files"),
        ("comparando arquivos", "mcp:o:compare_files"),
        ("Wetter in Berlin", "mcp:o:get_weather"),
        ("consultar archivo", "mcp:o:get_file"),
    ],
)
def test_a_word_of_one_language_is_not_taken_for_what_it_resembles_in_another(query: str, best: str) -> None:
    tools = (
        tool("o:share_file", "Share a file with a person."),
        tool("o:compare_files", "Compare two files."),
        tool("o:get_weather", "Get the forecast of a city."),
        tool("o:get_file", "Get a file."),
        tool("o:archive_page", "Show an archive."),
    )
    assert [match.tool_id for match in SearchIndex.build(tools).search(query, 1)] == [best]
