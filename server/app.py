"""The parts of a running gateway, put together in one context manager. Read it as a parts list."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from server.approvals import Approvals
from server.config import Directories, Settings
from server.gateway import Gateway
from server.judging import follow_pins
from server.keeper import ListingKeeper
from server.library import Library
from server.listing_cache import ListingCache
from server.pace import Pace
from server.parts import Current
from server.pins import Pins
from server.policy import Policy
from server.redaction import Redactor
from server.results import ResultStore
from server.semantics import Meanings
from server.standing import Standing, parts_of, rules_of, secrets_of, specs_of, startable
from server.telemetry import Sink
from server.version import __version__
from server.wordllama import WordLlama
from upstream_clients import Fleet, JsonObject, UpstreamStatus, new_node, open_fleet

CLIENT_INFO: Final[JsonObject] = {"name": "toolfold", "title": "toolfold", "version": __version__}

SAVE_SECONDS: Final = 0.2
"""At the end, for the last listings to reach the disk; without them the next start is slower and nothing else."""


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that runs.

    `statuses` has every configured upstream that is not disabled, misconfigured ones too, and no secret. `adopt` puts
    other settings into force, and returns when they are.
    """

    gateway: Gateway
    library: Library
    meanings: Meanings
    fleet: Fleet
    keeper: ListingKeeper
    statuses: Callable[[], Mapping[str, UpstreamStatus]]
    adopt: Callable[[Settings], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the surroundings want to hear of. All are called on the event loop and must not block.

    `node` is the id by which other gateways know this one.
    """

    on_catalogue: Callable[[], None] = lambda: None
    on_status: Callable[[UpstreamStatus], None] = lambda _status: None
    node: str = field(default_factory=new_node)
    sinks: tuple[Sink, ...] = ()


@asynccontextmanager
async def open_gateway(
    settings: Settings, directories: Directories, hooks: Hooks, *, lazy: bool = False
) -> AsyncIterator[Running]:
    """Runs a gateway for as long as the context lasts. `lazy` starts no upstream before it is asked for."""
    pins = Pins(directories.state)
    meanings = Meanings(WordLlama.load if settings.gateway.semantic else None)
    pace = Pace()

    def on_catalogue() -> None:
        meanings.follow(library.snapshot.catalog)
        hooks.on_catalogue()

    redact = Redactor(secrets_of(settings))
    library = Library(rules_of(settings, pins, redact), on_catalogue, pace.give_way)
    keeper = ListingKeeper(startable(settings), library, ListingCache(directories.cache, redact))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(library.run)
        tasks.start_soon(meanings.run)
        await keeper.load()
        tasks.start_soon(keeper.run)
        tasks.start_soon(follow_pins, pins, keeper)
        specs = specs_of(settings, keeper, directories.state, lazy=lazy)
        concurrency = settings.gateway.startup.concurrency
        async with open_fleet(specs, CLIENT_INFO, keeper.take, hooks.on_status, concurrency, node=hooks.node) as fleet:
            kept = library, keeper, fleet, pace, redact, ResultStore(), pins, meanings, Approvals(directories.state)
            standing = Standing(*kept, hooks.node, hooks.sinks, lazy, directories.state)
            gateway = Gateway(Current(parts_of(settings, standing)))
            change = Change(settings, standing, gateway)
            yield Running(gateway, library, meanings, fleet, keeper, gateway.statuses, change.adopt)
        with anyio.move_on_after(SAVE_SECONDS, shield=True):
            await keeper.save()
        tasks.cancel_scope.cancel()


class Change:
    """Exchanges the settings of a gateway that runs. All of it but the catalogue changes in one step, without an await."""

    def __init__(self, settings: Settings, standing: Standing, gateway: Gateway) -> None:
        self._settings = settings
        self._standing = standing
        self._gateway = gateway

    async def adopt(self, settings: Settings) -> None:
        """Puts these settings into force. Upstreams that start otherwise are exchanged, and no other is touched."""
        standing, servers = self._standing, startable(settings)
        keeper, library = standing.keeper, standing.library
        stored = await keeper.stored(keeper.changed(servers))
        before = Policy(self._settings.servers, self._settings.gateway)
        after = Policy(settings.servers, settings.gateway)
        known = startable(self._settings)
        standing.redact.learn(secrets_of(settings))
        library.adopt(rules_of(settings, standing.pins, standing.redact))
        keeper.adopt(servers, stored)
        keeper.relist(owner for owner in servers if owner in known and before.rules(owner) != after.rules(owner))
        self._gateway.adopt(parts_of(settings, standing))
        standing.fleet.adopt(specs_of(settings, keeper, standing.state, lazy=standing.lazy))
        self._settings = settings
        await library.caught_up()
