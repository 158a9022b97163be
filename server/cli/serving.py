"""`toolfold serve` from its arguments to a running gateway, with the standard library's parser and nothing heavier."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from server.cli.configured import configured
from server.cli.exits import Failure
from server.serve import serve


def run(arguments: Sequence[str]) -> None:
    """Parses `serve`'s arguments and serves. Ends the process."""
    parser = argparse.ArgumentParser(prog="toolfold serve", add_help=False, allow_abbrev=False)
    parser.add_argument("--config", action="append", type=Path, default=[], metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        found = configured(options.config)
    except Failure as failure:
        print(f"toolfold: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code)
    for finding in found.settings.findings:
        if finding.severity != "note":
            print(f"toolfold {finding.severity}: {finding.where}: {finding.message} {finding.fix}", file=sys.stderr)
    serve(found.settings, found.directories)
