"""`toolfold stats` and `toolfold log`: what hosts and models did, from the session logs of this user's gateways.

The logs are where the configuration has them written. Without one they are where the defaults have them.
"""

import time
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from server.clean import one_line
from server.cli.billing import NOTHING_FOLDED, UNFOLDED
from server.cli.configured import configured
from server.cli.documents import inner, members, number, text, words
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson, ConfigFiles
from server.cli.output import Output, reporting
from server.cli.sessions import OPERATIONS, read_records, summaries
from server.config import LogSettings, directories, find_config, read_environment
from server.errors import GatewayError
from server.session_log import log_folder
from upstream_clients import JsonObject

ID_CHARACTERS = 220

Folder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--dir", metavar="FOLDER", show_default="gateway.log.sessionDir", help="Where the logs are, if elsewhere."
    ),
]


def stats(
    last: Annotated[int, typer.Option("-n", "--last", metavar="N", min=1, help="How many sessions, the newest.")] = 1,
    config: ConfigFiles = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model was shown up front, what it asked and called, and whether folding its tools has paid."""
    with reporting(as_json=as_json, config=config) as output:
        found = summaries(_records(config, folder))[-last:]
        if as_json:
            output.json({"sessions": found})
            return
        if not found:
            output.say("No session has been logged yet: `toolfold serve` writes the logs.")
        for one in found:
            _show(one, output)


def log(
    last: Annotated[int, typer.Option("-n", "--last", metavar="N", min=1, help="How many events, the newest.")] = 50,
    config: ConfigFiles = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show what was searched, described and called, event by event. No log holds queries, arguments or results."""
    with reporting(as_json=as_json, config=config) as output:
        events = [record for record in _records(config, folder) if record.get("kind") != "session"][-last:]
        if as_json:
            output.json({"events": events})
        elif events:
            output.records(("when", "what", "outcome", "ms", "bytes", "tools"), [_row(event) for event in events])
        else:
            output.say("Nothing has been logged yet: `toolfold serve` writes the logs.")


def _records(config: list[Path] | None, folder: Path | None) -> list[JsonObject]:
    try:
        return list(read_records(folder or _logs_of(config or [])))
    except OSError as error:
        why = GatewayError("unreadable", f"The logs can't be read: {error.strerror}.", "Name their folder with --dir.")
        raise Failure(ExitCode.FAILED, why) from None


def _logs_of(config: list[Path]) -> Path:
    environ = read_environment()
    if not config and find_config(environ, Path.cwd()) is None:
        settings, places = LogSettings(), directories(environ)
    else:
        found = configured(config)
        settings, places = found.settings.gateway.log, found.directories
    folder = log_folder(settings, places)
    if folder is None:
        why = GatewayError(
            "no_logs", "gateway.log.sessionDir is false: no session is logged.", "Take it out, or give --dir."
        )
        raise Failure(ExitCode.FAILED, why)
    return folder


def _row(event: JsonObject) -> tuple[str, ...]:
    kind = text(event, "kind")
    if kind == "published":
        what = f"{number(event, 'tools') or 0:g} of {number(event, 'catalogue') or 0:g} tools"
        return (_when(event), "published", text(event, "mode"), "", _count(number(event, "bytes")), what)
    ids = ", ".join(one_line(one, ID_CHARACTERS) for one in words(event, "ids"))
    via = text(event, "via")
    what = kind if via == "tools" else f"{kind} ({via})"
    milliseconds = f"{number(event, 'ms') or 0:.1f}"
    return (_when(event), what, text(event, "outcome"), milliseconds, _count(number(event, "bytes")), ids)


def _show(session: JsonObject, output: Output) -> None:
    up_front, catalogue = inner(session, "up_front"), inner(session, "catalogue")
    output.line(f"Session {text(session, 'session')} · mode {text(session, 'mode')}", "bold cyan")
    if why := text(session, "why"):
        output.block(f"chosen because {why}", style="dim")
    counts, took = inner(session, "counts"), inner(session, "ms")
    asked = [f"{counts[kind]} {_plural(kind, counts[kind])}" for kind in OPERATIONS if counts.get(kind)]
    published = number(up_front, "tools")
    slow = [f"{kind} {took[kind]} ms" for kind in OPERATIONS if took.get(kind) is not None]
    output.records(
        ("", ""),
        [
            ("shown up front", f"{_count(published)} {_plural('schema', published)}, {_size(up_front)}"),
            ("catalogue", f"{_count(number(catalogue, 'tools'))} tools ({_sources(catalogue)})"),
            ("asked", ", ".join(asked) or "nothing"),
            ("results came from", _sources(session) or "nowhere"),
            ("medians", ", ".join(slow) or "none"),
        ],
    )
    if called := members(session, "called"):
        output.line()
        output.records(("called", "times", "failed", "ms"), [_called(one) for one in called])
    output.line()
    _show_bill(session, output)
    output.line()


def _called(one: JsonObject) -> tuple[str, ...]:
    milliseconds = number(one, "ms")
    return (
        one_line(text(one, "id"), ID_CHARACTERS),
        _count(number(one, "calls")),
        _count(number(one, "failed")),
        "" if milliseconds is None else f"{milliseconds:g}",
    )


def _show_bill(session: JsonObject, output: Output) -> None:
    bill = inner(session, "bill")
    rows = {
        "every schema up front": "direct",
        "published up front": "up_front",
        "answers of searches": "searches",
        "answers of describes": "describes",
        "answers of code, without results": "code",
        "all that was read instead": "total",
    }
    parts = {label: inner(bill, key) for label, key in rows.items()}
    cells = [(label, _count(number(part, "bytes")), _count(number(part, "tokens"))) for label, part in parts.items()]
    output.records(("in the model's context", "bytes", "≈ tokens"), cells)
    saved = number(inner(bill, "saved"), "tokens") or 0
    if bill.get("folding_pays"):
        output.line(f"Folding has saved about {saved:,.0f} tokens.", "green")
    elif text(session, "mode") == UNFOLDED:
        output.line(NOTHING_FOLDED)
    else:
        output.line(
            f"Folding has not paid: it cost about {-saved:,.0f} tokens more than every schema up front. "
            'Mode "auto" or false is cheaper for so few tools.',
            "yellow",
        )


def _sources(document: JsonObject) -> str:
    return ", ".join(f"{source} {count}" for source, count in inner(document, "sources").items())


def _size(cost: JsonObject) -> str:
    return f"{_count(number(cost, 'bytes'))} bytes, ≈ {_count(number(cost, 'tokens'))} tokens"


def _plural(kind: str, count: object) -> str:
    if kind == "code":
        return "run of code" if count == 1 else "runs of code"
    return kind if count == 1 else "searches" if kind == "search" else f"{kind}s"


def _count(value: float | None) -> str:
    return f"{value or 0:,.0f}"


def _when(event: JsonObject) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(number(event, "at") or 0))
    except (OverflowError, ValueError, OSError):  # a damaged line: no clock has shown that
        return "?"
