"""The catalogue in any order of events: listings that come, are replaced, withdrawn, held back and accepted, and filters
that are edited; with a plain dictionary as what should be there.
"""

import asyncio
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from index import Exposure, Listing, Tool
from server.access import Accesses, Caller, Verdict
from server.answers import description
from server.config import GatewaySettings, ServerEntry
from server.config.settings import PolicySettings, ProfileSettings
from server.judging import Judge
from server.library import Gone, Library, Rules, Snapshot
from server.pins import PinnedUpstream, Pins
from server.policy import Policy
from tests.machines.profiles import MACHINE
from upstream_clients import JsonObject

OWNERS: Final = ("one", "two", "three")
NAMES: Final = ("paint", "sweep", "fetch", "bad name!", "paint")
WORDS: Final = ("quokka", "zephyr", "marmalade", "tungsten", "obelisk")
"""So unlike each other that a search for one never finds another."""

MOST_HITS: Final = 50
PROFILE: Final = "narrow"
KEPT: Final = 3

Expected: TypeAlias = Mapping[str, tuple[Exposure, JsonObject]]
"""By id: what becomes of each tool, and its definition."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A snapshot, and what it had when it was made."""

    snapshot: Snapshot
    expected: Expected
    generation: int


def tool(name: str, word: str) -> JsonObject:
    schema = {"type": "object", "properties": {word: {"type": "string"}}}
    return {"name": name, "description": f"The {word} of it.", "inputSchema": schema}


