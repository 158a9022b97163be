"""Our end of the watchdog: tells it which process groups are ours. It ends them when this process is gone.

Without it a gateway that is killed hard would leave servers behind: they ignore the closed pipe, and a parent-death
signal does not reach the grandchildren of `npx`.
"""

import logging
import subprocess
from types import TracebackType
from typing import Final, Self

from upstream_clients.platform import Platform

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 0.3
"""It ends by itself when the pipe closes; this is for a machine too busy to let it."""


class Watchdog:
    """A context manager around the watchdog process. `watch` may be called from any thread."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._process = self._platform.start_watchdog()
        except OSError:
            logger.warning("the watchdog could not be started: a hard kill of the gateway may leave servers running")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def watch(self, group: int) -> None:
        self._tell(b"+%d\n" % group)

    def forget(self, group: int) -> None:
        self._tell(b"-%d\n" % group)

    def _tell(self, line: bytes) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(line)
        except (BrokenPipeError, ValueError):
            self._process = None
            logger.warning("the watchdog is gone: a hard kill of the gateway may leave servers running")
