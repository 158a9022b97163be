"""The command line. `serve` is dispatched here, before typer and rich are imported: a host waits for it."""

import gc
import os
import sys
from collections.abc import Sequence

from server.cli.exits import ExitCode

GC_THRESHOLDS = (20_000, 20, 50)
"""A catalogue and its index are many small objects that live for long: looking at them anew for each 700 costs a tenth."""


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of the `toolfold` command. Without arguments it serves a host, and helps a person."""
    _fill_standard_descriptors()
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
    gc.set_threshold(*GC_THRESHOLDS)
    run(arguments)


def _fill_standard_descriptors() -> None:
    """Opens nothing where standard input, output or error is closed: the next file to be opened would take its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdin, sys.stdout, sys.stderr = (
        stream if stream is not None else os.fdopen(descriptor, mode, closefd=False)
        for stream, descriptor, mode in ((sys.stdin, 0, "r"), (sys.stdout, 1, "w"), (sys.stderr, 2, "w"))
    )


def _is_piped() -> bool:
    """Whether standard input is no terminal: then a host has started us."""
    return not sys.stdin.isatty()
