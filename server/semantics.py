"""What tools mean, for search: each tool's vector, made in the background and kept for as long as its text is in use.

Knows no model: one is loaded by a function that is handed in, when there is the first tool to look at. Without one, or
until it is ready, search goes by words alone.

Laws
1. Vectors are kept by the hash of their text, so that a listing that comes again costs nothing, and only those that the
   catalogue of the moment needs.
2. Loading and embedding run in a worker thread; what a search uses is built completely and then assigned once.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Final, Protocol, TypeAlias

import anyio
import anyio.to_thread

from index import Catalog, Exposure, Near, Tool, meaning_text

logger = logging.getLogger(__name__)

BATCH: Final = 256
"""Texts that are embedded in one go, in 20 ms: memory for the pieces of all texts of a large catalogue is not needed."""

Vector: TypeAlias = object
"""What a model makes of a text, and only that model understands."""


class Model(Protocol):
    """Tells how close texts are in meaning."""

    def vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector for each text."""

    def near(self, ids: Sequence[str], vectors: Sequence[Vector]) -> Near:
        """How close queries are to these tools. Called in several threads."""


class NoModel(Exception):
    """There is no model to be had; the text says why, and what to do."""


class Meanings:
    """Follows the catalogue. `run` is its task; everything else is called on the event loop. Without `load` it is off."""

    def __init__(self, load: Callable[[], Model] | None) -> None:
        self._load = load
        self._catalog = Catalog.empty()
        self._known: Mapping[bytes, Vector] = {}
        self._near: Near | None = None
        self._stale = anyio.Event()
        self._caught_up = anyio.Event()
        self._caught_up.set()

    def __repr__(self) -> str:
        return f"<Meanings {'off' if self._load is None else f'of {len(self._known)} texts'}>"

    def near(self) -> Near | None:
        """What a search goes by beside words; None while there is nothing."""
        return self._near

    def follow(self, catalog: Catalog) -> None:
        """This is the catalogue now."""
        if self._load is None:
            return
        self._catalog = catalog
        if self._caught_up.is_set():
            self._caught_up = anyio.Event()
        self._stale.set()

    async def caught_up(self) -> None:
        """Returns when every tool that was followed so far is known, or never will be."""
        await self._caught_up.wait()

    async def run(self) -> None:
        """Learns what comes. Ends when there is no model, or by cancellation."""
        if self._load is None:
            return
        await self._stale.wait()
        try:
            model = await anyio.to_thread.run_sync(self._load, abandon_on_cancel=True)
        except NoModel as reason:
            logger.warning("search goes by words alone: %s", reason)
            self._load = None
            self._caught_up.set()
            return
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            learnt = await anyio.to_thread.run_sync(
                _learnt, model, self._catalog.tools(), self._known, abandon_on_cancel=True
            )
            self._known, self._near = learnt
            if not self._stale.is_set():
                self._caught_up.set()


def _learnt(model: Model, tools: Sequence[Tool], known: Mapping[bytes, Vector]) -> tuple[Mapping[bytes, Vector], Near]:
    """For a worker thread: the vectors of these tools, those that are new among them made."""
    texts = {tool.id: meaning_text(tool) for tool in tools if tool.exposure is Exposure.CATALOG}
    keys = {
        tool_id: blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for tool_id, text in texts.items()
    }
    new = list({keys[tool_id]: text for tool_id, text in texts.items() if keys[tool_id] not in known}.items())
    made: dict[bytes, Vector] = {}
    for start in range(0, len(new), BATCH):
        batch = new[start : start + BATCH]
        made |= zip((key for key, _ in batch), model.vectors([text for _, text in batch]), strict=True)
    kept = {key: made[key] if key in made else known[key] for key in keys.values()}
    return kept, model.near(tuple(keys), [kept[key] for key in keys.values()])
