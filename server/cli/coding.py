"""`toolfold code`: brings the engine that mode `code` needs, and says whether code can be run on this machine."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio
import typer

from server.cli.configured import Configured
from server.cli.exits import ExitCode
from server.cli.options import AsJson
from server.cli.output import Output, reporting
from server.code import Gate, Verdict
from server.code.engine import engine_folder, read_engine
from server.code.install import install_engine
from server.code.unavailable import Unavailable
from server.code.walls import walls
from server.config import Directories, Finding, directories, find_program, read_environment
from upstream_clients import JsonObject


def install(as_json: AsJson = False) -> None:
    """Bring the JavaScript engine into your data folder through npm, and try it out.

    Version and integrity are locked in toolfold, nothing of it is executed while it is installed, and an engine that is
    there already is left alone.
    """
    with reporting(as_json=as_json) as output:
        environ = read_environment()
        places = directories(environ)
        folder = engine_folder(places.data)
        why = _brought(folder, environ)
        if why is not None:
            _show(Verdict(None, why.why, why.hint), folder, output)
            raise typer.Exit(ExitCode.FAILED)
        _try(places, environ, output)


def check(as_json: AsJson = False) -> None:
    """Try for real whether code can be run here: an isolated Node is started, and must fail to reach anything.

    What comes of it is remembered, so that a host that is started next does not wait for it.
    """
    with reporting(as_json=as_json) as output:
        environ = read_environment()
        _try(directories(environ), environ, output)


def code_findings(found: Configured) -> Iterator[Finding]:
    """What stands in the way of mode code, where that is asked for and can be seen without trying."""
    if found.settings.gateway.tool_search.requested_mode != "code":
        return
    verdict = Gate(find_program("node", found.environ), found.directories.data, found.directories.cache).known()
    if verdict is not None and verdict.runtime is None:
        message = f"Mode code can't be had, and mode tools is used: {verdict.why}."
        yield Finding("warning", "code_not_available", "gateway.toolSearch", message, verdict.hint or "Use mode tools.")


def _brought(folder: Path, environ: Mapping[str, str]) -> Unavailable | None:
    """Why the engine is not there, if it is not."""
    try:
        read_engine(folder)
    except Unavailable:
        try:
            install_engine(folder, find_program("npm", environ), environ)
        except Unavailable as gone:
            return gone
    return None


def _try(places: Directories, environ: Mapping[str, str], output: Output) -> None:
    gate = Gate(find_program("node", environ), places.data, places.cache)
    verdict = anyio.run(gate.tried)
    _show(verdict, engine_folder(places.data), output)
    if verdict.runtime is None:
        raise typer.Exit(ExitCode.FAILED)


def _show(verdict: Verdict, folder: Path, output: Output) -> None:
    runtime = verdict.runtime
    if output.as_json:
        output.json(_document(verdict, folder))
    elif runtime is None:
        output.line(f"Code can't be run here: {verdict.why}.", "bold yellow")
        output.line(f"→ {verdict.hint}" if verdict.hint else "Mode tools is used instead.")
    else:
        around = walls()
        output.line("Code can be run here.", "bold green")
        output.records(
            ("", ""),
            [
                ("node", str(runtime.node)),
                ("engine", str(folder)),
                ("walls", ", ".join(around.standing)),
                ("missing", ", ".join(around.missing) or "none"),
            ],
        )


def _document(verdict: Verdict, folder: Path) -> JsonObject:
    if verdict.runtime is None:
        return {"available": False, "why": verdict.why, "hint": verdict.hint}
    around, node = walls(), verdict.runtime.node
    return {
        "available": True,
        "node": {"program": node.program, "version": ".".join(map(str, node.version))},
        "engine": str(folder),
        "walls": list(around.standing),
        "missing": list(around.missing),
    }
