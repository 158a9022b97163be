"""The tools of the `files` server that look and never change anything.

Every path comes from the `Sandbox`; must never open a file that it did not hand out.
"""

import fnmatch
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.sandbox import FilePath, FolderPath, Sandbox, file_errors
from server.demo.serving import Refused

# Larger files are not what a model should take in whole, and searching them would take seconds.
MAX_FILE_BYTES = 1024 * 1024
MAX_ENTRIES = 500
MAX_LINES = 2_000
# A match is shown to say where it is; the line itself can be read.
MAX_LINE_SHOWN = 300

Kind = Literal["file", "folder", "link", "other"]
NamePattern = Annotated[
    str, Field(description="Pattern for the file's name with * ? and [..], such as '*.txt'.", max_length=200)
]
Limit = Annotated[int, Field(description="How many to show at most.", ge=1, le=MAX_ENTRIES)]
More = Annotated[bool, Field(description="Whether there is more than the limit let through.")]


class Entry(BaseModel, frozen=True):
    name: str
    kind: Kind
    size_bytes: int


class FolderListing(BaseModel, frozen=True):
    path: str
    entries: list[Entry]
    left_out: Annotated[int, Field(description="How many more entries there are than are listed.")]


class Match(BaseModel, frozen=True):
    path: str
    line: int
    text: str


class SearchResult(BaseModel, frozen=True):
    matches: list[Match]
    more: More


class FileList(BaseModel, frozen=True):
    files: list[str]
    more: More


class FileFacts(BaseModel, frozen=True):
    path: str
    kind: Kind
    size_bytes: int
    modified: Annotated[str, Field(description="When it was changed last, UTC, ISO 8601.")]
    lines: Annotated[int | None, Field(description="Lines of text; null for folders, binary and very large files.")]
    sha256: Annotated[str | None, Field(description="Digest of the content; null for folders and very large files.")]


class Reading:
    """What can be asked about the files of one sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def list_folder(self, path: FolderPath = ".") -> FolderListing:
        """List what is directly inside a folder: names, kinds and sizes, folders first."""
        with file_errors(path):
            entries = [_entry(found) for found in self._sandbox.folder(path).iterdir()]
        entries.sort(key=lambda entry: (entry.kind != "folder", entry.name))
        return FolderListing(path=path, entries=entries[:MAX_ENTRIES], left_out=max(0, len(entries) - MAX_ENTRIES))

    def read_file(
        self,
        path: FilePath,
        first_line: Annotated[int, Field(description="Where to start; lines are counted from 1.", ge=1)] = 1,
        max_lines: Annotated[int, Field(description="How many lines to read at most.", ge=1, le=MAX_LINES)] = MAX_LINES,
    ) -> str:
        """Read a text file, whole or a range of its lines."""
        lines = self.text(path).splitlines(keepends=True)
        if first_line > max(1, len(lines)):
            raise Refused(f"{path} has {len(lines)} lines; there is no line {first_line}.")
        return "".join(lines[first_line - 1 : first_line - 1 + max_lines])

    def find_files(self, pattern: NamePattern, path: FolderPath = ".", limit: Limit = 100) -> FileList:
        """Find files by a name pattern, in a folder and everything below it."""
        with file_errors(path):
            found = [self._sandbox.shown(file) for file in islice(self._matching(path, pattern), limit + 1)]
        return FileList(files=found[:limit], more=len(found) > limit)

    def search_text(
        self,
        text: Annotated[str, Field(description="Text to look for, word for word.", min_length=1, max_length=1_000)],
        path: FolderPath = ".",
        pattern: NamePattern = "*",
        match_case: Annotated[bool, Field(description="Tell capitals from small letters.")] = False,
        limit: Limit = 50,
    ) -> SearchResult:
        """Search inside the text files of a folder and everything below it.

        Answers with the file, the number and the text of each line that contains it.
        """
        fold = str if match_case else str.casefold
        wanted = fold(text)
        with file_errors(path):
            hits = (match for match in self._lines(path, pattern) if wanted in fold(match.text))
            matches = list(islice(hits, limit + 1))
        shown = [match.model_copy(update={"text": match.text[:MAX_LINE_SHOWN]}) for match in matches[:limit]]
        return SearchResult(matches=shown, more=len(matches) > limit)

    def file_info(self, path: FilePath) -> FileFacts:
        """Tell the size, time of change, number of lines and SHA-256 digest of a file, or what is known of a folder."""
        target = self._sandbox.target(path)
        with file_errors(path):
            facts = target.stat()
            small = target.is_file() and facts.st_size <= MAX_FILE_BYTES
            content = target.read_bytes() if small else None
        return FileFacts(
            path=self._sandbox.shown(target),
            kind=_kind(target),
            size_bytes=size_of(target),
            modified=datetime.fromtimestamp(facts.st_mtime, UTC).isoformat(timespec="seconds"),
            lines=None if content is None or b"\0" in content else len(content.splitlines()),
            sha256=None if content is None else hashlib.sha256(content).hexdigest(),
        )

    def text(self, path: str) -> str:
        """The content of one text file, or a refusal that says why not."""
        with file_errors(path):
            text = _text_of(self._sandbox.file(path))
        if text is None:
            raise Refused(f"{path} is not UTF-8 text of at most {MAX_FILE_BYTES:,} bytes. Try file_info.")
        return text

    def _matching(self, path: str, pattern: str) -> Iterator[Path]:
        files = self._sandbox.files_below(self._sandbox.folder(path))
        return (file for file in files if fnmatch.fnmatchcase(file.name, pattern))

    def _lines(self, path: str, pattern: str) -> Iterator[Match]:
        for file in self._matching(path, pattern):
            for number, line in enumerate((_text_of(file) or "").splitlines(), start=1):
                yield Match(path=self._sandbox.shown(file), line=number, text=line)


def size_of(path: Path) -> int:
    """Bytes of a file or link; 0 for a folder, whose own size means nothing to a caller."""
    return 0 if path.is_dir() and not path.is_symlink() else path.lstat().st_size


def _entry(path: Path) -> Entry:
    return Entry(name=path.name, kind=_kind(path), size_bytes=size_of(path))


def _kind(path: Path) -> Kind:
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if path.is_file() else "other"


def _text_of(file: Path) -> str | None:
    """The file's text with its line ends as they are; None for what is too large or not UTF-8."""
    if file.stat().st_size > MAX_FILE_BYTES:
        return None
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        return None
