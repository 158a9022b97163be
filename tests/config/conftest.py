"""Real files with real permissions, and the settings that they amount to."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import Settings, load


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes `content` (text as it is, all else as JSON) into a private file of the temporary folder."""

    def write(content: object, name: str = "mcp.json", mode: int = 0o600) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        path.chmod(mode)
        return path

    return write


@pytest.fixture
def settings_of(write: Callable[..., Path], tmp_path: Path) -> Callable[..., Settings]:
    """The settings of one file, read in the environment that the keywords are."""

    def settings_of(content: object, **environ: str) -> Settings:
        return load([write(content)], environ, tmp_path)

    return settings_of
