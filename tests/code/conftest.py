"""The runtime that these tests need: a Node, and the engine that `toolfold code install` (or `make test`) has brought.

Where there is none, the tests that need it are skipped with the reason; all others run.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.code import Runtime
from server.code.engine import engine_folder
from server.code.node import Node
from server.code.unavailable import Unavailable
from tests.support.engine import DATA, usable_node, why_no_engine
from tests.support.outside import Outside, outside


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder that has the engine."""
    if why := why_no_engine():
        pytest.skip(why)
    return DATA


@pytest.fixture(scope="session")
def node() -> Node:
    try:
        return usable_node()
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
