"""The folder and the repository that the real servers work on, and how to bring both back to what they were.

Everything in them is fixed, times and commits too, so that two servers give the same answer about the same state.
"""

import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

MODIFIED: Final = 1_700_000_000

GIT_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""A commit's hash is then a function of what is committed, and nobody's own settings matter."""

ONE_PIXEL: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

FILES: Final[Mapping[str, bytes]] = {
    "notes/monday.txt": "Gießkanne füllen\nwater the ferns\nsweep the porch\n".encode(),
    "notes/tuesday.txt": b"repot the cactus\n",
    "notes/deep/er/leaf.md": b"# Leaf\n\nGreen.\n",
    "pixel.png": ONE_PIXEL,
    "numbers.csv": b"pot,litres\n1,2.5\n2,0.75\n",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """`files` is a folder for the file server, `repository` a work tree with staged, unstaged and untracked changes."""

    files: Path
    repository: Path
    template: Path

    @classmethod
    def prepare(cls, folder: Path) -> Self:
        """Makes both in `folder`, which must be empty."""
        sample = cls(folder / "files", folder / "repository", folder / "template")
        for path in (sample.files, sample.repository, sample.template):
            path.mkdir()
        _make_repository(sample.template)
        sample.restore()
        return sample

    def restore(self) -> None:
        """Undoes whatever the servers did. The two folders themselves stay: servers hold on to them."""
        for folder in (self.files, self.repository):
            _empty(folder)
        shutil.copytree(self.template, self.repository, dirs_exist_ok=True, symlinks=True)
        for name, content in FILES.items():
            path = self.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in sorted(self.files.rglob("*"), reverse=True):
            os.utime(path, (MODIFIED, MODIFIED))


def _make_repository(folder: Path) -> None:
    def git(*arguments: str) -> None:
        env = {**os.environ, **GIT_ENVIRONMENT}
        subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True)

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    git("init", "--initial-branch=main")
    git("config", "user.name", "Fern")
    git("config", "user.email", "fern@example.invalid")
    write("plants.txt", "fern\ncactus\n")
    write("tools.txt", "spade\n")
    git("add", ".")
    git("commit", "--message=First planting")
    git("branch", "greenhouse")
    write("plants.txt", "fern\ncactus\ncolour: grün\n")
    git("commit", "--all", "--message=Colour the plants")
    write("tools.txt", "spade\nrake\n")
    git("add", "tools.txt")
    write("tools.txt", "spade\nrake\nhose\n")
    write("seeds.txt", "not yet tracked\n")


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
