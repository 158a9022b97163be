"""The house rules that a reader would otherwise have to check by hand: who imports whom, and what lies where.

Each rule is a function from a source tree to what breaks it. It is run over this project, and over a small tree that
breaks it, so that a rule which has stopped looking is noticed.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

PROJECT = Path(__file__).parents[1]

# room -> the rooms that it may import from
ROOMS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {"server": ("upstream_clients", "index"), "upstream_clients": (), "index": ()}
)

# library -> the files and folders that may import it
SEAMS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "whoosh": ("index/search.py",),
        "mcp": (
            "server/sdk.py",
            "server/sdk_news.py",
            "server/sdk_streams.py",
            "server/demo/",
            "upstream_clients/http/__init__.py",
            "upstream_clients/http/messages.py",
            "upstream_clients/http/streamable.py",
        ),
        "mcp_types": (
            "server/sdk.py",
            "server/sdk_news.py",
            "server/sdk_streams.py",
            "server/demo/",
            "upstream_clients/http/messages.py",
        ),
        "httpx2": ("upstream_clients/http/", "upstream_clients/network.py", "upstream_clients/openclaw/web.py"),
        "websockets": ("upstream_clients/openclaw/opening.py", "upstream_clients/openclaw/socket.py"),
        "cryptography": ("upstream_clients/openclaw/device.py",),
        "opentelemetry": ("server/tracing.py",),
        "quicktok": ("server/cli/billing.py",),
        "uvicorn": ("server/http/web.py",),
        "jsonschema": ("server/arguments/",),
        "referencing": ("server/arguments/",),
        "typer": ("server/cli/", "server/demo/"),
        "rich": ("server/cli/", "server/demo/"),
        "json5": ("server/config/",),
        "dotenv": ("server/config/",),
        "yaml": ("server/config/yaml_text.py",),
        "platformdirs": ("server/config/",),
        "numpy": ("server/wordllama.py",),
        "safetensors": ("server/wordllama.py",),
        "tokenizers": ("server/wordllama.py",),
    }
)
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"})

TOP_LEVEL = frozenset(
    {
        *ROOMS,
        "tests",
        "pyproject.toml",
        "mcp.json.example",
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE",
        "NOTICE",
        "Makefile",
        ".gitignore",
        ".ci",
        "requirements.lock",
        "requirements-dev.lock",
    }
)

Import = tuple[str, str, tuple[str, ...]]  # the file, the module, the names taken from it


def imports(project: Path) -> Iterator[Import]:
    for path, node in nodes(project):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield path, alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield path, "." * node.level + (node.module or ""), tuple(alias.name for alias in node.names)


def nodes(project: Path) -> Iterator[tuple[str, ast.AST]]:
    for room in ROOMS:
        for file in sorted((project / room).rglob("*.py")):
            path = file.relative_to(project).as_posix()
            for node in ast.walk(ast.parse(file.read_bytes(), path)):
                yield path, node


def wrong_directions(project: Path) -> list[str]:
    """Imports sideways or up, of what another room's package does not export, or relative ones."""
    exported = {room: exports(project / room / "__init__.py") for room in ROOMS}
    wrong = []
    for path, module, names in imports(project):
        own, room = path.split("/")[0], module.split(".")[0]
        if not room or room == "tests":
            wrong.append(f"{path}: {module or '.'} (write imports in full; never import tests)")
        elif room in ROOMS and room != own:
            if room not in ROOMS[own]:
                wrong.append(f"{path}: {module} (this room must not know that one)")
            elif module != room or not names or not exported[room].issuperset(names):
                wrong.append(f"{path}: {module} (import what is in __all__ of the package {room}, from there)")
    return wrong


def hidden_imports(project: Path) -> list[str]:
    """Imports by name at run time, which the other rules could not see."""
    return [
        f"{path}: {ast.unparse(node.func)}"
        for path, node in nodes(project)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"__import__", "import_module", "importlib.import_module"}
    ]


def exports(package: Path) -> frozenset[str]:
    """The names in `__all__`, which is a plain list."""
    for node in ast.parse(package.read_bytes()).body if package.exists() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def strayed_libraries(project: Path) -> list[str]:
    """Libraries imported outside their one seam."""
    return [
        f"{path}: {module}"
        for path, module, _ in imports(project)
        if (library := module.split(".")[0]) in SEAMS and not path.startswith(SEAMS[library])
    ]


