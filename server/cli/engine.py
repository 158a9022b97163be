"""The engine behind the readers and `call`: the gateway itself, whose upstreams are started only when they are asked for.

It decides which upstreams have to be started, waits for them within bounds, and shows a person at a terminal what it waits
for. Searching, describing and calling are the gateway's own: there is no second road here.
"""

import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar

import anyio

from index import NOTHING, Exposure, Match, Near, SearchIndex, Tool, Unresolved
from server.answers import unavailable
from server.app import Hooks, Running, open_gateway
from server.clean import one_line
from server.cli.configured import Configured
from server.cli.exits import ExitCode, Failure
from server.cli.options import Wait
from server.cli.output import Output
from server.cli.progress import StartProgress
from server.client_tools import HOST
from server.config import Settings
from server.errors import GatewayError
from server.keeper import upstream_in
from server.redaction import RedactingFormatter, Redactor
from server.status import describe_upstream
from upstream_clients import JsonObject, State, UpstreamStatus

INDEX_SECONDS: Final = 60.0
"""For the index over everything that has come in; far more than 50,000 tools take."""

WHOLE_RESULT: Final = 4
"""Times the longest line that an upstream may send: no result is longer, however its text is escaped when it is measured."""

ResultT = TypeVar("ResultT")
Work: TypeAlias = Callable[["Engine"], Awaitable[ResultT]]


@dataclass(frozen=True, slots=True)
class Searching:
    """An index, and what goes by meaning beside it: as the gateway searches, and as long as this command likes."""

    index: SearchIndex
    near: Near | None

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The gateway's own hits."""
        return self.index.search(query, limit, self.near)


class Engine:
    """A gateway for one command."""

    def __init__(self, running: Running, settings: Settings, redact: Redactor, progress: StartProgress) -> None:
        self.gateway = running.gateway
        self.redact = redact
        self._running = running
        self._settings = settings
        self._progress = progress

    def __repr__(self) -> str:
        return f"<Engine over {self._running.library!r}>"

    def tools(self) -> tuple[Tool, ...]:
        """Every tool that is known, whatever its exposure."""
        return self._running.library.snapshot.catalog.tools()

    def host_tools(self) -> JsonObject:
        """The tools of the host itself, counted by their exposure."""
        return dict(self._running.library.snapshot.catalog.tallies().get(HOST, NOTHING).exposures)

    def described_upstream(self, status: UpstreamStatus) -> JsonObject:
        """One upstream and what it has, as `status` and `list` show it."""
        return describe_upstream(status, self._running.library.snapshot.catalog.tallies().get(status.owner, NOTHING))

    def statuses(self) -> Mapping[str, UpstreamStatus]:
        """Every upstream that is not disabled, by its owner name, without the configuration's secrets."""
        return self._running.statuses()

    def startable(self) -> frozenset[str]:
        """The upstreams that can be started; those that are misconfigured are not among them."""
        return frozenset(status.owner for status in self._running.fleet.statuses())

    def unlisted(self) -> frozenset[str]:
        """The upstreams of which no listing is known, live or stored."""
        return self.startable() - self._running.library.snapshot.listed

    def is_unlisted(self, owner: str) -> bool:
        """Whether no listing of this upstream is known, be it that it cannot be started at all."""
        return owner not in self._running.library.snapshot.listed

    async def bring_up(self, owners: Iterable[str], wait: Wait) -> None:
        """Starts these upstreams and waits until each is ready or has failed; then their tools can be looked up."""
        wanted, fleet = sorted(owners), self._running.fleet
        if not wanted:
            return
        for owner in wanted:
            fleet.want(owner)
        with self._progress.waiting_for(wanted), anyio.move_on_after(self._seconds(wait)):
            await fleet.settled(wanted)
        await self._running.library.caught_up()

    async def index(self) -> "Searching":
        """What a search goes by, once it covers every tool that is known."""
        with anyio.move_on_after(INDEX_SECONDS):
            await self._running.library.indexed()
            await self._running.meanings.caught_up()
        return Searching(self._running.library.snapshot.index or SearchIndex.build(()), self._running.meanings.near())

    async def find(self, reference: str, wait: Wait, *, live: bool) -> Tool:
        """The tool of an id or a unique bare name; `live`: its upstream is started, whatever is known of it.

        Raises:
            Failure: there is no such tool, it can't be told yet, or its upstream is down.
        """
        found = self._resolve(reference)
        if isinstance(found, Unresolved):
            starts = frozenset() if found.ambiguous else self._starts_for(reference)
        else:
            starts = (frozenset({found.upstream}) & self.startable()) if live or wait.refresh else frozenset()
        if starts:
            await self.bring_up(starts, wait)
            found = self._resolve(reference)
        if isinstance(found, Unresolved):
            raise self._not_found(found, starts)
        if live and found.upstream in self.still_starting():
            raise still_starting(f"{found.id} was not called", [found.upstream])
        return found

    def still_starting(self) -> list[str]:
        """The upstreams whose first start is under way."""
        return [owner for owner, status in self.statuses().items() if is_starting(status)]

    def _resolve(self, reference: str) -> Tool | Unresolved:
        return self._running.library.snapshot.catalog.resolve(reference)

    def _starts_for(self, reference: str) -> frozenset[str]:
        """What may have a tool that is not known: the upstream that the id names, else all of which nothing is known."""
        named = upstream_in(reference)
        if named in self.startable():
            return frozenset({named})
        return frozenset() if named in self.statuses() else self.unlisted()

    def _not_found(self, unresolved: Unresolved, started: frozenset[str]) -> Failure:
        reference, candidates = unresolved.reference[:80], unresolved.candidates
        named = self.statuses().get(upstream_in(reference))
        if named is not None and has_failed(named) and named.owner not in self._running.library.snapshot.listed:
            return down(named)
        starting = sorted(started & set(self.still_starting()))
        if starting:
            return still_starting(f"There is no tool {reference!r} yet", starting)
        known = self._running.library.snapshot.catalog.get(unresolved.reference)
        if known is not None and known.exposure is Exposure.UNAVAILABLE:
            error = unavailable(known)
        elif unresolved.ambiguous:
            error = GatewayError("ambiguous_tool", f"{reference!r} names several tools.", f"Use {_either(candidates)}.")
        else:
            hint = f"Did you mean {_either(candidates)}?" if candidates else "Find its id: toolfold search WORDS"
            error = GatewayError("unknown_tool", f"There is no tool {reference!r}.", hint)
        return Failure(ExitCode.UNKNOWN_ID, error, candidates)

    def _seconds(self, wait: Wait) -> float:
        return wait.within(self._settings.gateway.startup.timeout_ms / 1000)


