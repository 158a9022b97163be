"""`toolfold serve` from its arguments to a running gateway, with the standard library's parser and nothing heavier."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from server.cli.configured import configured
from server.cli.exits import ExitCode, Failure
from server.config import ConfigError, Finding
from server.serve import serve

FOR_A_PERSON: Final = (
    "Waiting for a host on standard input. A host starts this command itself: put it into the host's file. "
    "To look yourself: toolfold list. Ctrl-C ends."
)


def run(arguments: Sequence[str]) -> None:
    """Parses `serve`'s arguments and serves. Ends the process."""
    parser = argparse.ArgumentParser(prog="toolfold serve", add_help=False, allow_abbrev=False)
    parser.add_argument("--config", action="append", type=Path, default=[], metavar="FILE")
    parser.add_argument("--profile", default="", metavar="NAME")
    parser.add_argument("--http", metavar="[HOST:]PORT")
    parser.add_argument("--token", action="store_true")
    parser.add_argument("--token-file", type=Path, metavar="FILE")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME")
    options, rest = parser.parse_known_args(arguments)
    if rest:  # not shown: it may be a token
        hint = " A token is never written there: see `toolfold serve --help`." if options.token else ""
        parser.error(f"{len(rest)} of the arguments are not known.{hint}")
    if options.http is None and (options.token or options.token_file or options.allow_host):
        parser.error("--token, --token-file and --allow-host need --http")
    try:
        found = configured(options.config)
        _tell(found.settings.findings, is_person=options.http is None and sys.stdin.isatty())
        if options.http is None:
            serve(found.settings, found.directories, found.reread, options.profile)
        else:
            from server.cli.serving_http import Wishes, run_http  # nothing of it is needed behind standard input

            wishes = Wishes(options.http, options.token, options.token_file, tuple(options.allow_host), options.profile)
            run_http(found, wishes)
    except ConfigError as error:
        print(f"toolfold: {error}", file=sys.stderr)
        sys.exit(ExitCode.CONFIGURATION)
    except Failure as failure:
        print(f"toolfold: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code)


def _tell(findings: Iterable[Finding], *, is_person: bool) -> None:
    for finding in findings:
        if finding.severity != "note":
            print(f"toolfold {finding.severity}: {finding.where}: {finding.message} {finding.fix}", file=sys.stderr)
    if is_person:
        print(f"toolfold: {FOR_A_PERSON}", file=sys.stderr)