def strayed_environment(project: Path) -> list[str]:
    """Reading or writing of environment variables outside `server/config`."""
    strayed = []
    for path, node in nodes(project):
        if path.startswith("server/config/"):
            continue
        if isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT and ast.unparse(node.value) == "os":
            strayed.append(f"{path}: os.{node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            strayed.extend(f"{path}: os.{alias.name}" for alias in node.names if alias.name in ENVIRONMENT)
    return strayed


def misplaced_entries(project: Path) -> list[str]:
    """Top-level entries that are missing, or are there without belonging; what .gitignore names does not count."""
    ignored = [line.strip("/") for line in (project / ".gitignore").read_text(encoding="utf-8").splitlines()]
    found = {
        entry.name
        for entry in project.iterdir()
        if entry.name != ".git" and not any(map(entry.match, filter(None, ignored)))
    }
    return sorted(found ^ TOP_LEVEL)


def test_rooms_import_downwards_and_from_packages_only() -> None:
    assert wrong_directions(PROJECT) == []


def test_nothing_is_imported_behind_the_back_of_these_rules() -> None:
    assert hidden_imports(PROJECT) == []


def test_each_library_is_imported_at_its_one_seam() -> None:
    assert strayed_libraries(PROJECT) == []


def test_only_the_configuration_knows_environment_variables() -> None:
    assert strayed_environment(PROJECT) == []


def test_the_top_level_holds_what_was_agreed_and_nothing_else() -> None:
    assert misplaced_entries(PROJECT) == []


FROM_THE_PACKAGE = "(import what is in __all__ of the package index, from there)"


@pytest.mark.parametrize(
    ("rule", "path", "source", "complaint"),
    [
        (wrong_directions, "index/a.py", "import server", "index/a.py: server (this room must not know that one)"),
        (
            wrong_directions,
            "index/a.py",
            "def f():\n    from upstream_clients.peer import Peer",
            "index/a.py: upstream_clients.peer (this room must not know that one)",
        ),
        (
            wrong_directions,
            "server/a/b.py",
            "from index.tool import Tool",
            f"server/a/b.py: index.tool {FROM_THE_PACKAGE}",
        ),
        (wrong_directions, "server/a.py", "from index import Tool, tool", f"server/a.py: index {FROM_THE_PACKAGE}"),
        (wrong_directions, "server/a.py", "import index", f"server/a.py: index {FROM_THE_PACKAGE}"),
        (
            wrong_directions,
            "server/a.py",
            "from . import errors",
            "server/a.py: . (write imports in full; never import tests)",
        ),
        (
            wrong_directions,
            "server/a.py",
            "import tests.conftest",
            "server/a.py: tests.conftest (write imports in full; never import tests)",
        ),
        (strayed_libraries, "index/a.py", "import whoosh.index", "index/a.py: whoosh.index"),
        (strayed_libraries, "server/a.py", "from mcp_types import Tool", "server/a.py: mcp_types"),
        (strayed_libraries, "server/config/a.py", "import rich", "server/config/a.py: rich"),
        (strayed_environment, "server/a.py", "import os\nos.environ.get('HOME')", "server/a.py: os.environ"),
        (strayed_environment, "upstream_clients/a.py", "from os import getenv", "upstream_clients/a.py: os.getenv"),
    ],
)
def test_a_rule_names_the_line_that_breaks_it(
    tmp_path: Path, rule: Callable[[Path], list[str]], path: str, source: str, complaint: str
) -> None:
    sound = {
        "index/__init__.py": "from index.tool import Tool\n\n__all__ = ['Tool']\n",
        "index/tool.py": "import re\n",
        "index/search.py": "import whoosh\n",
        "server/sdk.py": "import mcp\nfrom index import Tool\nfrom server.config.a import b\n",
        "server/config/b.py": "import os\nos.environ\n",
        path: source,
    }
    for name, text in sound.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert rule(tmp_path) == [complaint]


def test_an_unknown_top_level_entry_is_named_and_an_ignored_one_is_not(tmp_path: Path) -> None:
    for name in (*TOP_LEVEL - {"LICENSE"}, ".venv", "notes.txt", "toolfold.egg-info"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("/.venv/\n\n*.egg-info/\n", encoding="utf-8")
    assert misplaced_entries(tmp_path) == ["LICENSE", "notes.txt"]