class Catalogue(RuleBasedStateMachine):
    """A library under pins that are strict. What has come is handed over, and looked at, by the rules that look."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(mkdtemp())
        self._runner = asyncio.Runner()
        self._pins = Pins(self._folder)
        self._denied: frozenset[str] = frozenset()
        self._library = Library(self._rules(), lambda: None)
        self._task = self._runner.run(self._start())
        # The model: what each upstream lists now, what is still to come, what was accepted of each.
        self._listed: dict[str, list[JsonObject]] = {}
        self._pending: dict[str, list[JsonObject] | None] = {}
        self._accepted: dict[str, dict[str, JsonObject]] = {}
        self._kept: list[Kept] = []

    async def _start(self) -> "asyncio.Task[None]":
        return asyncio.get_running_loop().create_task(self._library.run())

    def _settings(self) -> GatewaySettings:
        narrow = ProfileSettings(deny=("mcp:two:*",))
        policy = PolicySettings(deny=tuple(sorted(self._denied)))
        return GatewaySettings(pins="strict", policy=policy, profiles={PROFILE: narrow})

    def _rules(self) -> Rules:
        settings = self._settings()
        servers = [ServerEntry(owner, owner, fingerprint="f" * 64) for owner in OWNERS]
        judge = Judge(Policy(servers, settings), self._pins, settings)
        return Rules(lambda listed: listed, judge, lambda catalog: catalog, lambda _catalog, _listed, former: former)

    @rule(
        owner=st.sampled_from(OWNERS), names=st.lists(st.sampled_from(NAMES), max_size=4), word=st.sampled_from(WORDS)
    )
    def list_tools(self, owner: str, names: list[str], word: str) -> None:
        tools = [tool(name, word) for name in names]
        self._pending[owner] = tools

    @rule(owner=st.sampled_from(OWNERS))
    def withdraw(self, owner: str) -> None:
        self._pending[owner] = None

    @rule(denied=st.frozensets(st.sampled_from(("mcp:one:*", "mcp:*:sweep", "mcp:three:paint")), max_size=2))
    def edit_filters(self, denied: frozenset[str]) -> None:
        """As a gateway does: the filters, and then every listing anew."""
        self._denied = denied
        self._relist(self._listed)

    @rule(owner=st.sampled_from(OWNERS))
    def accept(self, owner: str) -> None:
        """As a person does: all that the upstream lists now."""
        self._look()
        if owner in self._listed:
            whole = [one for one in self._listed[owner] if self._listed[owner].count(one) == 1]
            self._pins.accept(PinnedUpstream(owner, "f" * 64), whole)
            self._accepted[owner] = self._accepted.get(owner, {}) | {str(one["name"]): one for one in whole}
            self._relist([owner])

    @rule()
    def look(self) -> None:
        self._look()

    def _relist(self, owners: Iterable[str]) -> None:
        for owner in owners:
            self._pending.setdefault(owner, self._listed[owner])

    async def _taken(self) -> Snapshot:
        """Hands over all that has come, at once: of several listings of one upstream only the last is looked at."""
        self._library.adopt(self._rules())
        for owner, tools in self._pending.items():
            self._library.take(Gone("mcp", owner, owner) if tools is None else Listing("mcp", owner, tuple(tools)))
        return await self._library.indexed()

    def _look(self) -> None:
        snapshot = self._runner.run(self._taken())
        for owner, tools in self._pending.items():
            if tools is None:
                self._listed.pop(owner, None)
                continue
            self._listed[owner] = tools
            self._accepted.setdefault(owner, {str(one["name"]): one for one in tools})
        self._pending.clear()
        expected = self._expected()
        _check(snapshot, expected)
        self._check_profile(snapshot)
        for kept in self._kept:  # a snapshot stays what it was
            assert kept.snapshot.catalog.generation == kept.generation
            _check(kept.snapshot, kept.expected)
        self._kept = [*self._kept[1 - KEPT :], Kept(snapshot, expected, snapshot.catalog.generation)]

    def _expected(self) -> Expected:
        return {
            f"mcp:{owner}:{one['name']}": (self._exposure(owner, one), one)
            for owner, tools in self._listed.items()
            for one in tools
        }

    def _exposure(self, owner: str, one: JsonObject) -> Exposure:
        name = str(one["name"])
        if " " in name or self._listed[owner].count(one) > 1:
            return Exposure.QUARANTINED
        hidden = {
            "mcp:one:*": owner == "one",
            "mcp:*:sweep": name == "sweep",
            "mcp:three:paint": (owner, name) == ("three", "paint"),
        }
        if any(hidden[pattern] for pattern in self._denied):
            return Exposure.HIDDEN
        return Exposure.CATALOG if self._accepted[owner].get(name) == one else Exposure.QUARANTINED

    def _check_profile(self, snapshot: Snapshot) -> None:
        accesses = Accesses(self._settings())
        narrow, everything = accesses.of(Caller(PROFILE)), accesses.of(Caller())
        reachable = snapshot.catalog.reachable()
        seen = {tool.id for tool in reachable if narrow.sees(tool)}
        assert seen <= {tool.id for tool in reachable if everything.sees(tool)}
        assert seen == {tool.id for tool in reachable if tool.owner != "two"}

    def teardown(self) -> None:
        try:
            self._look()
        finally:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                self._runner.run(_ended(self._task))
            self._runner.close()
            shutil.rmtree(self._folder)


async def _ended(task: "asyncio.Task[None]") -> None:
    await task


def _check(snapshot: Snapshot, expected: Expected) -> None:
    """That a snapshot holds just this, and that search, lookups and descriptions agree."""
    catalog, index = snapshot.catalog, snapshot.index
    assert {one.id: one.exposure for one in catalog.tools()} == {
        key: exposure for key, (exposure, _) in expected.items()
    }
    reachable = {key: one for key, (exposure, one) in expected.items() if exposure is Exposure.CATALOG}
    assert {one.id for one in catalog.reachable()} == reachable.keys()
    for key, (_, definition) in expected.items():
        found = catalog.resolve(key)
        assert isinstance(found, Tool) == (key in reachable)
        if isinstance(found, Tool):
            described = description(found, Verdict.ALLOW, None, {})
            assert (described["id"], described["tool"]) == (key, definition)
    assert index is not None
    for word in WORDS:
        holders = {key for key, one in reachable.items() if word in str(one["description"])}
        hits = {match.tool_id for match in index.search(word, MOST_HITS)}
        assert hits == holders, word


def test_the_catalogue_is_what_a_dictionary_says_in_any_order_of_events() -> None:
    run_state_machine_as_test(Catalogue, settings=settings(MACHINE, max_examples=MACHINE.max_examples // 2))
