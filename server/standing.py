"""What stays while the configuration changes, and what is made anew of each: a gateway's parts, and its upstreams' specs."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio.to_thread

from server import tracing
from server.access import Accesses
from server.approvals import Approvals
from server.calling import CallPath, Dispatch
from server.client_tools import ClientTools
from server.config import GatewaySettings, OpenClaw, Remote, ServerEntry, Settings
from server.device import device_seed
from server.hooks import Hook
from server.judging import Judge
from server.keeper import ListingKeeper
from server.library import Library, Rules
from server.pace import Pace
from server.parts import Parts
from server.pins import Pins
from server.policy import Policy
from server.publishing import Publisher
from server.redaction import Redactor
from server.results import ResultStore
from server.semantics import Meanings
from server.telemetry import Sink
from upstream_clients import (
    Endpoint,
    Fleet,
    HeadersHelper,
    JsonObject,
    Launch,
    OpenClawGateway,
    Patience,
    Progress,
    State,
    Target,
    UpstreamError,
    UpstreamRefused,
    UpstreamSpec,
    UpstreamStatus,
    is_loopback,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one gateway keeps for life. `node` is its id among gateways.

    `lazy`: no upstream is started before it is asked for, whatever the settings say.
    """

    library: Library
    keeper: ListingKeeper
    fleet: Fleet
    pace: Pace
    redact: Redactor
    results: ResultStore
    pins: Pins
    meanings: Meanings
    approvals: Approvals
    node: str
    sinks: tuple[Sink, ...]
    lazy: bool
    state: Path


def startable(settings: Settings) -> Mapping[str, ServerEntry]:
    """The upstreams that are to run, by their owner names."""
    return {server.owner: server for server in settings.servers if not server.disabled and not server.problem}


def secrets_of(settings: Settings) -> Iterator[str]:
    return (secret for server in settings.servers for secret in server.secrets)


def rules_of(settings: Settings, pins: Pins, redact: Redactor) -> Rules:
    """What the catalogue is made by under these settings."""
    policy = Policy(settings.servers, settings.gateway)
    judge = Judge(policy, pins, settings.gateway)
    return Rules(redact.listed, judge, ClientTools(settings.gateway.client_tools, policy).added_to, Publisher(settings))


def specs_of(settings: Settings, keeper: ListingKeeper, state: Path, *, lazy: bool) -> list[UpstreamSpec]:
    """How each upstream is run. In the state folder is what we identify ourselves with to a Gateway elsewhere."""
    lazily = lazy or settings.gateway.startup.mode == "lazy"

    def target(server: ServerEntry, idle: float) -> Target:
        line_bytes = settings.gateway.limits.line_bytes
        if server.openclaw is not None:
            return _openclaw(server.openclaw, line_bytes, idle, state)
        if server.remote is not None:
            return _endpoint(server, server.remote, line_bytes, idle)
        return Launch((server.command, *server.args), server.env, server.cwd, line_bytes)

    servers = startable(settings).values()
    return [_spec(server, settings.gateway, keeper, target, lazy=lazily) for server in servers]


def parts_of(settings: Settings, standing: Standing) -> Parts:
    """The gateway's parts under these settings."""
    fleet, keeper, redact = standing.fleet, standing.keeper, standing.redact
    misconfigured = _misconfigured(settings)

    def statuses() -> Mapping[str, UpstreamStatus]:
        return {**misconfigured, **{status.owner: _redacted(status, redact) for status in fleet.statuses()}}

    call = partial(_call, fleet, redact)
    dispatch = partial(_traced, call) if tracing.is_on() else call
    calls = CallPath(dispatch, standing.results, settings.gateway.limits.result_bytes)
    return Parts(
        startable(settings),
        settings.gateway,
        standing.library,
        calls,
        lambda owner: redact.without_known(keeper.instructions(owner)),
        standing.node,
        keeper.gateways,
        statuses,
        fleet.want,
        fleet.is_ready,
        fleet.hurry,
        redact,
        standing.meanings.near,
        standing.pace.called,
        Accesses(settings.gateway),
        Publisher(settings),
        _hook(settings),
        standing.approvals,
        standing.sinks,
    )


def _hook(settings: Settings) -> Hook | None:
    hooks = settings.gateway.hooks
    return Hook(hooks.before_call, settings.hook_env, hooks.timeout_ms / 1000) if hooks.before_call else None


def _spec(
    server: ServerEntry,
    settings: GatewaySettings,
    keeper: ListingKeeper,
    target: Callable[[ServerEntry, float], Target],
    *,
    lazy: bool,
) -> UpstreamSpec:
    limits = settings.limits
    idle = server.timeout_seconds or limits.call_idle_ms / 1000
    total = server.total_timeout_seconds or limits.call_total_ms / 1000
    return UpstreamSpec(
        owner=server.owner,
        target=target(server, idle),
        patience=Patience(idle, total),
        start_seconds=server.start_timeout_seconds or settings.startup.timeout_ms / 1000,
        protocol=server.protocol,
        known_era=keeper.era(server.owner),
        lazy=lazy,
        idle_stop_seconds=_idle_stop(server, settings),
        gateway=server.gateway,
    )


def _idle_stop(server: ServerEntry, settings: GatewaySettings) -> float:
    own = server.idle_stop_seconds
    return settings.startup.idle_stop_seconds if own is None else own


def _endpoint(server: ServerEntry, remote: Remote, message_bytes: int, wait_seconds: float) -> Endpoint:
    helper = HeadersHelper(remote.headers_helper, server.env) if remote.headers_helper else None
    return Endpoint(remote.url, remote.attempts, message_bytes, wait_seconds, remote.headers, helper)


def _openclaw(gateway: OpenClaw, message_bytes: int, wait_seconds: float, state: Path) -> OpenClawGateway:
    return OpenClawGateway(
        url=gateway.url,
        message_bytes=message_bytes,
        wait_seconds=wait_seconds,
        secret=gateway.secret,
        is_password=gateway.is_password,
        session_key=gateway.session_key,
        agent_id=gateway.agent_id,
        allow=frozenset(gateway.allow),
        profile=gateway.profile,
        also_allow=frozenset(gateway.also_allow),
        visibility=gateway.visibility,
        sanitizes=gateway.sanitizes,
        asks_for_schemas=gateway.schemas == "live",
        device_seed=b"" if is_loopback(gateway.url) else device_seed(state),
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
    """`Fleet.call`, with the secrets taken out of what a failure or a progress says: before anything folds or cuts it."""
    if on_progress is not None:
        on_progress = partial(_progressed, redact, on_progress)
    try:
        result = await fleet.call(owner, name, arguments, meta, on_progress)
    except UpstreamError as error:
        error.message, error.hint = redact(error.message), redact(error.hint)
        if isinstance(error, UpstreamRefused) and error.data is not None:
            error.data = redact(json.dumps(error.data, ensure_ascii=False))
        raise
    if "isError" in result and result["isError"] is True:
        return await anyio.to_thread.run_sync(redact.failed, result)
    return result


def _progressed(
    redact: Redactor, on_progress: Progress, progress: float, total: float | None, message: str | None
) -> None:
    on_progress(progress, total, message and redact(message))


async def _traced(
    call: Dispatch,
    owner: str,
    name: str,
    arguments: JsonObject,
    meta: Mapping[str, object],
    on_progress: Progress | None = None,
) -> JsonObject:
    with tracing.call_span(owner, name, meta) as carried:
        return await call(owner, name, arguments, carried, on_progress)


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
