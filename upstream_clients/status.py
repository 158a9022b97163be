"""What is known of an upstream from outside: how to run it, what it lists, how it fares. Values only."""

from dataclasses import dataclass, replace
from enum import StrEnum

from upstream_clients.connection import Target
from upstream_clients.era import Era, Greeting, Protocol
from upstream_clients.errors import UpstreamDown, UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.peer import Patience


class State(StrEnum):
    """Where an upstream is. From IDLE it goes to WAITING, STARTING and READY, from there to ASLEEP or DOWN, from STARTING
    to DOWN if that fails, and from READY to WAITING where its server has forgotten the session. ASLEEP and DOWN lead to
    WAITING again, and every state to STOPPED.
    """

    IDLE = "idle"  # lazy, and nobody has asked for it yet
    WAITING = "waiting"  # for a start slot
    STARTING = "starting"
    READY = "ready"
    ASLEEP = "asleep"  # it was stopped because nobody used it; a call starts it again
    DOWN = "down"  # its last try failed; the next is timed
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class UpstreamSpec:
    """What the owner task needs to know. `owner` names the upstream in ids and messages.

    `lazy`: it is started by whoever needs it first. `idle_stop_seconds`: without a call for so long it is stopped until
    the next one; 0 for never. `gateway`: whether it is one; None if that is to be found out.
    """

    owner: str
    target: Target
    patience: Patience
    start_seconds: float = 60.0
    protocol: Protocol = "legacy"
    known_era: Era | None = None
    lazy: bool = False
    idle_stop_seconds: float = 0.0
    gateway: bool | None = None


@dataclass(frozen=True, slots=True)
class UpstreamListing:
    """A complete live listing, raw, and what the server said of itself. `gateway` is its id, if it is one."""

    owner: str
    tools: tuple[JsonObject, ...]
    greeting: Greeting
    gateway: str = ""


@dataclass(frozen=True, slots=True)
class UpstreamStatus:
    """A snapshot for people and machines. Times are seconds since the epoch.

    `last_words` is the end of its standard error at the last failure: untrusted, and it may hold secrets.
    """

    owner: str
    state: State
    since: float
    error: str = ""
    hint: str = ""
    tools: int | None = None
    starts: int = 0
    down_since: float | None = None
    next_try: float | None = None
    pid: int | None = None
    protocol_version: str = ""
    last_words: str = ""

    def ready(self, tools: int, protocol_version: str) -> "UpstreamStatus":
        """What follows a listing: nothing is left of an earlier failure."""
        healthy = replace(self, error="", hint="", last_words="", down_since=None)
        return replace(healthy, state=State.READY, tools=tools, protocol_version=protocol_version)

    def failed(self, error: UpstreamError, now: float, delay: float) -> "UpstreamStatus":
        """What follows a try that failed; the next one is after `delay` seconds."""
        why = replace(self, error=error.message, hint=error.hint, last_words=error.last_words, pid=None)
        return replace(why, state=State.DOWN, down_since=self.down_since or now, next_try=now + delay)

    def refusal(self, now: float) -> UpstreamDown:
        """What a call is told that found no connection."""
        if self.state is State.STOPPED:
            return UpstreamDown("it was stopped, because the gateway ends")
        if self.down_since is None:
            return UpstreamDown("it is still starting", hint="Try again in a few seconds.")
        retry = "" if self.next_try is None else f"; it is tried again in {max(0.0, self.next_try - now):.0f} s"
        return UpstreamDown(
            f"it has been down for {max(0.0, now - self.down_since):.0f} s: {self.error}{retry}",
            hint=self.hint or "Run `toolfold check` to see what it needs.",
        )
