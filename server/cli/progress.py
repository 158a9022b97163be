"""What a person sees on standard error while something takes its time. Nothing where that is no terminal."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from server.clean import one_line
from upstream_clients import State, UpstreamStatus

NAMES_CHARACTERS: Final = 50
"""Of the upstreams that are waited for, or of what an upstream says of its progress."""


class StartProgress:
    """Shows which upstreams are being waited for."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._left: set[str] = set()

    def __repr__(self) -> str:
        return f"<StartProgress {len(self._left)} left>"

    def on_status(self, status: UpstreamStatus) -> None:
        """An upstream has changed."""
        if status.state in (State.READY, State.DOWN) and status.owner in self._left:
            self._left.discard(status.owner)
            self._show()

    @contextmanager
    def waiting_for(self, owners: Collection[str]) -> Iterator[None]:
        """Shows the bar as long as the context lasts."""
        self._left = set(owners)
        with _progress(self._console) as self._bar:
            self._bar.add_task("", total=len(owners))
            self._show()
            yield
        self._bar = None

    def _show(self) -> None:
        if self._bar is not None:
            task = self._bar.tasks[0]
            names = one_line(", ".join(sorted(self._left)), NAMES_CHARACTERS)
            done = (task.total or 0) - len(self._left)
            self._bar.update(task.id, completed=done, description=f"Starting upstreams: {names}", refresh=True)


class CallProgress:
    """Shows what an upstream says of its progress while a call lasts."""

    def __init__(self, console: Console, tool_id: str) -> None:
        self._console = console
        self._tool_id = tool_id
        self._bar: Progress | None = None

    def __repr__(self) -> str:
        return f"<CallProgress of {self._tool_id}>"

    def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """See `upstream_clients.Progress`."""
        if self._bar is not None:
            text = f"{self._tool_id} {one_line(message or '', NAMES_CHARACTERS)}"
            self._bar.update(self._bar.tasks[0].id, completed=progress, total=total, description=text)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows the bar as long as the context lasts."""
        with _progress(self._console) as self._bar:
            self._bar.add_task(self._tool_id, total=None)
            yield
        self._bar = None


def _progress(console: Console) -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
