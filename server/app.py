"""The parts of a running gateway, put together in one context manager. Read it as a parts list."""

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio

from server.calling import CallPath
from server.config import Directories, GatewaySettings, ServerEntry, Settings
from server.gateway import Gateway, Parts
from server.keeper import ListingKeeper
from server.library import Library
from server.listing_cache import ListingCache
from server.policy import Policy
from server.redaction import Redactor
from server.version import __version__
from upstream_clients import (
    Fleet,
    JsonObject,
    Launch,
    Patience,
    Progress,
    State,
    UpstreamError,
    UpstreamRefused,
    UpstreamSpec,
    UpstreamStatus,
    open_fleet,
)

CLIENT_INFO: Final[JsonObject] = {"name": "toolfold", "title": "toolfold", "version": __version__}

SAVE_SECONDS: Final = 0.2
"""At the end, for the last listings to reach the disk; without them the next start is slower and nothing else."""


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that runs.

    `statuses` has every configured upstream that is not disabled, misconfigured ones too, and no secret.
    """

    gateway: Gateway
    library: Library
    fleet: Fleet
    keeper: ListingKeeper
    statuses: Callable[[], Mapping[str, UpstreamStatus]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the surroundings want to hear of. Both are called on the event loop and must not block."""

    on_catalogue: Callable[[], None] = lambda: None
    on_status: Callable[[UpstreamStatus], None] = lambda _status: None


@asynccontextmanager
async def open_gateway(
    settings: Settings, directories: Directories, hooks: Hooks, *, lazy: bool = False
) -> AsyncIterator[Running]:
    """Runs a gateway for as long as the context lasts. `lazy` starts no upstream before it is asked for."""
    entries = {server.owner: server for server in settings.servers if not server.disabled and not server.problem}
    redact = Redactor(secret for server in settings.servers for secret in server.secrets)
    policy = Policy(settings.servers, settings.gateway)
    library = Library(policy.exposure, hooks.on_catalogue)
    keeper = ListingKeeper(entries, library, ListingCache(directories.cache))
    misconfigured = _misconfigured(settings)
    limits = settings.gateway.limits

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(library.run)
        await keeper.load()
        tasks.start_soon(keeper.run)
        lazily = lazy or settings.gateway.startup.mode == "lazy"
        specs = [_spec(server, settings.gateway, keeper, lazy=lazily) for server in entries.values()]
        async with open_fleet(
            specs, CLIENT_INFO, keeper.take, hooks.on_status, settings.gateway.startup.concurrency
        ) as fleet:

            def statuses() -> Mapping[str, UpstreamStatus]:
                return {**misconfigured, **{status.owner: _redacted(status, redact) for status in fleet.statuses()}}

            calls = CallPath(partial(_call, fleet, redact), limits.result_bytes)
            gateway = Gateway(
                Parts(entries, settings.gateway, library, calls, keeper.instructions, statuses, fleet.want, redact)
            )
            yield Running(gateway, library, fleet, keeper, statuses)
        with anyio.move_on_after(SAVE_SECONDS, shield=True):
            await keeper.save()
        tasks.cancel_scope.cancel()


def _spec(server: ServerEntry, settings: GatewaySettings, keeper: ListingKeeper, *, lazy: bool) -> UpstreamSpec:
    limits = settings.limits
    idle = server.timeout_seconds or limits.call_idle_ms / 1000
    total = server.total_timeout_seconds or limits.call_total_ms / 1000
    return UpstreamSpec(
        owner=server.owner,
        launch=Launch((server.command, *server.args), server.env, server.cwd, limits.line_bytes),
        patience=Patience(idle, total),
        start_seconds=server.start_timeout_seconds or settings.startup.timeout_ms / 1000,
        protocol=server.protocol,
        known_era=keeper.era(server.owner),
        lazy=lazy,
    )


async def _call(
    fleet: Fleet,
    redact: Redactor,
    owner: str,
    name: str,
    arguments: JsonObject,
    meta: Mapping[str, object],
    on_progress: Progress | None = None,
) -> JsonObject:
    """`Fleet.call`, with the secrets taken out of what a failure says: before anything folds or cuts it."""
    try:
        return await fleet.call(owner, name, arguments, meta, on_progress)
    except UpstreamError as error:
        error.message, error.hint = redact(error.message), redact(error.hint)
        if isinstance(error, UpstreamRefused) and error.data is not None:
            error.data = redact(json.dumps(error.data, ensure_ascii=False))
        raise


def _redacted(status: UpstreamStatus, redact: Redactor) -> UpstreamStatus:
    """What an upstream said when it failed may hold what it was given."""
    if not status.error and not status.last_words:
        return status
    return replace(status, error=redact(status.error), hint=redact(status.hint), last_words=redact(status.last_words))


def _misconfigured(settings: Settings) -> dict[str, UpstreamStatus]:
    """The entries that can't be started, as upstreams that are down for that reason."""
    broken = [server for server in settings.servers if server.problem and not server.disabled]
    hint = "Run `toolfold check`."
    return {
        server.owner: UpstreamStatus(server.owner, State.DOWN, time.time(), error=server.problem, hint=hint)
        for server in broken
    }
