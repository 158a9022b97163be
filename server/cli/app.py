"""The command line's commands, put together. Everything below here may use typer and rich; nothing above it does."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from server.cli import (
    answering,
    approving,
    calling,
    checking,
    coding,
    configuration,
    demonstrating,
    evaluating,
    gateways,
    reading,
    telling,
    trusting,
)
from server.cli.exits import ExitCode
from server.cli.options import FLAG, ConfigFiles
from server.version import __version__

EPILOG = (
    "Exit codes: 0 done · 1 failed, a tool's own error included · 2 wrong usage · 4 unusable configuration · "
    "10 upstreams are still starting · 12 unknown id · 130 interrupted."
)


def run_app(arguments: Sequence[str]) -> None:
    """Runs one command. Ends the process."""
    try:
        build_app()(args=list(arguments), prog_name="toolfold")
    except SystemExit as end:
        _end(end.code)
    except OSError as error:  # a full disk, or a reader that has gone
        with suppress(OSError):
            print(f"toolfold: the output could not be written ({error.strerror}).", file=sys.stderr)
        _end(ExitCode.FAILED)


def _end(code: object) -> NoReturn:
    """Ends now. Interpreter shutdown would wait for worker threads, which may be indexing what nobody will search."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code if isinstance(code, int) else ExitCode.FAILED if code else ExitCode.OK)


def build_app() -> typer.Typer:
    """Every command, in the order in which a person needs them."""
    app = typer.Typer(
        callback=_toolfold,
        epilog=EPILOG,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    _add(app, "serve", _serve)
    _add(app, "check", checking.check)
    _add(app, "list", reading.list_tools)
    _add(app, "search", reading.search)
    _add(app, "describe", reading.describe)
    _add(app, "call", calling.call)
    _add(app, "eval", evaluating.evaluate_catalogue)
    _add(app, "approve", approving.approve)
    _add(app, "trust", trusting.trust)
    _add(app, "status", gateways.status)
    _add(app, "stats", telling.stats)
    _add(app, "log", telling.log)
    _add(app, "demo", demonstrating.demo)
    app.add_typer(_config(), name="config")
    app.add_typer(_code(), name="code")
    return app


def _add(app: typer.Typer, name: str, command: Callable[..., None]) -> None:
    """With its docstring as help. A line ends there where the source does: the terminal is another width."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    app.command(name, help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs))(command)


def _config() -> typer.Typer:
    config = typer.Typer(help="Show which configuration is read, and what it amounts to.", no_args_is_help=True)
    _add(config, "path", configuration.path)
    _add(config, "show", configuration.show)
    _add(config, "schema", configuration.schema)
    answers = typer.Typer(
        help="Store answers to ${input:ID}, the values that a file leaves to you.", no_args_is_help=True
    )
    _add(answers, "set", answering.set_input)
    _add(answers, "list", answering.list_inputs)
    _add(answers, "forget", answering.forget)
    config.add_typer(answers, name="input")
    return config


def _code() -> typer.Typer:
    code = typer.Typer(help="Get what mode code needs, and see whether it can be had here.", no_args_is_help=True)
    _add(code, "install", coding.install)
    _add(code, "check", coding.check)
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"toolfold {__version__}")
        raise typer.Exit


def _toolfold(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar=FLAG, callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """One MCP server in front of many: a host sees three tools, to find, read and call hundreds.

    Without a command it serves a host on its standard input, and shows this help at a terminal.
    """


def _serve(
    config: ConfigFiles = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Serve under this profile of gateway.profiles.")
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT", help="Serve any number of hosts over HTTP instead, at /mcp of this address."
        ),
    ] = None,
    token: Annotated[
        bool, typer.Option("--token", metavar=FLAG, help="Refuse to start without a bearer token to ask for.")
    ] = False,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ask for the bearer token that this private file holds.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A host name under which hosts reach this address.")
    ] = None,
) -> None:
    """Serve a host: MCP on standard input and output, log on standard error. This is the command to put into a host.

    Ends when the input ends or on SIGTERM, and leaves nothing running.

    With --http it serves on 127.0.0.1 unless HOST says otherwise, and asks for a bearer token as soon as one is known:
    from gateway.http.tokens (SHA-256 hashes), --token-file or $TOOLFOLD_TOKEN. Elsewhere than on loopback it must know
    one. A token is never written on the command line, where every user of the machine could read it.
    """
    raise NotImplementedError("server.cli dispatches serve before this; here is its help")
