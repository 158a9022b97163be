"""How the readers' documents look to a person. Takes plain documents, and cleans what in them is an upstream's text."""

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Final

from index import Exposure, signature
from server.clean import escaped, one_line, paragraphs
from server.cli.documents import inner, members, number, text, words
from server.cli.output import GAP, Output
from server.client_tools import CLIENT
from upstream_clients import JsonObject

ID_CHARACTERS: Final = 220
"""An id that was admitted is shorter; a quarantined tool's name may be anything."""

REASON_CHARACTERS: Final = 600
"""Enough for one that names another tool by its id."""

HOST_HEADING: Final = "the host's own (gateway.clientTools)"
DESCRIPTION_CHARACTERS: Final = 4000
COMMAND_CHARACTERS: Final = 2000
ARGUMENTS: Final = 100
"""Arguments of one tool that are shown; `--json` has them all."""

DIFFERENCE_LINES: Final = 400
"""Of one tool; `--json` has the whole."""

DIFFERENCE_STYLES: Final[Mapping[str, str]] = {"-": "red", "+": "green"}
HINTS: Final[Mapping[str, str]] = {
    "readOnlyHint": "it only reads",
    "destructiveHint": "it may destroy or overwrite",
    "idempotentHint": "calling it twice is as good as once",
    "openWorldHint": "it reaches out of this machine",
}
PLAIN_TYPES: Final = ("string", "integer", "number", "boolean")
STYLES: Final[Mapping[str, str]] = {"error": "bold red", "warning": "bold yellow"}


def listing(document: JsonObject, output: Output) -> None:
    """`toolfold list`: a heading for each upstream, and its tools below; those of the host itself last."""
    upstreams, tools = members(document, "upstreams"), members(document, "tools")
    for upstream in upstreams:
        own = [tool for tool in tools if tool.get("upstream") == text(upstream, "upstream")]
        _listed(_heading(upstream, own), own, output)
    if host := inner(document, "host"):
        own = [tool for tool in tools if tool.get("source") == CLIENT]
        _listed(_heading({"upstream": HOST_HEADING, **host}, own), own, output)
    if not upstreams:
        output.say("No upstream is configured, or all are disabled.")


def _listed(heading: str, tools: list[JsonObject], output: Output) -> None:
    output.line(heading, "bold cyan")
    if tools:
        output.records(("", ""), [_tool_row(tool) for tool in tools])
    output.line()


def description(document: JsonObject, warning: str, output: Output) -> None:
    """`toolfold describe`: one tool, and what is odd about it."""
    tool = inner(document, "tool")
    output.line(text(document, "id"), "bold")
    if text(document, "label") != text(document, "name"):
        output.block(text(document, "label"))
    output.block(paragraphs(text(tool, "description"), DESCRIPTION_CHARACTERS).strip() or "It has no description.")
    schema = inner(tool, "inputSchema")
    if arguments := _arguments(schema):
        output.line()
        output.records(("argument", "type", "needed", ""), arguments)
    output.line()
    annotations = inner(tool, "annotations")
    if told := [meaning for name, meaning in HINTS.items() if annotations.get(name) is True]:
        output.line(f"Its server says: {', '.join(told)}")
    if policy := text(document, "policy"):
        output.block(f"Policy: {policy}", style="yellow")
    if warning:
        output.block(f"Look at it first: {warning} (see `toolfold trust`)", style="yellow")
    if text(document, "source") == CLIENT:
        output.line(f"The host runs it itself, as {text(document, 'name')}: it cannot be called here.")
        return
    output.line(f"Run it: {_example(text(document, 'id'), schema)}{output.given}")
    _upstream(document, output)


def _upstream(document: JsonObject, output: Output) -> None:
    upstream, told = inner(document, "upstream"), inner(document, "upstream_instructions")
    stored = ", read from its stored listing" if document.get("cached") else ""
    output.line(f"Upstream: {text(document, 'owner')}, {text(upstream, 'state')}{stored}")
    if why := text(upstream, "error"):
        output.block(why, GAP)
    if told:
        output.line()
        output.line(text(told, "note"), "dim")
        output.block(text(told, "text"), GAP)


