"""What a user installs: the wheel, in an environment of its own, started from a folder that is in its way.

The environment is made without a network and within seconds: a new virtual environment that gets the wheel, and links
to the packages of the runtime lock as they lie in the environment of this test run. The command and the three packages
come from the wheel alone, and a library that only development needs cannot be imported.
"""

import importlib.metadata
import os
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from server.version import __version__

PROJECT = Path(__file__).parents[1]
SECONDS = 120


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pins() -> dict[str, Requirement]:
    """The runtime lock's packages for this platform and Python, by name."""
    lines = (PROJECT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]
    return {pin.name: pin for pin in locked if pin.marker is None or pin.marker.evaluate()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, PROJECT, cwd=folder)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a fresh environment in which the wheel is installed."""
    home, libraries = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("libraries")
    venv.create(home, with_pip=False, symlinks=True)
    for name in pins():
        distribution = importlib.metadata.distribution(name)
        for entry in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            (libraries / entry).symlink_to(Path(str(distribution.locate_file(entry))))
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    uv = (sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-config", "--no-deps", "--quiet")
    run(*uv, "--python", home / "bin/python", wheel, cwd=home)
    return home / "bin"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with packages of the same names as ours, as a host's working folder may have them."""
    for name in ("server", "index", "upstream_clients"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n", encoding="utf-8")
    return tmp_path


def test_the_wheel_holds_the_three_packages_and_the_licences_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    own = f"toolfold-{__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"server", "upstream_clients", "index", own}
    assert {f"{own}/licenses/LICENSE", f"{own}/licenses/NOTICE"} <= set(names)
    sources = {
        f.relative_to(PROJECT).as_posix()
        for room in ("server", "upstream_clients", "index")
        for f in (PROJECT / room).rglob("*.py")
    }
    assert {name for name in names if name.endswith(".py")} == sources
    beside = {"config/mcp.schema.json", "code/child.js", "code/guest.js", "code/engine.lock.json"}
    assert {f"server/{file}" for file in beside} <= set(names)


def test_the_lock_pins_everything_that_the_wheel_asks_for_and_is_what_this_run_uses(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_bytes(archive.read(f"toolfold-{__version__}.dist-info/METADATA"))
    locked = pins()
    wishes = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    for wish in (wish for wish in wishes if wish.marker is None or wish.marker.evaluate()):
        (pin,) = locked[wish.name].specifier
        assert wish.specifier.contains(pin.version), wish
    installed = {name: f"=={importlib.metadata.version(name)}" for name in locked}
    assert installed == {name: str(pin.specifier) for name, pin in locked.items()}


def test_the_command_runs_from_a_folder_that_has_packages_of_our_names(commands: Path, hostile: Path) -> None:
    assert run(commands / "toolfold", "--version", cwd=hostile).split()[-1] == __version__


def test_a_demo_server_starts_from_a_folder_that_has_packages_of_our_names(commands: Path, hostile: Path) -> None:
    assert "MCP server over stdio" in run(
        commands / "python", "-P", "-m", "server.demo.everyday", "--help", cwd=hostile
    )


def test_what_only_development_needs_is_not_there(commands: Path, hostile: Path) -> None:
    probe = (
        "import importlib.util as u; print([n for n in ('pytest', 'hypothesis', 'mypy', 'build') if u.find_spec(n)])"
    )
    assert run(commands / "python", "-I", "-c", probe, cwd=hostile) == "[]\n"


def test_the_schema_of_the_configuration_comes_with_the_wheel(commands: Path, hostile: Path) -> None:
    shipped = (PROJECT / "server/config/mcp.schema.json").read_text(encoding="utf-8")
    assert run(commands / "toolfold", "config", "schema", cwd=hostile) == shipped
