"""The runtime that these tests need: a Node, and the engine that `toolfold code install` (or `make test`) has brought.

Where there is none, the tests that need it are skipped with the reason; all others run.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.code import Runtime
from server.code.engine import engine_folder, is_installed
from server.code.node import Node, ask_node
from server.code.unavailable import Unavailable
from server.config import find_program
from tests.support.outside import Outside, outside

DATA = Path(__file__).parents[2] / ".engine"


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder that has the engine."""
    if not is_installed(engine_folder(DATA)):
        pytest.skip("the engine is not installed: TOOLFOLD_DATA_DIR=.engine toolfold code install")
    return DATA


@pytest.fixture(scope="session")
def node() -> Node:
    path = find_program("node", os.environ)
    if path is None:
        pytest.skip("there is no Node on the PATH")
    try:
        return ask_node(path)
    except Unavailable as gone:
        pytest.skip(f"the Node that there is can't be used: {gone}")


@pytest.fixture(scope="session")
def runtime(node: Node, data: Path) -> Runtime:
    return Runtime(node, engine_folder(data))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Outside]:
    folder = tmp_path / "outside"
    folder.mkdir()
    with outside(folder) as world:
        yield world
