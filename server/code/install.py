"""Brings the engine into the user's data folder, through npm. The only thing in toolfold that fetches anything.

npm downloads archives and runs nothing (`npm pack`, `--ignore-scripts`). We check each archive against the lock before it
is opened, take the few files out of it that the lock names, check those, and put them in place together.
"""

import shutil
import subprocess
import tarfile
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha512
from pathlib import Path
from typing import Final

from server.code.engine import LARGEST_FILE_BYTES, EngineFile, Package, lock
from server.code.unavailable import Unavailable
from server.private_files import make_private_folder

NPM_SECONDS: Final = 120.0
"""For one archive of a few hundred kilobytes; npm tries again by itself."""

LARGEST_ARCHIVE_BYTES: Final = 8 * 1024 * 1024

NO_NPM: Final = "Install Node.js with npm, and try again."
NO_REGISTRY: Final = "See whether npm reaches its registry: npm ping"


def install_engine(folder: Path, npm: Path | None, environ: Mapping[str, str]) -> None:
    """Puts the engine's files into the folder. Blocks for seconds.

    Raises:
        Unavailable: npm is missing or fails, or what it brought is not what was locked.
    """
    if npm is None:
        raise Unavailable("npm was not found", NO_NPM)
    try:
        make_private_folder(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".install-") as name:
            room = Path(name)
            for package in lock().packages:
                archive = _fetched(package, room, npm, environ)
                _take(archive, [file for file in lock().files if file.package == package.name], room / "engine")
            _put_in_place(room / "engine", folder)
    except OSError as error:
        raise Unavailable(f"the engine could not be put into {folder} ({error.strerror})") from None


def _fetched(package: Package, room: Path, npm: Path, environ: Mapping[str, str]) -> Path:
    target = room / package.name.replace("/", "-")
    target.mkdir()
    wanted = f"{package.name}@{package.version}"
    try:
        done = subprocess.run(
            [npm, "pack", wanted, "--pack-destination", target, "--ignore-scripts", "--silent"],
            env=dict(environ),
            cwd=room,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=NPM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not bring {wanted} within {NPM_SECONDS:.0f} s", NO_REGISTRY) from None
    archives = list(target.iterdir())
    if done.returncode != 0 or len(archives) != 1:
        raise Unavailable(f"npm did not bring {wanted} (it ended with {done.returncode})", NO_REGISTRY)
    if archives[0].stat().st_size > LARGEST_ARCHIVE_BYTES or _integrity(archives[0]) != package.integrity:
        raise Unavailable(f"what npm brought is not {wanted} as it was locked; nothing was installed", NO_REGISTRY)
    return archives[0]


def _integrity(archive: Path) -> str:
    return f"sha512-{b64encode(sha512(archive.read_bytes()).digest()).decode()}"


def _take(archive: Path, files: list[EngineFile], target: Path) -> None:
    """Single files by their names: what else is in the archive, or where it would like to be, does not matter."""
    target.mkdir(exist_ok=True)
    with tarfile.open(archive, "r:gz") as opened:
        for file in files:
            try:
                source = opened.extractfile(f"package/{file.path}")
            except KeyError:
                source = None
            content = source.read(LARGEST_FILE_BYTES) if source is not None else b""
            if sha512(content).hexdigest() != file.sha512:
                raise Unavailable(f"{file.path} of {file.package} is not the file that was locked", NO_REGISTRY)
            (target / file.name).write_bytes(content)


def _put_in_place(made: Path, folder: Path) -> None:
    """In one step, in place of what was there."""
    if folder.exists():
        shutil.rmtree(folder)
    made.rename(folder)
