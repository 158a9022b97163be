"""The catalogue: every tool of every upstream, as one immutable snapshot.

Laws:
1. A snapshot never changes. `with_listing` and `without` answer the next one, or the same one when nothing differs;
   what they do costs by the size of the listing and the number of owners, not by the size of the catalogue.
2. A tool that is hidden, unavailable or quarantined answers exactly as one that was never there, to all who resolve a name.
3. The catalogue holds one collection, the shelves of its owners; everything else is derived from it.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from index.admission import refusal
from index.bill import shown_bytes
from index.fingerprint import Searchable, fingerprint_of, in_order, searchable
from index.giving_way import GiveWay, giving_way, never
from index.ids import MAX_INNER_ID_CHARS, split_tool_id, tool_id
from index.likeness import appearance, is_unmistakable, spelling
from index.nearest import MAX_CANDIDATES, Name, nearest, prepare
from index.tally import NOTHING, Tally, tally_of
from index.tool import REACHABLE, Exposure, JsonObject, Judgement, Listing, Tool

MAX_TOOLS_PER_LISTING = 2_000  # the largest real servers have under 200; a listing beyond this is a fault or an attack
MAX_TOOLS_PER_GATEWAY = 10_000  # which stands for any number of servers
MAX_REFERENCE_CHARS = 130 + MAX_INNER_ID_CHARS  # source and owner of 64, and two colons; longer text names nothing
_MAX_NAME_CHARS = 128

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
    reachable_by_bare_name: Mapping[str, Sequence[Tool]]
    reachable_names: tuple[Name, ...]
    by_appearance: Mapping[str, Tool]
    unmistakable_names: frozenset[str]
    searchable: Searchable | None
    direct: tuple[Tool, ...]
    tally: Tally
    shown_bytes: int


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

    def with_listing(self, listing: Listing, classify: Classify, give_way: GiveWay = never) -> "Catalog":
        """The catalogue in which this listing is all that its owner has."""
        owner = (listing.source, listing.owner)
        tools = tuple(sorted(giving_way(_judged(listing, classify), give_way), key=lambda tool: tool.id))
        known = self._shelves.get(owner)
        if known is not None and known.tools == tools:
            return self
        return Catalog(self.generation + 1, {**self._shelves, owner: _shelf(tools, give_way)})

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

    def direct(self) -> tuple[Tool, ...]:
        """The tools that are shown up front, sorted by id."""
        return tuple(
            sorted((tool for shelf in self._shelves.values() for tool in shelf.direct), key=lambda tool: tool.id)
        )

    def tallies(self) -> Mapping[str, Tally]:
        """What each upstream has, counted."""
        tallies: dict[str, Tally] = {}
        for (_, owner), shelf in sorted(self._shelves.items()):
            upstream = shelf.tools[0].upstream if shelf.tools else owner
            tallies[upstream] = tallies.get(upstream, NOTHING).plus(shelf.tally)
        return tallies

    def sources(self) -> Mapping[str, int]:
        """How many tools there are to be found, by source."""
        counts = Counter[str]()
        for (source, _), shelf in sorted(self._shelves.items()):
            counts[source] += len(shelf.reachable_names)
        return {source: count for source, count in counts.items() if count}

    def shown_bytes(self, source: str = "") -> int:
        """About what the reachable tools, or those of one source, would cost in a prompt if each were published as it is."""
        return sum(shelf.shown_bytes for (of, _), shelf in self._shelves.items() if source in ("", of))

    def resolve(self, reference: str, sees: Callable[[Tool], bool] | None = None) -> Tool | Unresolved:
        """The reachable tool that an exact id or a unique bare name stands for, or the likeliest ids.

        With `sees`, as if the tools that it says no to were not there.
        """
        asked = reference.strip()[:MAX_REFERENCE_CHARS]
        exact = self.get(asked)
        if exact is not None and _is_there(exact, sees):  # no bare name looks like an id: it has no colon
            return exact
        shelves = self._shelves.values()
        named = (tool for shelf in shelves for tool in shelf.reachable_by_bare_name.get(asked, ()))
        found = [tool for tool in named if _is_there(tool, sees)]
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
        return next((other for other in others if other and spelling(other.bare_name) != spelling(name)), None)

    def names_elsewhere(self, owner: str) -> frozenset[str]:
        """The names of other owners' reachable tools that a text can only mean as such, in small letters."""
        others = (shelf.unmistakable_names for key, shelf in self._shelves.items() if key[1] != owner)
        return frozenset[str]().union(*others)

    def search_fingerprint(self) -> str:
        """The fingerprint that a `SearchIndex` built from this catalogue has."""
        return self._search_fingerprint

    def searchable(self) -> tuple[Searchable, ...]:
        """What search may find, owner by owner."""
        return in_order(shelf.searchable for shelf in self._shelves.values() if shelf.searchable is not None)

    @functools.cached_property
    def _search_fingerprint(self) -> str:
        return fingerprint_of(self.searchable())

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


def _shelf(tools: tuple[Tool, ...], give_way: GiveWay) -> _Shelf:
    reachable = [tool for tool in tools if tool.exposure in REACHABLE]
    by_bare_name: dict[str, list[Tool]] = defaultdict(list)
    for tool in giving_way(reachable, give_way):
        by_bare_name[tool.bare_name].append(tool)
    names = (prepare(tool.id, tool.owner, tool.bare_name) for tool in giving_way(reachable, give_way))
    return _Shelf(
        tools=tools,
        by_name={tool.name: tool for tool in tools},
        reachable_by_bare_name=dict(by_bare_name),
        reachable_names=tuple(names),
        by_appearance={appearance(tool.bare_name): tool for tool in giving_way(reachable, give_way)},
        unmistakable_names=frozenset(name.lower() for name in by_bare_name if is_unmistakable(name)),
        searchable=searchable(tools, give_way),
        direct=tuple(tool for tool in tools if tool.exposure is Exposure.DIRECT),
        tally=tally_of(tools),
        shown_bytes=sum(shown_bytes((tool.definition,)) for tool in giving_way(reachable, give_way)),
    )


def _judged(listing: Listing, classify: Classify) -> Iterator[Tool]:
    """Every tool of the listing with its exposure: refused as unsound, or as policy says."""
    longest_name = MAX_INNER_ID_CHARS if listing.gateway else _MAX_NAME_CHARS
    names = [_name(definition, longest_name) for definition in listing.tools]
    count = Counter(names)
    most = MAX_TOOLS_PER_GATEWAY if listing.gateway else MAX_TOOLS_PER_LISTING
    too_many = f"the listing has more than {most:,} tools"
    for position, (name, definition) in enumerate(zip(names, listing.tools, strict=True)):
        identity = tool_id(listing.source, listing.owner, name)
        refused = refusal(definition, gateway=listing.gateway) if position < most else too_many
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
            via=listing.via,
        )


def _name(definition: object, longest: int) -> str:
    """The tool's name, for a record of it; one too long to be admitted is cut so that it equals no name that is."""
    name = definition.get("name") if isinstance(definition, dict) else None
    if not isinstance(name, str):
        return ""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
