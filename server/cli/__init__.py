"""The command line. `serve` is dispatched here, before typer and rich are imported: a host waits for it."""

import gc
import sys
from collections.abc import Sequence

from server.cli.exits import ExitCode


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of the `toolfold` command. Without arguments it serves a host, and helps a person."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        arguments = ["serve"] if _is_piped() else ["--help"]
    try:
        _dispatch(arguments)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


def _dispatch(arguments: list[str]) -> None:
    if arguments[0] == "serve" and not {"-h", "--help"} & set(arguments):
        _serve(arguments[1:])
    else:
        from server.cli.app import run_app

        run_app(arguments)


def _serve(arguments: list[str]) -> None:
    gc.disable()  # nothing that is imported here becomes garbage, and looking for it costs a tenth of the start
    from server.cli.serving import run

    gc.freeze()
    gc.enable()
    run(arguments)


def _is_piped() -> bool:
    """Whether standard input is there and is no terminal: then a host has started us."""
    return sys.stdin is not None and not sys.stdin.isatty()
