"""Which gateways have started this one, one the other, so that files that name each other start no endless row.

A gateway that starts another hands it the marks of all that are before it, in a variable that no other child gets. Over
addresses nothing is started, and gateways find circles themselves (`server/chains.py`).
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from server.config.findings import ConfigError

VARIABLE = "TOOLFOLD_STARTED_BY"

# Gateways that start one another: as many as may stand in a row (`upstream_clients/chain.py`).
MOST_STARTED = 4

MARK_CHARS = 16


def with_own_mark(environ: Mapping[str, str], files: Iterable[Path]) -> tuple[str, ...]:
    """The marks for a gateway that is started from these files; ours, the last, stands for the files.

    Raises: ConfigError, if a gateway of the same files is before us, or too many are.
    """
    before = tuple(mark for mark in environ.get(VARIABLE, "").split(",") if mark)
    names = "\n".join(sorted(str(path.resolve()) for path in files))
    own = hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_CHARS]
    if own in before:
        fix = "Take the entry out that starts it again, here or in the file of a gateway in between."
        raise ConfigError("chain_loop", "A gateway of this very configuration has started this one.", fix)
    if len(before) >= MOST_STARTED:
        fix = "Give the first ones the servers that are wanted, not gateways to gateways."
        raise ConfigError("chain_too_long", f"More than {MOST_STARTED} gateways have started one another.", fix)
    return (*before, own)
