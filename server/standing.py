"""What stays while the configuration changes, and what is made anew of each: a gateway's parts, and its upstreams' specs."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from server.access import Accesses
from server.approvals import Approvals
from server.calling import CallPath
from server.config import GatewaySettings, Remote, ServerEntry, Settings
from server.gateway import Parts
from server.hooks import Hook
from server.keeper import ListingKeeper
from server.library import Library
from server.pins import Pins
from server.redaction import Redactor
from server.results import ResultStore
from server.semantics import Meanings
from upstream_clients import (
    Endpoint,
    Fleet,
    HeadersHelper,
    JsonObject,
    Launch,
    Patience,
    Progress,
    State,
    UpstreamError,
    UpstreamRefused,
    UpstreamSpec,
    UpstreamStatus,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one gateway keeps for life. `lazy`: no upstream is started before it is asked for, whatever the settings say."""

    library: Library
    keeper: ListingKeeper
    fleet: Fleet
    redact: Redactor
    results: ResultStore
    pins: Pins
    meanings: Meanings
    approvals: Approvals
    lazy: bool


def startable(settings: Settings) -> Mapping[str, ServerEntry]:
    """The upstreams that are to run, by their owner names."""
    return {server.owner: server for server in settings.servers if not server.disabled and not server.problem}


def secrets_of(settings: Settings) -> Iterator[str]:
    return (secret for server in settings.servers for secret in server.secrets)


def specs_of(settings: Settings, keeper: ListingKeeper, *, lazy: bool) -> list[UpstreamSpec]:
    """How each upstream is run."""
    lazily = lazy or settings.gateway.startup.mode == "lazy"
    return [_spec(server, settings.gateway, keeper, lazy=lazily) for server in startable(settings).values()]


def parts_of(settings: Settings, standing: Standing) -> Parts:
    """The gateway's parts under these settings."""
    fleet, keeper, redact = standing.fleet, standing.keeper, standing.redact
    misconfigured = _misconfigured(settings)

    def statuses() -> Mapping[str, UpstreamStatus]:
        return {**misconfigured, **{status.owner: _redacted(status, redact) for status in fleet.statuses()}}

    calls = CallPath(partial(_call, fleet, redact), standing.results, settings.gateway.limits.result_bytes)
    return Parts(
        startable(settings),
        settings.gateway,
        standing.library,
        calls,
        keeper.instructions,
        statuses,
        fleet.want,
        redact,
        standing.meanings.near,
        Accesses(settings.gateway),
        _hook(settings),
        standing.approvals,
    )


def _hook(settings: Settings) -> Hook | None:
    hooks = settings.gateway.hooks
    return Hook(hooks.before_call, settings.hook_env, hooks.timeout_ms / 1000) if hooks.before_call else None


def _spec(server: ServerEntry, settings: GatewaySettings, keeper: ListingKeeper, *, lazy: bool) -> UpstreamSpec:
    limits = settings.limits
    idle = server.timeout_seconds or limits.call_idle_ms / 1000
    total = server.total_timeout_seconds or limits.call_total_ms / 1000
    return UpstreamSpec(
        owner=server.owner,
        target=_endpoint(server, server.remote, limits.line_bytes, idle)
        if server.remote
        else Launch((server.command, *server.args), server.env, server.cwd, limits.line_bytes),
        patience=Patience(idle, total),
        start_seconds=server.start_timeout_seconds or settings.startup.timeout_ms / 1000,
        protocol=server.protocol,
        known_era=keeper.era(server.owner),
        lazy=lazy,
    )


def _endpoint(server: ServerEntry, remote: Remote, message_bytes: int, wait_seconds: float) -> Endpoint:
    helper = HeadersHelper(remote.headers_helper, server.env) if remote.headers_helper else None
    return Endpoint(remote.url, remote.attempts, message_bytes, wait_seconds, remote.headers, helper)


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
