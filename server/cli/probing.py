"""`check`: what is wrong with tools, as they are known by their stored listings. With `--probe` it starts every upstream for
real, and turns what fails into findings, too.

What an upstream printed is shown without the configuration's secrets, and only its last lines.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from index import Exposure, Tool
from server.clean import one_line
from server.cli.engine import Engine, has_failed
from server.cli.options import Wait
from server.cli.remedies import remedy
from server.cli.rendering import REASON_CHARACTERS
from server.config import Finding, ServerEntry
from server.keeper import upstream_in
from server.redaction import Redactor
from upstream_clients import JsonObject, State, UpstreamStatus

LAST_LINES: Final = 12
"""The end of a stack trace: the error, and where it was raised."""

LINE_CHARACTERS: Final = 300

CUT_FROM: Final = 4000
"""Characters that are kept of a server's last words. Of that many the first line may be the tail of a secret."""

OLD_SERVER: Final = re.compile(
    r"'Server' object has no attribute '(?:list|call|read|get|set|subscribe|unsubscribe|complet|progress|run|request)\w*'"
    r"|No module named 'mcp\.server\.fastmcp'"
    r"|cannot import name '\w+' from 'mcp(?:\.\w+)*'"
    r"|module 'mcp(?:\.\w+)*' has no attribute '\w+'"
)
"""What a server says that was written for version 1 of the MCP Python SDK and got version 2."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finding, and for an upstream that failed what it printed last."""

    finding: Finding
    last_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probed:
    """How all that was started fared."""

    reports: tuple[Report, ...]
    upstreams: tuple[JsonObject, ...]


async def probe(engine: Engine, servers: Iterable[ServerEntry], wait: Wait) -> Probed:
    """Starts these entries' upstreams and waits for them."""
    entries = {server.owner: server for server in servers if not server.disabled}
    await engine.bring_up(engine.startable() & entries.keys(), wait)
    statuses = {owner: status for owner, status in engine.statuses().items() if owner in entries}
    failures = tuple(_failures(statuses.values(), entries, engine.redact))
    return Probed(failures, tuple(engine.described_upstream(status) for status in statuses.values()))


def unusable(engine: Engine, owner: str | None) -> tuple[Report, ...]:
    """What is to be said of the tools that are known: of one upstream, or of all with those of the host."""
    tools = [tool for tool in engine.tools() if owner in (None, tool.upstream)]
    return (
        *(Report(_warned(tool)) for tool in tools if tool.warning),
        *(Report(_quarantined(tool)) for tool in tools if tool.exposure is Exposure.QUARANTINED and not tool.warning),
    )


def absent(engine: Engine, ids: Iterable[str]) -> Iterator[Report]:
    """What is to be said of ids of `directory.schemas` that no tool has, of upstreams whose tools are known."""
    known = {tool.id for tool in engine.tools()}
    for one in ids:
        owner = upstream_in(one)
        if owner and one not in known and not engine.is_unlisted(owner):
            message = f"`{one_line(one, LINE_CHARACTERS)}` is the id of no tool: nothing is published for it."
            where, fix = "gateway.toolSearch.directory.schemas", f"Take one of these: toolfold list {owner}"
            yield Report(Finding("warning", "unknown_tool", where, message, fix))


def _failures(
    statuses: Iterable[UpstreamStatus], entries: Mapping[str, ServerEntry], redact: Redactor
) -> Iterator[Report]:
    for status in statuses:
        server = entries[status.owner]
        if server.problem or status.state in (State.READY, State.ASLEEP):
            continue  # what is misconfigured is a finding of the configuration already
        if not has_failed(status):
            fix = "Wait longer with --wait, or start it by hand to see what it does."
            yield Report(Finding("error", "still_starting", server.where, "It is not ready yet.", fix))
        elif OLD_SERVER.search(status.last_words):
            message = "It does not start: it was written for version 1 of the MCP Python SDK, and runs with version 2."
            fix = _older_sdk(server, redact)
            yield Report(
                Finding("error", "old_server_new_sdk", server.where, message, fix), _last_lines(status.last_words)
            )
        else:
            message = f"It does not start: {one_line(status.error, LINE_CHARACTERS)}."
            fix = status.hint or "Mend what it complains about, or start it by hand to see more."
            yield Report(Finding("error", "does_not_start", server.where, message, fix), _last_lines(status.last_words))


def _older_sdk(server: ServerEntry, redact: Redactor) -> str:
    if PurePath(server.command).stem == "uvx":
        command = shlex.join(["uvx", "--with", "mcp<2", *map(redact, server.args)])
        return f"Start it with the SDK that it knows: {one_line(command, LINE_CHARACTERS)}"
    return "Give it the SDK that it knows: uvx --with 'mcp<2' PACKAGE, or `pip install 'mcp<2'` where it is installed."


def _quarantined(tool: Tool) -> Finding:
    message = f"This tool cannot be used: {one_line(tool.reason, REASON_CHARACTERS)}."
    fix = f"{remedy(tool)} Other tools are not affected."
    return Finding("warning", "quarantined_tool", one_line(tool.id, LINE_CHARACTERS), message, fix)


def _warned(tool: Tool) -> Finding:
    held = "It is held back. " if tool.exposure is Exposure.QUARANTINED else ""
    message = f"{held}{tool.warning[0].upper()}{tool.warning[1:]}."
    return Finding("warning", "not_accepted", tool.id, message, remedy(tool))


def _last_lines(last_words: str) -> tuple[str, ...]:
    lines = last_words.splitlines()[1 if len(last_words) >= CUT_FROM else 0 :]
    return tuple(line for line in (one_line(line, LINE_CHARACTERS) for line in lines) if line)[-LAST_LINES:]
