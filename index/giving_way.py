"""How long work in a thread lets others come in between: it calls back between its steps. Knows no clock and no thread.

Pure Python holds the interpreter for five milliseconds at a time, which an event loop would wait for at every turn.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

GiveWay: TypeAlias = Callable[[], None]
"""Called between steps of well under a millisecond. May rest; costs next to nothing where there is no need."""


def never() -> None:
    """For work that nobody waits beside."""


def giving_way(items: Iterable[T], give_way: GiveWay) -> Iterator[T]:
    """The same items; before each of them, others may come in between."""
    for item in items:
        give_way()
        yield item