def _heading(upstream: JsonObject, tools: list[JsonObject]) -> str:
    counts = inner(upstream, "tools")
    hidden = counts.get(str(Exposure.HIDDEN), 0)
    usable = [tool for tool in tools if tool.get("exposure") != Exposure.HIDDEN]
    parts = [f"{len(usable)} tool{'' if len(usable) == 1 else 's'}"] if counts else []
    parts += [f"{hidden} hidden by the configuration{'' if len(usable) < len(tools) else ' (--all)'}"] if hidden else []
    parts += ["stored listing"] if upstream.get("cached") else []
    if upstream.get("state") != "idle" and (why := text(upstream, "error")):
        more = f"`toolfold check {text(upstream, 'upstream')} --probe` says more"
        parts.append(f"{text(upstream, 'state')}: {one_line(why, REASON_CHARACTERS)} ({more})")
    return " · ".join([text(upstream, "upstream"), *(parts or [text(upstream, "state")])])


def _tool_row(tool: JsonObject) -> tuple[str, str]:
    what, exposure, reason = text(tool, "description"), text(tool, "exposure"), text(tool, "reason")
    if exposure in (Exposure.QUARANTINED, Exposure.UNAVAILABLE):
        fix = text(tool, "fix")
        what = f"{exposure}: {one_line(reason, REASON_CHARACTERS)}" + (f" → {fix}" if fix else "")
    elif exposure == Exposure.HIDDEN:
        what = f"(hidden: {one_line(reason, REASON_CHARACTERS)}) {what}".rstrip()
    elif warning := text(tool, "warning"):
        what = f"({warning}: see `toolfold trust`) {what}"
    elif exposure == Exposure.DIRECT:
        what = f"(direct) {what}"
    return one_line(escaped(text(tool, "id")), ID_CHARACTERS), what


def _arguments(schema: JsonObject) -> list[tuple[str, str, str, str]]:
    needed = words(schema, "required")
    rows = []
    for name, said in list(inner(schema, "properties").items())[:ARGUMENTS]:
        what = one_line(text(said, "description"), REASON_CHARACTERS) if isinstance(said, dict) else ""
        rows.append((one_line(name, 60), _type_of(said), "yes" if name in needed else "", what))
    return rows


def _type_of(schema: object) -> str:
    """A plain type by its name, any other as a signature says it: out of that of a tool with only this argument."""
    kind = schema.get("type") if isinstance(schema, dict) and "enum" not in schema else None
    if kind in PLAIN_TYPES:
        return str(kind)
    said = signature({"type": "object", "properties": {"a": schema}, "required": ["a"]})
    return one_line(said.removeprefix("{ a: ").removesuffix(" }"), 60)


def _example(tool_id: str, schema: JsonObject) -> str:
    properties = inner(schema, "properties")
    needed = [name for name in words(schema, "required") if name in properties][:8]
    given = (f"{shlex.quote(one_line(name, 60))}{_form(properties[name])}" for name in needed)
    return " ".join(["toolfold call", tool_id, *given])


