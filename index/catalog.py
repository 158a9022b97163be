"""The catalogue: every tool of every upstream, as one immutable snapshot.

Laws:
1. A snapshot never changes. `with_listing` and `without` answer the next one, or the same one when nothing differs;
   what they do costs by the size of the listing and the number of owners, not by the size of the catalogue.
2. A tool that is hidden or quarantined answers exactly as one that was never there, to everyone who resolves a name.
3. The catalogue holds one collection, the shelves of its owners; everything else is derived from it.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from index.admission import refusal
from index.fingerprint import combined, owner_digest
from index.ids import split_tool_id, tool_id
from index.likeness import appearance, spelling
from index.nearest import MAX_CANDIDATES, Name, nearest, prepare
from index.tool import REACHABLE, Exposure, JsonObject, Judgement, Listing, Tool

MAX_TOOLS_PER_LISTING = 2_000  # the largest real servers have under 200; a listing beyond this is a fault or an attack
MAX_REFERENCE_CHARS = 258  # an id has at most 64 + 64 + 128 characters and two colons; longer text names nothing
_MAX_NAME_CHARS = 128
_TOO_MANY = f"the listing has more than {MAX_TOOLS_PER_LISTING:,} tools"

Classify: TypeAlias = Callable[[str, JsonObject], Judgement]
"""What becomes of an admitted tool, given its id and definition."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that names no tool, or several; the candidates are reachable tools only."""

    reference: str
    ambiguous: bool
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """One owner's tools, with what lookups need worked out when the listing came."""

    tools: tuple[Tool, ...]
    by_name: Mapping[str, Tool]
    reachable_names: tuple[Name, ...]
    by_appearance: Mapping[str, Tool]
    digest: str


class Catalog:
    """All tools at one moment. Build the first with `empty()`, every later one from the one before."""

    def __init__(self, generation: int, shelves: Mapping[tuple[str, str], _Shelf]) -> None:
        self.generation = generation
        self._shelves = shelves

    def __repr__(self) -> str:
        count = sum(len(shelf.tools) for shelf in self._shelves.values())
        return f"<Catalog generation {self.generation}, {count} tools of {len(self._shelves)} owners>"

    @classmethod
    def empty(cls) -> "Catalog":
        """The catalogue before any listing."""
        return cls(0, {})

    def with_listing(self, listing: Listing, classify: Classify) -> "Catalog":
        """The catalogue in which this listing is all that its owner has."""
        owner = (listing.source, listing.owner)
        tools = tuple(sorted(_judged(listing, classify), key=lambda tool: tool.id))
        known = self._shelves.get(owner)
        if known is not None and known.tools == tools:
            return self
        return Catalog(self.generation + 1, {**self._shelves, owner: _shelf(tools)})

    def without(self, source: str, owner: str) -> "Catalog":
        """The catalogue in which this owner has no tools."""
        if (source, owner) not in self._shelves:
            return self
        rest = {key: shelf for key, shelf in self._shelves.items() if key != (source, owner)}
        return Catalog(self.generation + 1, rest)

    def get(self, tool_id: str) -> Tool | None:
        """The tool of exactly this id, whatever its exposure."""
        parts = split_tool_id(tool_id)
        shelf = self._shelves.get(parts[:2]) if parts else None
        return shelf.by_name.get(parts[2]) if parts and shelf else None

    def tools(self) -> tuple[Tool, ...]:
        """Every tool of any exposure, sorted by id."""
        return self._sorted

    def reachable(self) -> tuple[Tool, ...]:
        """The tools that a client may find or see, sorted by id."""
        return self._sorted_reachable

    def resolve(self, reference: str, sees: Callable[[Tool], bool] | None = None) -> Tool | Unresolved:
        """The reachable tool that an exact id or a unique bare name stands for, or the likeliest ids.

        With `sees`, as if the tools that it says no to were not there.
        """
        asked = reference.strip()[:MAX_REFERENCE_CHARS]
        exact = self.get(asked)
        if exact is not None and _is_there(exact, sees):  # no bare name looks like an id: it has no colon
            return exact
        shelves = self._shelves.values()
        named = (shelf.by_name.get(asked) for shelf in shelves)
        found = [tool for tool in named if tool is not None and _is_there(tool, sees)]
        if len(found) == 1:
            return found[0]
        if found:
            return Unresolved(asked, True, tuple(sorted(tool.id for tool in found)[:MAX_CANDIDATES]))
        names = (name for shelf in shelves for name in shelf.reachable_names if sees is None or sees(self._tool(name)))
        return Unresolved(asked, False, nearest(asked, names))

    def look_alike(self, owner: str, name: str) -> Tool | None:
        """A reachable tool of another owner whose name is another one and looks the same."""
        looks = appearance(name)
        others = (shelf.by_appearance.get(looks) for key, shelf in self._shelves.items() if key[1] != owner)
        return next((other for other in others if other and spelling(other.name) != spelling(name)), None)

    def search_fingerprint(self) -> str:
        """The fingerprint that a `SearchIndex` built from this catalogue has."""
        return combined({owner: shelf.digest for owner, shelf in self._shelves.items()})

    def _tool(self, name: Name) -> Tool:
        tool = self.get(name.id)
        assert tool is not None
        return tool

    @functools.cached_property
    def _sorted(self) -> tuple[Tool, ...]:
        return tuple(
            sorted((tool for shelf in self._shelves.values() for tool in shelf.tools), key=lambda tool: tool.id)
        )

    @functools.cached_property
    def _sorted_reachable(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self._sorted if tool.exposure in REACHABLE)


def _is_there(tool: Tool, sees: Callable[[Tool], bool] | None) -> bool:
    return tool.exposure in REACHABLE and (sees is None or sees(tool))


def _shelf(tools: tuple[Tool, ...]) -> _Shelf:
    return _Shelf(
        tools=tools,
        by_name={tool.name: tool for tool in tools},
        reachable_names=tuple(prepare(tool.id, tool.owner, tool.name) for tool in tools if tool.exposure in REACHABLE),
        by_appearance={appearance(tool.name): tool for tool in tools if tool.exposure in REACHABLE},
        digest=owner_digest(tools),
    )


def _judged(listing: Listing, classify: Classify) -> Iterator[Tool]:
    """Every tool of the listing with its exposure: refused as unsound, or as policy says."""
    count = Counter(_name(definition) for definition in listing.tools)
    for position, definition in enumerate(listing.tools):
        name = _name(definition)
        identity = tool_id(listing.source, listing.owner, name)
        refused = refusal(definition) if position < MAX_TOOLS_PER_LISTING else _TOO_MANY
        reason = refused or ("duplicate name" if count[name] > 1 else "")
        judged = Judgement(Exposure.QUARANTINED, reason) if reason else classify(identity, definition)
        yield Tool(
            id=identity,
            source=listing.source,
            owner=listing.owner,
            name=name,
            definition={} if refused else definition,  # what was refused may be endless; nothing of it is kept
            exposure=judged.exposure,
            reason=judged.reason,
            trusted=listing.trusted,
            cached=listing.cached,
            warning=judged.warning,
        )


def _name(definition: object) -> str:
    """The tool's name, for a record of it; one too long to be admitted is cut so that it equals no name that is."""
    name = definition.get("name") if isinstance(definition, dict) else None
    if not isinstance(name, str):
        return ""
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1]}…"
