"""How a command ends: the exit codes, and the one exception that carries a failure to the top."""

from enum import IntEnum

from server.errors import GatewayError


class ExitCode(IntEnum):
    """Stable: scripts rely on these."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 4
    STILL_STARTING = 10
    UNKNOWN_ID = 12
    INTERRUPTED = 130


class Failure(GatewayError):
    """Ends the command with this exit code. `candidates` are ids that may have been meant."""

    def __init__(self, exit_code: ExitCode, error: GatewayError, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(error.code, error.message, error.hint)
        self.exit_code = exit_code
        self.candidates = candidates
