"""Real hosts from npm and PyPI, each with an empty home, and one toolfold that they start or connect to.

Whoever of them asks for anything beyond this machine gets no answer: proxies lead nowhere, and telemetry and updates
are switched off as each host's documentation says.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import pytest

from tests.support.hosts import environment
from tests.support.http_gateways import SERVING
from tests.support.upstreams import Script, entry, write_config

ROOT: Final = Path(__file__).parents[2]
HOSTS: Final = ROOT / ".hosts"
PROGRAMS: Final = HOSTS / "node_modules" / ".bin"
PYTHON: Final = HOSTS / "venv" / "bin" / "python"
SERVE: Final = (sys.executable, "-P", "-m", "server.cli", "serve")

TOKEN: Final = "a-token-for-the-tests-of-hosts"
NAMES: Final = ["tool_call", "tool_describe", "tool_search"]
RUN_SECONDS: Final = 120.0
"""For one run of a host; they take about two seconds."""

START_SECONDS: Final = 60.0

NOWHERE: Final = "http://127.0.0.1:9"
QUIET: Final[Mapping[str, str]] = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "MCP_INSPECTOR_SECRET_STORE": "memory",
}
"""Away from everything but this machine: what each host's documentation names."""

PASSED_ON: Final = ("LANG", "TMPDIR")

Road: TypeAlias = Literal["stdio", "http"]
ROADS: Final[tuple[Road, ...]] = ("stdio", "http")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a host is told of toolfold. `env` are the variables that toolfold needs when a host starts it."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    url: str
    home: Path

    @property
    def authorization(self) -> str:
        return f"Bearer {TOKEN}"

    def run(self, *command: str | Path) -> str:
        """What a host prints, in its own home."""
        done = subprocess.run(
            command, cwd=self.home, env=host_environment(self.home), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def host_environment(home: Path) -> dict[str, str]:
    """Nothing of the user's own but where programs are, and before them the Node that was installed with the hosts."""
    path = os.pathsep.join((str(PROGRAMS), os.environ.get("PATH", os.defpath)))
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    return {**kept, "PATH": path, **places, **QUIET}


@contextmanager
def serving(config: Path, **variables: str) -> Iterator[str]:
    """The address of a gateway over this configuration."""
    log = config.with_suffix(".log")
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [*SERVE, "--config", str(config), "--http", "127.0.0.1:0"],
            env=environment(config.parent, variables), stdin=subprocess.DEVNULL, stderr=errors,
        ) as gateway,
    ):  # fmt: skip
        try:
            yield _address(gateway, log)
        finally:
            gateway.terminate()  # drains
            gateway.terminate()  # ends at once


def _address(gateway: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and gateway.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
            if SERVING in line and line.endswith("\n"):
                return line.partition(SERVING)[2].strip()
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def installed() -> None:
    """Fails, and does not skip, when there is no host to try."""
    missing = [str(path) for path in (PROGRAMS / "claude", PROGRAMS / "mcporter", PYTHON) if not path.exists()]
    if missing:
        pytest.fail(f"Not installed: {', '.join(missing)}. Run `make hosts`.", pytrace=False)


@pytest.fixture(scope="session")
def setup(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    """A garden behind toolfold, at an address and to be started."""
    folder, home = tmp_path_factory.mktemp("toolfold"), tmp_path_factory.mktemp("home")
    water = {"do": "structured", "structured": {"litres": 3}}
    does: dict[str, Script] = {
        "water_plants": water,
        "echo": {"do": "echo"},
        "harvest": {"do": "error", "text": "nothing is ripe"},
    }
    config = write_config(folder, {"garden": entry(does=does)})
    needed = environment(folder)
    env = {name: needed[name] for name in ("PYTHONPATH", "TOOLFOLD_CACHE_DIR", "TOOLFOLD_STATE_DIR")}
    with serving(config, TOOLFOLD_TOKEN=TOKEN) as url:
        yield Setup((*SERVE, "--config", str(config)), env, url, home)


@pytest.fixture(params=ROADS)
def road(request: pytest.FixtureRequest) -> Road:
    road: Road = request.param
    return road
