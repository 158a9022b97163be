"""The values of this room: a tool as its upstream listed it, and a listing. Holds data; decides nothing."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from index.ids import bare_name, inner_owners, is_id_part

JsonObject: TypeAlias = dict[str, object]


class Exposure(StrEnum):
    """How far a tool can be seen: found by search, shown up front, kept from the client, not callable, or unsound."""

    CATALOG = "catalog"
    DIRECT = "direct"
    HIDDEN = "hidden"
    UNAVAILABLE = "unavailable"
    QUARANTINED = "quarantined"


REACHABLE = frozenset({Exposure.CATALOG, Exposure.DIRECT})


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a tool, the reason if that is not the ordinary, and what a person should look at."""

    exposure: Exposure = Exposure.CATALOG
    reason: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one upstream. `definition` is what the upstream sent and is never changed; empty if it was refused.

    `warning` is what a person should look at, whether the tool is in use or held back for it. `via` names the upstream
    where that is another word than the owner in the id.
    """

    id: str
    source: str
    owner: str
    name: str
    definition: JsonObject = field(repr=False, hash=False)
    exposure: Exposure
    reason: str
    trusted: bool
    cached: bool
    warning: str = ""
    via: str = ""

    @property
    def upstream(self) -> str:
        """The upstream that a call goes to."""
        return self.via or self.owner

    @property
    def bare_name(self) -> str:
        """The name without the gateways that the tool is behind."""
        return bare_name(self.name)

    @property
    def server(self) -> str:
        """The names that its server goes by: the owner, and behind another gateway those that it has there."""
        return " ".join((self.owner, *inner_owners(self.name)))

    @property
    def description(self) -> str:
        """The upstream's description; empty when there is none."""
        return _text(self.definition.get("description"))

    @property
    def label(self) -> str:
        """The name meant for people: `title`, else the annotation's title, else the bare name."""
        annotations = _object(self.definition.get("annotations"))
        return _text(self.definition.get("title")) or _text(annotations.get("title")) or self.bare_name

    @property
    def input_schema(self) -> JsonObject:
        """The schema of the arguments; empty when there is none."""
        return _object(self.definition.get("inputSchema"))

    @property
    def output_schema(self) -> JsonObject | None:
        """The schema of the structured result, when the upstream declares one."""
        schema = self.definition.get("outputSchema")
        return schema if isinstance(schema, dict) else None

    @property
    def search_hint(self) -> str:
        """Words that the upstream adds for search alone."""
        return _text(_object(self.definition.get("_meta")).get("anthropic/searchHint"))


@dataclass(frozen=True, slots=True)
class Listing:
    """All tools of one owner that its upstream answered at one time, in its order. Names of a `gateway` may be ids.

    `via`: see `Tool`.
    """

    source: str
    owner: str
    tools: tuple[JsonObject, ...] = field(repr=False, hash=False)
    trusted: bool = False
    cached: bool = False
    gateway: bool = False
    via: str = ""

    @property
    def upstream(self) -> str:
        return self.via or self.owner

    def __post_init__(self) -> None:
        for part in (self.source, self.owner):
            if not is_id_part(part):
                raise ValueError(f"{part!r} cannot be part of a tool id; use owner_for_key(...) to make an owner")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
