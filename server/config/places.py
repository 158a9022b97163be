"""Where things are: the environment, the configuration file, our folders, and programs that are looked for by name.

The only module that touches `os.environ`; everything else is handed what it needs of it.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from server.config.variables import from_home, user_home

_APP = "toolfold"
_FILE_NAMES = ("mcp.json", ".mcp.json")

# Below the home folder, beside the names that start with a dot.
_SETTINGS_OF_A_PERSON = frozenset(("Library", "AppData"))
_DOWNLOADED = frozenset((".cache", ".local", ".npm", ".Trash"))

Kind: TypeAlias = Literal["config", "cache", "state", "data"]

# The XDG base directory specification's defaults. Linux needs no library for them, and the start does not wait for one.
_XDG: Mapping[Kind, tuple[str, str]] = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "data": ("XDG_DATA_HOME", ".local/share"),
}


@dataclass(frozen=True, slots=True)
class Directories:
    """Folders of ours; nobody has created them yet."""

    cache: Path
    state: Path
    data: Path


def read_environment() -> dict[str, str]:
    return dict(os.environ)


def find_config(environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The file to read when none is named. One that `TOOLFOLD_CONFIG` names is returned whether it exists or not."""
    named = environ.get("TOOLFOLD_CONFIG")
    if named:
        return cwd / from_home(named, environ)
    candidates = [*(cwd / name for name in _FILE_NAMES), _folder("config", environ) / "mcp.json"]
    return next((path for path in candidates if path.is_file()), None)


def directories(environ: Mapping[str, str]) -> Directories:
    return Directories(
        cache=Path(environ.get("TOOLFOLD_CACHE_DIR") or _folder("cache", environ)).absolute(),
        state=Path(environ.get("TOOLFOLD_STATE_DIR") or _folder("state", environ)).absolute(),
        data=Path(environ.get("TOOLFOLD_DATA_DIR") or _folder("data", environ)).absolute(),
    )


def find_program(name: str, environ: Mapping[str, str]) -> Path | None:
    """A program by its name: the one that `TOOLFOLD_<NAME>` names, else the first on the PATH."""
    named = environ.get(f"TOOLFOLD_{name.upper()}")
    if named:
        return Path(from_home(named, environ)).absolute()
    found = shutil.which(name, path=environ.get("PATH", ""))
    return None if found is None else Path(found).absolute()


def is_users_own(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether a file lies where a person keeps settings of their own, and not in a project that came from elsewhere."""
    straight = Path(os.path.normpath(path))
    configured = (environ.get("XDG_CONFIG_HOME", ""), environ.get("APPDATA", ""))
    if any(os.path.isabs(base) and straight.is_relative_to(base) for base in configured):
        return True
    home = user_home(environ)
    if not os.path.isabs(home) or not straight.is_relative_to(home):
        return False
    first, *_ = (*straight.relative_to(home).parts, "")
    return first in _SETTINGS_OF_A_PERSON or (first.startswith(".") and first not in _DOWNLOADED)


def _folder(kind: Kind, environ: Mapping[str, str]) -> Path:
    variable, below_home = _XDG[kind]
    base = environ.get(variable, "")
    if os.path.isabs(base):  # the specification has relative ones ignored
        return Path(base) / _APP
    home = user_home(environ)
    if home and sys.platform.startswith("linux"):
        return Path(home) / below_home / _APP
    return _platform_folder(kind)


def _platform_folder(kind: Kind) -> Path:
    import platformdirs

    known = {
        "config": platformdirs.user_config_path,
        "cache": platformdirs.user_cache_path,
        "state": platformdirs.user_state_path,
        "data": platformdirs.user_data_path,
    }
    return known[kind](_APP, appauthor=False)
