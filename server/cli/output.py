"""Where a command's words go: data to standard output, talk to standard error. Knows no document's content.

Laws
1. With `--json` standard output carries one JSON document and nothing else.
2. JSON is pure ASCII, so no text of an upstream can steer a terminal through it. Everything else that is printed here has
   gone through `server.clean`, except the text of a result, which only a pipe gets as it came.
3. No cell is ever cut: what does not fit into a table is written below each other.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from server.clean import paragraphs
from server.cli.exits import Failure
from server.config import read_environment

PIPE_WIDTH: Final = 1000
"""Columns where standard output is no terminal: one record, one line, for `grep` and its like."""

LAST_COLUMN: Final = 32
"""The least columns in which a sentence reads well; with less left for it, records are written below each other."""

GAP: Final = 2

_ADVICE: Final = re.compile(
    r"`toolfold (?:approve|call|check|describe|eval|list|log|search|stats|trust)\b(?![^`]*--config)[^`]*"
)
"""A command that is advised, and reads a configuration."""


class Output:
    """The two streams of one command. `files` are the configuration that it was given: what it advises names them too, as
    `given` does on a command line."""

    def __init__(self, *, as_json: bool, files: Sequence[Path] = ()) -> None:
        self.given = "".join(f" --config {shlex.quote(str(file))}" for file in files)
        width = None if sys.stdout.isatty() or "COLUMNS" in read_environment() else PIPE_WIDTH
        self.as_json = as_json
        self.has_answered = False
        self.data = Console(width=width, highlight=False, markup=False, emoji=False)
        self.talk = Console(stderr=True, highlight=False, markup=False, emoji=False)

    def __repr__(self) -> str:
        return f"<Output {'json' if self.as_json else 'text'}>"

    def json(self, document: Mapping[str, object], failure: Failure | None = None) -> None:
        """The one document; with the failure in it that the command is about to end with."""
        self.has_answered = True
        print(json.dumps(document if failure is None else {**document, "error": _described(failure)}, indent=2))

    def say(self, text: str, style: str = "") -> None:
        """Says something to the person, beside the data and after what of it was said. It may be an upstream's text."""
        sys.stdout.flush()  # both may go to one file
        self.talk.print(self._advised(paragraphs(text, len(text))), style=style, soft_wrap=True)

    def line(self, text: str = "", style: str = "") -> None:
        """One line of data, which only the terminal breaks: it can be copied whole."""
        self.data.print(text, style=style, soft_wrap=True)

    def block(self, text: str, indent: int = 0, style: str = "") -> None:
        """A paragraph of data, wrapped at the terminal's width."""
        self._print(Padding(Text(self._advised(text), style), (0, 0, 0, indent)))

    def verbatim(self, text: str) -> None:
        """The text of a result: as it is into a pipe, without what could steer it on a terminal."""
        shown = paragraphs(text, len(text)) if sys.stdout.isatty() else text
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")

    def records(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows as a table if they fit, else each below the other. The first cell names the row, the last is the longest."""
        rows = [[self._advised(cell) for cell in row] for row in rows]
        widths = [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]
        before_last = sum(widths[:-1]) + GAP * (len(widths) - 1)
        if not self.data.is_terminal and before_last + widths[-1] <= self.data.width:
            print(_plain(columns, rows, widths))
            return
        if before_last + min(widths[-1], LAST_COLUMN) <= self.data.width:
            self._print(_table(columns, rows))
            return
        for row in rows:
            self.line(row[0], "bold")
            for name, cell in zip(columns[1:], row[1:], strict=True):
                if cell:
                    self.block(f"{name}: {cell}" if name else cell, GAP)

    def _advised(self, text: str) -> str:
        """With the files in the commands that it tells a person to run."""
        return _ADVICE.sub(lambda found: found[0] + self.given, text) if self.given else text

    def _print(self, renderable: RenderableType) -> None:
        """Without the spaces that fill every line up, where no terminal needs them."""
        if self.data.is_terminal:
            self.data.print(renderable)
            return
        with self.data.capture() as captured:
            self.data.print(renderable)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def reporting(*, as_json: bool, config: Sequence[Path] | None = None) -> Iterator[Output]:
    """Gives the command its output, and turns a failure into words, with `--json` into a document too, and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name may hold what the terminal's encoding has not
    output = Output(as_json=as_json, files=config or ())
    try:
        yield output
        sys.stdout.flush()
    except Failure as failure:
        if as_json and not output.has_answered:
            output.json({}, failure)
        output.say(f"toolfold: {failure}", "red")
        raise typer.Exit(failure.exit_code) from None


def _described(failure: Failure) -> dict[str, object]:
    error: dict[str, object] = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    if failure.candidates:
        error["candidates"] = list(failure.candidates)
    return error


def _plain(columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """The same table for a pipe. Rich takes 0.4 ms a row, which a listing of some thousand tools would feel."""
    lines = [columns, *rows] if any(columns) else rows
    gap = " " * GAP
    padded = (
        (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join(gap.join(cells).rstrip() for cells in padded)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=any(columns), header_style="dim")
    for position, name in enumerate(columns):
        is_last = position == len(columns) - 1
        table.add_column(name, no_wrap=not is_last, overflow="fold", style="" if position else "bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
