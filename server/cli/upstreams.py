"""How a person names an upstream on the command line, by its key in the file or by its name in ids."""

import difflib
from typing import Final

from server.cli.exits import ExitCode, Failure
from server.config import ServerEntry, Settings
from server.config.findings import shown
from server.errors import GatewayError

MOST_NAMED: Final = 10
"""Upstreams that an error names."""


def entry_of(name: str, settings: Settings) -> ServerEntry:
    """Raises Failure: no entry has that name."""
    for server in settings.servers:
        if name in (server.key, server.owner):
            return server
    keys = [server.key for server in settings.servers]
    close = tuple(map(shown, difflib.get_close_matches(name[:100], keys, n=3)))
    known = ", ".join(map(shown, keys[:MOST_NAMED])) or "none"
    rest = ", …: see `toolfold config show`." if len(keys) > MOST_NAMED else "."
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Those that there are: {known}{rest}"
    error = GatewayError("unknown_upstream", f"There is no upstream {shown(name)!r}.", hint)
    raise Failure(ExitCode.UNKNOWN_ID, error, close)


def enabled_owner(name: str, settings: Settings) -> str:
    """The owner's name of an entry that is in use.

    Raises:
        Failure: there is no such entry, or it is disabled.
    """
    server = entry_of(name, settings)
    if server.disabled:
        error = GatewayError("disabled", f"{shown(server.key)} is disabled.", "Take `disabled` out of its entry.")
        raise Failure(ExitCode.FAILED, error)
    return server.owner
