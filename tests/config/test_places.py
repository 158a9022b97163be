import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import Directories, directories, find_config, find_program, read_environment

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG folders without a library")


def test_the_environment_is_read_as_it_is() -> None:
    environ = read_environment()
    assert environ == dict(os.environ)
    environ["TOOLFOLD_TEST"] = "1"
    assert "TOOLFOLD_TEST" not in os.environ


def test_files_are_looked_for_in_order(write: Callable[..., Path], tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    here = tmp_path / "here"
    here.mkdir()
    assert find_config(environ, here) is None
    ordered = [write("{}", name) for name in ("config/toolfold/mcp.json", "here/.mcp.json", "here/mcp.json")]
    for path in ordered:
        path.rename(f"{path}.off")
    for path in ordered:
        Path(f"{path}.off").rename(path)
        assert find_config(environ, here) == path


def test_the_file_that_the_environment_names_comes_first_even_if_it_is_missing(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    write("{}")
    assert find_config({"TOOLFOLD_CONFIG": "other.json"}, tmp_path) == tmp_path / "other.json"
    assert find_config({"TOOLFOLD_CONFIG": "/etc/other.json"}, tmp_path) == Path("/etc/other.json")
    assert find_config({"TOOLFOLD_CONFIG": "~/x.json", "HOME": "/home/ann"}, tmp_path) == Path("/home/ann/x.json")
    assert find_config({"TOOLFOLD_CONFIG": "", "HOME": str(tmp_path)}, tmp_path) == tmp_path / "mcp.json"


def test_a_folder_of_that_name_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").mkdir()
    assert find_config({"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}, tmp_path) is None


@linux_only
@pytest.mark.parametrize(
    ("environ", "cache", "state", "data"),
    [
        ({}, "/h/.cache/toolfold", "/h/.local/state/toolfold", "/h/.local/share/toolfold"),
        (
            {"XDG_CACHE_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"},
            *("/c/toolfold", "/s/toolfold", "/d/toolfold"),
        ),
        ({"XDG_CACHE_HOME": "x"}, "/h/.cache/toolfold", "/h/.local/state/toolfold", "/h/.local/share/toolfold"),
        (
            {"TOOLFOLD_CACHE_DIR": "/x", "TOOLFOLD_STATE_DIR": "/y", "TOOLFOLD_DATA_DIR": "/z"},
            *("/x", "/y", "/z"),
        ),
    ],
)
def test_folders_follow_the_environment(environ: dict[str, str], cache: str, state: str, data: str) -> None:
    assert directories({"HOME": "/h", **environ}) == Directories(Path(cache), Path(state), Path(data))


def test_a_program_is_the_one_that_is_named_else_the_first_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "node").touch(0o755)
    assert find_program("node", {"PATH": str(tmp_path)}) == tmp_path / "node"
    assert find_program("node", {"PATH": str(tmp_path), "TOOLFOLD_NODE": "/opt/node"}) == Path("/opt/node")
    assert find_program("node", {"PATH": ""}) is None


def test_without_a_home_the_platform_is_asked() -> None:
    found = directories({})
    assert found.cache.is_absolute()
    assert found.state.is_absolute()
