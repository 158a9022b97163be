"""`toolfold demo`: the tour over three embedded servers, or a configuration with them that a real host can be pointed at."""

import json
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson
from server.cli.output import Output, reporting
from server.errors import GatewayError
from upstream_clients import JsonObject


def demo(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            show_default=False,
            help="Write a new configuration with the three servers there, and say how a host is pointed at it.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what toolfold does on three small servers that it brings along. Needs no configuration and no network."""
    if config is not None:
        with reporting(as_json=as_json) as output:
            _write(config.absolute(), output)
        return
    from server.demo.tour import run  # last: it reaches into the embedded servers, which nothing else here needs

    raise typer.Exit(run(as_json=as_json))


def _write(config: Path, output: Output) -> None:
    from server.demo.starter import write

    try:
        workshop = write(config)
    except FileExistsError:
        error = GatewayError("file_exists", f"{config} is there already, and was left as it is.", "Name a new file.")
        raise Failure(ExitCode.FAILED, error) from None
    except OSError as trouble:
        error = GatewayError(
            "not_written", f"{config} could not be written ({trouble.strerror}).", "Name another file."
        )
        raise Failure(ExitCode.FAILED, error) from None
    command, *before = _own_command()
    host: JsonObject = {
        "mcpServers": {"toolfold": {"command": command, "args": [*before, "serve", "--config", str(config)]}}
    }
    if output.as_json:
        output.json({"config": str(config), "folder": str(workshop), "host": host})
        return
    output.say(f"Written: {config}, with three servers that work on {workshop}. Put this into your host's own file:")
    output.line(json.dumps(host, indent=2))
    output.say(
        f'Then ask the host for something, such as "which orders are not done?", or look yourself:\n'
        f"toolfold list --config {config}"
    )


def _own_command() -> tuple[str, ...]:
    """What starts this toolfold, whatever PATH a host has."""
    script = shutil.which("toolfold", path=str(Path(sys.executable).parent))
    return (script,) if script else (sys.executable, "-P", "-m", "server.cli")
