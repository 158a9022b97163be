"""`toolfold trust`: which tools are not what was accepted, how they differ, and their acceptance by a person."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from itertools import islice
from typing import Annotated, Final

import typer

from index import Tool
from server.clean import escaped
from server.cli import rendering
from server.cli.configured import Configured, answered
from server.cli.engine import Engine, run
from server.cli.exits import ExitCode, Failure
from server.cli.options import FLAG, AsJson, ConfigFiles, Refresh, Wait, WaitSeconds
from server.cli.output import reporting
from server.cli.upstreams import enabled_owner
from server.errors import GatewayError
from server.pins import PinnedUpstream, Pins, pinned
from upstream_clients import JsonObject

CONTEXT_LINES: Final = 2
"""Around a changed line of a definition: enough to see which parameter it belongs to."""

HEADING_LINES: Final = 2
"""Of a difference: the names of what is compared. A line of a definition may look the same."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One tool that is not what was accepted. `before` is what was, or None where nothing was."""

    upstream: PinnedUpstream
    tool: Tool = field(repr=False)
    before: JsonObject | None = field(repr=False)

    def described(self) -> JsonObject:
        return {
            "id": self.tool.id,
            "upstream": self.tool.upstream,
            "warning": self.tool.warning,
            "exposure": str(self.tool.exposure),
            "before": self.before,
            "after": pinned(self.tool.definition),
            "difference": list(_difference(self.before, pinned(self.tool.definition))),
        }


def trust(
    upstream: Annotated[
        str | None, typer.Argument(metavar="UPSTREAM", help="Only the tools of this upstream.", show_default=False)
    ] = None,
    tools: Annotated[
        list[str] | None, typer.Argument(metavar="TOOL", help="Only these tools of it.", show_default=False)
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", metavar=FLAG, help="Accept what is shown without asking.")
    ] = False,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    refresh: Refresh = False,
    as_json: AsJson = False,
) -> None:
    """Show which tools are not what was accepted of their upstream and how they differ, and accept them.

    The tools that an upstream lists first are accepted by themselves, suspicious ones apart. Those, and what it adds
    or changes later, are pointed out, and held back where `gateway.pins` is "strict", until they are accepted here.
    Gateways that run take note within seconds.
    With --json nothing is accepted unless --yes is there too.
    """
    with reporting(as_json=as_json, config=config) as output:
        found = answered(config or [], upstream or "")
        owner = None if upstream is None else enabled_owner(upstream, found.settings)
        look = partial(_look, found=found, owner=owner, names=frozenset(tools or ()), wait=Wait(wait, refresh))
        departures = run(found, output, look)
        described = [departure.described() for departure in departures]
        if not as_json:
            rendering.departures(described, output)
        accepted = bool(departures) and (yes or (not as_json and _is_agreed(departures)))
        if accepted:
            _accept(Pins(found.directories.state), departures)
        if as_json:
            output.json({"tools": described, "accepted": accepted})
        elif departures:
            output.say("Accepted." if accepted else "Nothing was accepted.")


async def _look(
    engine: Engine, found: Configured, owner: str | None, names: frozenset[str], wait: Wait
) -> tuple[Departure, ...]:
    chosen = engine.startable() if owner is None else engine.startable() & {owner}
    await engine.bring_up(chosen if wait.refresh else chosen & engine.unlisted(), wait)
    own = [tool for tool in engine.tools() if owner in (None, tool.upstream)]
    if unknown := names - {tool.name for tool in own}:
        error = GatewayError(
            "unknown_tool", f"{owner} has no tool {min(unknown)!r}.", f"See `toolfold list {owner or ''}`."
        )
        raise Failure(ExitCode.UNKNOWN_ID, error)
    departed = [tool for tool in own if tool.warning and (not names or tool.name in names)]
    return tuple(_departures(departed, found))


def _departures(tools: Sequence[Tool], found: Configured) -> Iterator[Departure]:
    pins = Pins(found.directories.state)
    for server in found.settings.servers:
        upstream = PinnedUpstream(server.owner, server.fingerprint)
        if own := [tool for tool in tools if tool.upstream == server.owner]:
            known = pins.definitions(upstream)
            yield from (Departure(upstream, tool, known.get(tool.name)) for tool in own)


def _is_agreed(departures: Sequence[Departure]) -> bool:
    """Asks the person at the terminal.

    Raises:
        Failure: there is none.
    """
    if not sys.stdin.isatty():
        owners = sorted({departure.tool.upstream for departure in departures})
        hint = f"Read what is shown, then run `toolfold trust {owners[0] if len(owners) == 1 else ''} --yes`."
        error = GatewayError("not_accepted", "Nothing was accepted: nobody can be asked.", hint.replace("  ", " "))
        raise Failure(ExitCode.FAILED, error)
    return typer.confirm(f"Accept {len(departures)} tool{'' if len(departures) == 1 else 's'} as shown?", err=True)


def _accept(pins: Pins, departures: Sequence[Departure]) -> None:
    for upstream in dict.fromkeys(departure.upstream for departure in departures):
        own = [departure.tool.definition for departure in departures if departure.upstream == upstream]
        try:
            pins.accept(upstream, own)
        except OSError as error:
            failure = GatewayError("not_stored", f"It could not be written down ({error.strerror}).")
            raise Failure(ExitCode.FAILED, failure) from None


def _difference(before: JsonObject | None, after: JsonObject) -> Iterator[str]:
    """The lines of a unified diff, without its heading; every line where nothing was accepted before."""
    lines = unified_diff(_lines(before or {}), _lines(after), n=CONTEXT_LINES, lineterm="")
    return (line for line in islice(lines, HEADING_LINES, None) if not line.startswith("@@"))


def _lines(definition: JsonObject) -> list[str]:
    """One line a value; a text with several lines stands in as many."""
    text = escaped(json.dumps(definition, indent=2, ensure_ascii=False, sort_keys=True)) if definition else ""
    return [part for line in text.splitlines() for part in line.replace("\\n", "\\n\n").splitlines()]
