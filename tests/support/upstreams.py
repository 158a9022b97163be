"""Upstreams for tests: real processes that do what a test tells them (`scripted_server.py`), and how to configure them.

A test says everything in options: `entry(does={"slow": [{"do": "progress", "steps": 3}, {"do": "text", "text": "done"}]})`
is an entry of `mcpServers` with one tool, that shows progress three times and then answers. The steps are those
in `scripted_server` (RESULTS, LINES, DEEDS). A tool without a script echoes its `text` argument, or all its arguments.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypedDict, Unpack

from upstream_clients import Launch, Patience, UpstreamSpec

SCRIPT: Final = Path(__file__).with_name("scripted_server.py")

Script: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]]
"""One step, or several: `{"do": NAME, …the step's own options}`."""


class Options(TypedDict, total=False):
    """What a scripted server can be told. Paths are strings."""

    name: str
    tools: int | Sequence[Mapping[str, object]]  # how many realistic ones, or the raw definitions
    tools_file: str  # raw definitions, read from this JSON file at every start
    does: Mapping[str, Script]  # by tool; a tool that is only named here is listed too, with a plain definition
    on: Mapping[str, Script]  # by method: plays this instead of answering ("initialize", "tools/list", …)
    instructions: str
    protocol_version: str
    era: Literal["legacy", "modern"]
    supported_versions: Sequence[str]
    page_size: int
    repeating_cursor: bool
    endless_pages: bool
    no_tools: bool  # tools/list is an unknown method
    log: str  # every message received is appended to this file, one a line: see `received`
    starts: str  # the process id is appended to this file at every start
    marker: str  # only to be found again in the command line, its own and its children's
    start_delay: float
    hang: bool  # never reads anything
    exit: int  # ends at once with this code
    exit_while: str  # ends at once with code 7 while this file exists
    stderr: str  # printed at start
    junk_before: Sequence[str]  # lines on standard output before the handshake
    junk_after: Sequence[str]  # and right after it
    ignore_eof: bool
    ignore_sigterm: bool
    # Processes that ignore signals: with the pipes, without them, or with them in a session of their own.
    children: Sequence[Literal["holding", "detached", "escaped"]]


def command(**options: Unpack[Options]) -> list[str]:
    """The command line of a scripted server."""
    return [sys.executable, "-I", "-S", str(SCRIPT), json.dumps(options)]


def entry(**options: Unpack[Options]) -> dict[str, object]:
    """An entry of `mcpServers`."""
    program, *arguments = command(**options)
    return {"command": program, "args": arguments}


def spec(owner: str, **options: Unpack[Options]) -> UpstreamSpec:
    """What `open_fleet` takes. Change other fields with `dataclasses.replace`."""
    launch = Launch(tuple(command(**options)), dict(os.environ), None, line_bytes=4 << 20)
    return UpstreamSpec(owner, launch, Patience(idle=30, total=60), start_seconds=30)


def write_config(
    folder: Path, servers: Mapping[str, Mapping[str, object]], gateway: Mapping[str, object] | None = None
) -> Path:
    """Writes an `mcp.json` that only this user may read."""
    document: dict[str, object] = {"mcpServers": servers}
    if gateway is not None:
        document["gateway"] = gateway
    path = folder / "mcp.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def received(log: Path | str) -> list[dict[str, object]]:
    """The messages that a scripted server with the option `log` has received so far, over all its starts."""
    path = Path(log)
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]