def is_starting(status: UpstreamStatus) -> bool:
    """Whether its first start is under way; one that has failed and is tried again has failed."""
    return status.state in (State.WAITING, State.STARTING) and status.down_since is None


def has_failed(status: UpstreamStatus) -> bool:
    """Whether it can't be used, misconfigured ones included."""
    return status.state is State.DOWN or status.down_since is not None


def still_starting(what: str, owners: Iterable[str]) -> Failure:
    """The failure of what has to wait for these upstreams."""
    names = ", ".join(owners)
    error = GatewayError(
        "still_starting", f"{what}; still starting: {names}.", "Try again, or wait longer with --wait."
    )
    return Failure(ExitCode.STILL_STARTING, error)


def down(status: UpstreamStatus) -> Failure:
    """The failure of what needs this upstream."""
    hint = status.hint or f"See `toolfold check {status.owner} --probe`."
    return Failure(
        ExitCode.FAILED,
        GatewayError("upstream_down", f"{status.owner} is down: {one_line(status.error, 500).rstrip('.')}.", hint),
    )


def run(found: Configured, output: Output, work: Work[ResultT]) -> ResultT:
    """Does the work with an engine, and ends all that it started before it returns. Raises the work's Failure."""
    settings = _for_a_person(found.settings)
    redact = Redactor(secret for server in settings.servers for secret in server.secrets)
    _log_to_stderr(redact)

    async def with_engine() -> ResultT | Failure:
        progress = StartProgress(output.talk)
        async with open_gateway(settings, found.directories, Hooks(on_status=progress.on_status), lazy=True) as running:
            try:
                return await work(Engine(running, settings, redact, progress))
            except Failure as failure:  # returned, because task groups wrap up what passes through them
                return failure

    outcome = anyio.run(with_engine)
    if isinstance(outcome, Failure):
        raise outcome
    return outcome


def _for_a_person(settings: Settings) -> Settings:
    """A result is printed whole: what a host would read on for ten minutes is gone when the command ends."""
    limits = settings.gateway.limits
    whole = limits.model_copy(update={"result_bytes": limits.line_bytes * WHOLE_RESULT})
    return replace(settings, gateway=settings.gateway.model_copy(update={"limits": whole}))


def _either(candidates: Iterable[str]) -> str:
    return " or ".join(one_line(candidate, 200) for candidate in candidates)


def _log_to_stderr(redact: Redactor) -> None:
    handler = _StderrHandler()
    handler.setFormatter(RedactingFormatter(redact))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class _StderrHandler(logging.Handler):
    """Writes to standard error as it is at the time: a progress bar puts itself in between while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)
