"""The guest engine: which files it is made of, and whether those that are here are they.

`engine.lock.json` names the packages with their version and integrity, and each file of theirs that is used with its
hash. No file of it comes with toolfold.

Law: the bytes that were hashed are the bytes that are handed out. Nobody opens these files a second time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256, sha512
from pathlib import Path
from typing import Final

from server.code.unavailable import Unavailable
from server.private_files import read_file

LOCK_FILE: Final = Path(__file__).with_name("engine.lock.json")

LARGEST_FILE_BYTES: Final = 4 * 1024 * 1024
"""Eight times the largest that there is."""

INSTALL: Final = "Run: toolfold code install"

LOADED: Final = ("types.js", "core.js", "ffi.js", "loader.cjs", "engine.wasm")
"""In the order in which the child takes them. The others are licences."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of npm, and the integrity of its archive as npm writes it."""

    name: str
    version: str
    integrity: str


@dataclass(frozen=True, slots=True)
class EngineFile:
    """A file as it is named here, where it is in which package, and its hash."""

    name: str
    package: str
    path: str
    sha512: str


@dataclass(frozen=True, slots=True)
class Lock:
    packages: tuple[Package, ...]
    files: tuple[EngineFile, ...]
    digest: str


@cache
def lock() -> Lock:
    """What the engine is made of."""
    text = LOCK_FILE.read_bytes()
    written = json.loads(text)
    packages = tuple(Package(one["name"], one["version"], one["integrity"]) for one in written["packages"])
    return Lock(packages, tuple(EngineFile(**one) for one in written["files"]), sha256(text).hexdigest())


def engine_folder(data: Path) -> Path:
    """Where this engine is, or would be: another engine is another folder."""
    return data / "code-engine" / lock().digest[:16]


def is_installed(folder: Path) -> bool:
    """Whether all files are there; whether they are the right ones is seen when they are read."""
    return all((folder / name).is_file() for name in LOADED)


def read_engine(folder: Path) -> tuple[bytes, ...]:
    """The engine's parts in order, each of them hashed.

    Raises:
        Unavailable: a file is missing, or another one than was locked.
    """
    expected: Mapping[str, str] = {file.name: file.sha512 for file in lock().files}
    parts = []
    for name in LOADED:
        try:
            content = read_file(folder / name, LARGEST_FILE_BYTES)
        except OSError as error:
            raise Unavailable(f"the engine's file {name} can't be read ({error.strerror})", INSTALL) from None
        if content is None:
            raise Unavailable("the engine is not installed", INSTALL)
        if sha512(content).hexdigest() != expected[name]:
            raise Unavailable(f"the engine's file {name} is not the one that was installed", INSTALL)
        parts.append(content)
    return tuple(parts)
