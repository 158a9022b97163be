"""Each demo server as a host meets it: a process of its own, one for all tests of a module."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from server.demo import sample


def started(cwd: Path, module: str, *arguments: Path) -> Client:
    command = ["-P", "-m", f"server.demo.{module}", *map(str, arguments)]
    return Client(StdioServerParameters(command=sys.executable, args=command, cwd=cwd), mode="legacy")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample folder, with a secret beside it and links that lead out of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("secret", encoding="utf-8")
    folder = outside / "root"
    folder.mkdir()
    sample.prepare(folder)
    (folder / "way-out").symlink_to(outside, target_is_directory=True)
    (folder / "secret-link.txt").symlink_to(outside / "secret.txt")
    (folder / "monday-link.txt").symlink_to("notes/monday.txt")
    (folder / "circle").symlink_to("circle")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture(scope="module")
async def files(root: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with started(tmp_path_factory.mktemp("elsewhere"), "files", root) as client:
        yield client


@pytest.fixture(scope="module")
async def data(root: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with started(tmp_path_factory.mktemp("elsewhere"), "data", root / sample.DATABASE) as client:
        yield client


@pytest.fixture(scope="module")
async def everyday(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with started(tmp_path_factory.mktemp("elsewhere"), "everyday") as client:
        yield client
