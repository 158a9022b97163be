"""What tests of mode code need: a Node, and the engine that `toolfold code install` (or `make test`) has brought."""

import os
from pathlib import Path
from typing import Final

from server.code.engine import engine_folder, is_installed
from server.code.node import Node, ask_node
from server.code.unavailable import Unavailable
from server.config import find_program

DATA: Final = Path(__file__).parents[2] / ".engine"
"""The data folder that has the engine."""


def why_no_engine() -> str:
    """Empty if it is there."""
    if is_installed(engine_folder(DATA)):
        return ""
    return "the engine is not installed: TOOLFOLD_DATA_DIR=.engine toolfold code install"


def usable_node() -> Node:
    """Raises Unavailable."""
    path = find_program("node", os.environ)
    if path is None:
        raise Unavailable("there is no Node on the PATH")
    return ask_node(path)


def why_no_code() -> str:
    """Empty if code can be run here, as far as can be said without a trial."""
    try:
        usable_node()
    except Unavailable as gone:
        return gone.why
    return why_no_engine()
