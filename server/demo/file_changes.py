"""The tools of the `files` server that change something.

Every path comes from the `Sandbox`; must never replace or remove anything that the caller did not name for it.
"""

import os
import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.file_reading import MAX_FILE_BYTES, Reading, size_of
from server.demo.sandbox import FilePath, FolderPath, Sandbox, file_errors
from server.demo.serving import Refused

# A character takes up to four bytes, and what was written here must stay readable here.
MAX_TEXT_CHARS = MAX_FILE_BYTES // 4

Content = Annotated[str, Field(description="Text, stored as UTF-8 exactly as given.", max_length=MAX_TEXT_CHARS)]
NewPath = Annotated[
    str,
    Field(
        description="New place, relative to the root folder. Nothing may be there yet.", min_length=1, max_length=1_024
    ),
]

What = Literal["created", "replaced", "extended", "edited", "moved", "copied", "deleted", "none"]


class Change(BaseModel, frozen=True):
    path: str
    change: What
    size_bytes: int


class Changes:
    """What can be done to the files of one sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._reading = Reading(sandbox)

    def write_file(
        self,
        path: FilePath,
        content: Content,
        overwrite: Annotated[bool, Field(description="Replace the file if there is one already.")] = False,
    ) -> Change:
        """Write a text file, and make the folders above it where they are missing."""
        target = self._sandbox.target(path)
        existed = target.exists()
        if existed and not overwrite:
            raise Refused(f"{path} exists already. Set overwrite=true to replace it, or choose another name.")
        if existed and not target.is_file():
            raise Refused(f"{path}: not a regular file.")
        with file_errors(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, content, "w" if overwrite else "x")
            return self._change(target, "replaced" if existed else "created")

    def append_to_file(self, path: FilePath, content: Content) -> Change:
        """Add text at the end of an existing text file."""
        target = self._sandbox.file(path)
        with file_errors(path):
            if target.stat().st_size + len(content.encode()) > MAX_FILE_BYTES:
                raise Refused(f"{path} would grow over {MAX_FILE_BYTES:,} bytes. Write a new file.")
            _write(target, content, "a")
            return self._change(target, "extended")

    def edit_file(
        self,
        path: FilePath,
        old_text: Annotated[
            str, Field(description="Passage to replace, exactly as it stands.", min_length=1, max_length=MAX_TEXT_CHARS)
        ],
        new_text: Annotated[str, Field(description="What to put in its place.", max_length=MAX_TEXT_CHARS)],
        every: Annotated[bool, Field(description="Replace every occurrence; else there must be just one.")] = False,
    ) -> Change:
        """Replace a passage of a text file. Refuses when the passage is missing, or is there twice without `every`."""
        text = self._reading.text(path)
        count = text.count(old_text)
        if count == 0:
            raise Refused(f"{path} does not contain that passage. Read the file and copy it exactly.")
        if count > 1 and not every:
            raise Refused(f"{path} contains that passage {count} times. Give a longer one, or set every=true.")
        # Counted before it is built: a short passage with many occurrences could otherwise fill the memory.
        if len(text.encode()) + count * (len(new_text.encode()) - len(old_text.encode())) > MAX_FILE_BYTES:
            raise Refused(f"{path} would grow over {MAX_FILE_BYTES:,} bytes.")
        target = self._sandbox.file(path)
        with file_errors(path):
            _write(target, text.replace(old_text, new_text), "w")
            return self._change(target, "edited")

    def move_file(self, path: FilePath, destination: NewPath) -> Change:
        """Move or rename a file, folder or link. Never replaces anything."""
        source, target = self._present(path), self._free(destination)
        if target.is_relative_to(source):
            raise Refused(f"{destination}: a folder cannot be moved into itself.")
        with file_errors(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            return self._change(target, "moved")

    def copy_file(self, path: FilePath, destination: NewPath) -> Change:
        """Copy one file of at most 1 MiB. Never replaces anything."""
        source, target = self._sandbox.file(path), self._free(destination)
        with file_errors(path):
            if source.stat().st_size > MAX_FILE_BYTES:
                raise Refused(f"{path} is larger than {MAX_FILE_BYTES:,} bytes.")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            return self._change(target, "copied")

    def delete_file(self, path: FilePath) -> Change:
        """Delete one file or link for good. What a link points at stays."""
        target = self._present(path)
        if target.is_dir() and not target.is_symlink():
            raise Refused(f"{path} is a folder; use delete_folder.")
        with file_errors(path):
            change = self._change(target, "deleted")
            target.unlink()
        return change

    def make_folder(self, path: FolderPath) -> Change:
        """Make a folder, and those above it. A folder that exists already is left as it is."""
        target = self._sandbox.target(path)
        existed = target.is_dir()
        with file_errors(path):
            target.mkdir(parents=True, exist_ok=True)
            return self._change(target, "none" if existed else "created")

    def delete_folder(self, path: FolderPath) -> Change:
        """Delete an empty folder."""
        target = self._present(path)
        if target.is_symlink() or not target.is_dir():
            raise Refused(f"{path} is not a folder; use delete_file.")
        with file_errors(path):
            change = self._change(target, "deleted")
            target.rmdir()
        return change

    def _present(self, path: str) -> Path:
        found = self._sandbox.entry(path)
        if not os.path.lexists(found):
            raise Refused(f"{path}: no such file or folder. Use list_folder or find_files to see what is there.")
        return found

    def _free(self, path: str) -> Path:
        target = self._sandbox.entry(path)
        if os.path.lexists(target):
            raise Refused(f"{path}: something is there already. Choose another name, or delete it first.")
        return target

    def _change(self, target: Path, change: What) -> Change:
        return Change(path=self._sandbox.shown(target), change=change, size_bytes=size_of(target))


def _write(target: Path, content: str, mode: Literal["w", "x", "a"]) -> None:
    with target.open(mode, encoding="utf-8", newline="") as file:
        file.write(content)
