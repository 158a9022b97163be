"""One folder that paths cannot leave: turns what a caller wrote into a path inside the root, or refuses.

Laws:
1. A path that is handed out lies inside the root after every symbolic link on the way was followed.
2. `entry` never follows the last name: moving or deleting a link means the link, not what it points at.
3. No message names the root itself or anything outside it.

Must never read or write a file's content.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field

from server.demo.serving import Refused

# What a walk may visit before it gives up: a demo folder has a dozen entries, a home folder millions.
MAX_VISITED = 5_000

FolderPath = Annotated[
    str, Field(description="Folder, relative to the root folder; '.' is the root folder itself.", max_length=1_024)
]
FilePath = Annotated[
    str,
    Field(description="File, relative to the root folder, such as 'notes/plan.txt'.", min_length=1, max_length=1_024),
]


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Say what the operating system refused, about the path as the caller wrote it."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or 'not possible'}.") from error


class Sandbox:
    """The folder that a demo server was started for."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve(strict=True)
        if not self._root.is_dir():
            raise NotADirectoryError(f"{root} is not a folder")

    def target(self, path: str) -> Path:
        """The real file or folder that `path` leads to, which need not exist."""
        return self._inside(path, self._root / self._relative(path))

    def entry(self, path: str) -> Path:
        """The name itself inside its real parent folder, links not followed; the root is refused."""
        relative = self._relative(path)
        if relative.name in ("", ".", ".."):
            raise Refused(f"{path}: name a file or folder inside the root, not the root itself.")
        return self._inside(path, self._root / relative.parent) / relative.name

    def file(self, path: str) -> Path:
        found = self.target(path)
        if not found.exists():
            raise Refused(f"{path}: no such file. Use list_folder or find_files to see what is there.")
        if not found.is_file():
            raise Refused(f"{path}: not a regular file.")
        return found

    def folder(self, path: str) -> Path:
        found = self.target(path)
        if not found.is_dir():
            raise Refused(f"{path}: no such folder. Use list_folder on '.' to see what is there.")
        return found

    def shown(self, path: Path) -> str:
        """How callers write a path that lies inside the root."""
        return path.relative_to(self._root).as_posix()

    def files_below(self, folder: Path) -> Iterator[Path]:
        """Regular files in name order, without following links."""
        waiting, visited = [folder], 0
        while waiting:
            found = waiting.pop()
            visited += 1
            if visited > MAX_VISITED:
                raise Refused(f"{self.shown(folder)}: more than {MAX_VISITED:,} entries; name a folder further down.")
            if found.is_symlink():
                continue
            if found.is_file():
                yield found
            elif found.is_dir():
                waiting.extend(sorted(found.iterdir(), reverse=True))

    def _relative(self, path: str) -> PurePosixPath:
        relative = PurePosixPath(path)
        if relative.is_absolute() or Path(path).is_absolute() or "\\" in path or "\0" in path:
            raise Refused(f"{path!r}: write paths relative to the root folder, with '/' between names.")
        return relative

    def _inside(self, path: str, joined: Path) -> Path:
        try:
            real = joined.resolve()
            # Since Python 3.13 a circle of links is not an error but left in the path, followed or not.
            complete = not real.is_symlink() and real.resolve() == real
        except (OSError, RuntimeError):  # a circle of links, or a name that is too long
            complete = False
        if not complete:
            raise Refused(f"{path}: cannot be followed.")
        if not real.is_relative_to(self._root):
            raise Refused(f"{path}: outside the root folder. Only what lies inside it can be used.")
        return real