def _form(schema: object) -> str:
    """How a value is written: as text, which becomes what the schema wants, or as JSON where it has parts."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return {"object": ":='{…}'", "array": ":='[…]'"}.get(str(kind), "=…")


def gateways(documents: list[JsonObject], output: Output) -> None:
    """`toolfold status`: each gateway, and its upstreams as a table."""
    for document in documents:
        host = " ".join(filter(None, (text(inner(document, "host"), key) for key in ("name", "version"))))
        up = span(time.time() - (number(document, "started") or time.time()))
        about = [f"gateway {document.get('pid')}", f"up {up}", f"for {one_line(host, 60)}" if host else ""]
        output.line(" · ".join(filter(None, about)), "bold cyan")
        output.line(", ".join(words(document, "config")), "dim")
        if address := text(document, "address"):
            output.line(f"at {address}", "dim")
        if mode := _mode(document):
            output.block(mode, style="dim")
        for warning in _warnings(document):
            output.block(warning, style="yellow")
        if rows := [_fare(upstream, document) for upstream in members(document, "upstreams")]:
            output.records(("upstream", "state", "tools", "since", "reason"), rows)
        for line in _not_callable(inner(document, "catalogue")):
            output.line(line, "dim")
        output.line()
    if not documents:
        output.say("No gateway is running.")


def _mode(gateway: JsonObject) -> str:
    """What is to be said of the mode in force: why it was chosen, or what it publishes. "" for an ordinary one."""
    mode = text(gateway, "mode")
    if why := one_line(text(gateway, "chosen_because"), REASON_CHARACTERS):
        return f"Mode {mode} was chosen: {why}"
    return "mode code: tool_search_code is published" if mode == "code" else ""


def _not_callable(catalogue: JsonObject) -> list[str]:
    counts = {str(kind): len(inner(catalogue, str(kind))) for kind in (Exposure.QUARANTINED, Exposure.UNAVAILABLE)}
    return [f"{count} {kind}: `toolfold list` says why" for kind, count in counts.items() if count]


def _warnings(gateway: JsonObject) -> Iterator[str]:
    """What is not as the person who configured it may think."""
    if why := one_line(text(inner(gateway, "refused"), "why"), REASON_CHARACTERS):
        yield f"The configuration was changed and is not in force: {why}"
    if why := one_line(text(inner(gateway, "fallback"), "why"), REASON_CHARACTERS):
        yield f"Mode code can't be had, and mode tools is used: {why}"
    if warned := inner(inner(gateway, "catalogue"), "warned"):
        yield f"Not what was accepted (see `toolfold trust`): {', '.join(warned)}"


def departures(tools: list[JsonObject], output: Output) -> None:
    """`toolfold trust`: each tool that is not what was accepted, and how it differs."""
    for tool in tools:
        held = ", and is held back" if text(tool, "exposure") == Exposure.QUARANTINED else ""
        output.line(one_line(escaped(text(tool, "id")), ID_CHARACTERS), "bold cyan")
        output.line(f"  {text(tool, 'warning')}{held}", "dim")
        difference = words(tool, "difference")
        for line in difference[:DIFFERENCE_LINES]:
            output.line(f"  {paragraphs(line, DESCRIPTION_CHARACTERS)}", DIFFERENCE_STYLES.get(line[:1], ""))
        if (more := len(difference) - DIFFERENCE_LINES) > 0:
            output.line(f"  … {more:,} lines more, which --json shows", "bold")
        output.line()
    if not tools:
        output.say("Every tool is what was accepted.")


def settings(document: JsonObject, output: Output) -> None:
    """`toolfold config show`: the files, a table of upstreams, and the gateway's settings."""
    for file in words(document, "files"):
        output.line(file, "bold cyan")
    rows = [_entry_row(key, entry) for key, entry in inner(document, "mcpServers").items() if isinstance(entry, dict)]
    if rows:
        output.line()
        output.records(("upstream", "variables", "command"), rows)
    output.line()
    output.line("gateway", "bold")
    for name, value in _flat(inner(document, "gateway")):
        output.line(f"  {name} = {json.dumps(value)}")


def findings(reports: list[JsonObject], output: Output) -> None:
    """`toolfold check`: each finding with its place, what it means, and the way out."""
    for report in reports:
        severity = text(report, "severity")
        output.line(f"{severity}: {text(report, 'code')}", STYLES.get(severity, "bold"))
        if where := text(report, "where"):
            output.line(f"  {where}", "dim")
        output.block(text(report, "message"), GAP)
        for line in words(report, "last_words"):
            output.block(f"| {line}", 2 * GAP, "dim")
        output.block(f"→ {text(report, 'fix')}", GAP)
        output.line()


def probed(upstreams: list[JsonObject], output: Output) -> None:
    """`toolfold check --probe`: how each upstream that was started fared."""
    rows = [(text(one, "upstream"), text(one, "state"), _count(one)) for one in upstreams]
    output.records(("upstream", "state", "tools"), rows)


def span(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = max(0, int(seconds))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def _count(upstream: JsonObject) -> str:
    """Its tools, of whatever exposure."""
    return str(sum(value for value in inner(upstream, "tools").values() if isinstance(value, int)))


def _fare(upstream: JsonObject, gateway: JsonObject) -> tuple[str, str, str, str, str]:
    written, spent = number(gateway, "written") or time.time(), number(upstream, "for_seconds") or 0.0
    error, hint = text(upstream, "error"), text(upstream, "hint")
    reason = f"{error.rstrip('.')}. {hint}" if error and hint else error or hint
    since = span(time.time() - written + spent)
    return (
        text(upstream, "upstream"),
        text(upstream, "state"),
        _count(upstream),
        since,
        one_line(reason, REASON_CHARACTERS),
    )


def _entry_row(key: str, entry: JsonObject) -> tuple[str, str, str]:
    """The names of the variables that the entry gives, and the command line as a shell would take it."""
    parts = [shlex.join([text(entry, "command"), *words(entry, "args")])] if text(entry, "command") else []
    parts += ["(disabled)"] if entry.get("disabled") else []
    parts += [f"(misconfigured: {text(entry, 'problem')})"] if entry.get("problem") else []
    variables = one_line(" ".join(inner(entry, "env")), REASON_CHARACTERS)
    return one_line(key, ID_CHARACTERS), variables, one_line(" ".join(parts), COMMAND_CHARACTERS)


def _flat(section: JsonObject, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
