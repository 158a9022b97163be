"""The four real servers behind one toolfold, and a copy of each for a direct client. Started once for all tests here."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from server.config import ServerEntry, load
from tests.real.sample import GIT_ENVIRONMENT, Sample
from tests.support.raw_client import JsonObject, RawClient, wait_for_upstreams
from tests.support.upstreams import write_config

ROOT: Final = Path(__file__).parents[2]
REAL: Final = ROOT / ".real"
PACKAGES: Final = REAL / "node_modules" / "@modelcontextprotocol"
INSPECTOR: Final = PACKAGES / "inspector-cli" / "build" / "cli.js"
OLDER_PYTHON: Final = REAL / "older" / "bin" / "python"
"""Has version 1 of the Python SDK."""

TOOLFOLD: Final = Path(sys.executable).with_name("toolfold")

EVERYTHING_JS: Final = PACKAGES / "server-everything" / "dist" / "index.js"
KINDS: Final = {"http": ("streamableHttp", "mcp"), "sse": ("sse", "sse")}
"""The transports that server-everything has at an address: its name for each, and the path."""

TRUSTED: Final = frozenset({"filesystem", "time"})
"""Marked so in the configuration: their structured results are checked, and their output schemas shown."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a host is told to start toolfold. `env` is the whole environment of that process."""

    config: Path
    env: Mapping[str, str]

    @property
    def command(self) -> list[str]:
        return [str(TOOLFOLD), "serve", "--config", str(self.config)]


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.fail("These tests need Node.js 20 or newer on the PATH; then run `make test-real`.", pytrace=False)
    return found


@pytest.fixture(scope="session")
def installed() -> None:
    """Fails, and does not skip, when there is nothing to test against."""
    missing = [str(path) for path in (INSPECTOR, REAL / "venv", OLDER_PYTHON, TOOLFOLD) if not path.exists()]
    if missing:
        pytest.fail(
            f"Real servers are not installed: {', '.join(missing)} is missing. Run `make test-real`.", pytrace=False
        )


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return Sample.prepare(tmp_path_factory.mktemp("sample").resolve())


@pytest.fixture(scope="session")
def setup(installed: None, node: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """One configuration with all four, and folders for toolfold that no other run has used."""
    programs = REAL / "venv" / "bin"
    servers: dict[str, JsonObject] = {
        "everything": {"command": node, "args": [entry_file("server-everything")]},
        "filesystem": {"command": node, "args": [entry_file("server-filesystem"), str(sample.files)]},
        "git": {"command": str(programs / "mcp-server-git"), "env": GIT_ENVIRONMENT},
        "time": {"command": str(programs / "mcp-server-time"), "args": ["--local-timezone", "Etc/UTC"]},
    }
    for owner in TRUSTED:
        servers[owner]["trusted"] = True
    folder = tmp_path_factory.mktemp("toolfold")
    folders = {"TOOLFOLD_CACHE_DIR": str(folder / "cache"), "TOOLFOLD_STATE_DIR": str(folder / "state")}
    return Setup(write_config(folder, servers), {**os.environ, **folders})


@pytest.fixture(scope="session")
def folded(setup: Setup) -> Iterator[RawClient]:
    """toolfold with all four ready and searchable."""
    with RawClient(setup.command, setup.env) as client:
        client.greet()
        wait_for_upstreams(client)
        yield client


@pytest.fixture(scope="session")
def entries(setup: Setup) -> dict[str, ServerEntry]:
    """By owner: the command and the whole environment with which toolfold starts each of the four."""
    return {entry.owner: entry for entry in load([setup.config], setup.env, setup.config.parent).servers}


@pytest.fixture(scope="session")
def direct(entries: dict[str, ServerEntry]) -> Iterator[dict[str, RawClient]]:
    """By owner: a client of a copy of each upstream, which is started as toolfold starts its own, its mark included."""
    with ExitStack() as stack:
        clients = {
            owner: stack.enter_context(
                RawClient([entry.command, *entry.args], {**entry.env, "TOOLFOLD_CHILD_OF": "us"})
            )
            for owner, entry in entries.items()
        }
        for client in clients.values():
            client.greet()
        yield clients


@pytest.fixture(scope="session")
def listed(direct: dict[str, RawClient]) -> dict[str, JsonObject]:
    """By id: every tool's definition as a direct client gets it."""
    return {f"mcp:{owner}:{tool['name']}": tool for owner, client in direct.items() for tool in client.tools()}


@contextmanager
def listening(node: str, kind: str) -> Iterator[str]:
    """The address of a running server-everything."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    mode, path = KINDS[kind]
    with subprocess.Popen(
        [node, str(EVERYTHING_JS), mode],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _until_it_listens(port)
            yield f"http://127.0.0.1:{port}/{path}"
        finally:
            process.kill()


def _until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def entry_file(package: str) -> str:
    """What `npx` would run."""
    programs = json.loads((PACKAGES / package / "package.json").read_text(encoding="utf-8"))["bin"]
    (program,) = programs.values()
    return str(PACKAGES / package / program)
