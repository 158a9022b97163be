"""The table of threats is whole, and every test that it names is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"\| (\d+) \|.*\|")
NAMED = re.compile(r"`(tests/\S+\.py)::(\w+)`")


def rows() -> dict[int, list[tuple[str, str]]]:
    """The tests that each row names, by its number."""
    section = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n## Threats\n")[1].split("\n## ")[0]
    found = [(ROW.fullmatch(line), NAMED.findall(line)) for line in section.splitlines()]
    return {int(match[1]): named for match, named in found if match}


def functions_in(path: str) -> set[str]:
    if not (ROOT / path).exists():
        return set()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_every_threat_has_a_row_and_a_test_that_exists() -> None:
    table = rows()
    assert list(table) == list(range(1, 31))
    assert [number for number, named in table.items() if not named] == []
    assert [(path, name) for named in table.values() for path, name in named if name not in functions_in(path)] == []


def test_what_is_tried_here_stands_in_the_table() -> None:
    named = {pair for pairs in rows().values() for pair in pairs}
    own = [path for path in (ROOT / "tests" / "threats").glob("test_*.py") if path != Path(__file__)]
    here = {(f"tests/threats/{path.name}", name) for path in own for name in functions_in(f"tests/threats/{path.name}")}
    assert {(path, name) for path, name in here if name.startswith("test_")} - named == set()
