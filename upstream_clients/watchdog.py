"""Our end of the watchdog: tells it which process groups are ours. It ends what is left of them when this process is gone.

Without it a gateway that is killed hard would leave servers behind: they ignore the closed pipe, and a parent-death
signal does not reach the grandchildren of `npx`. On Windows there is none, and none is needed: see `platform/windows.py`.
"""

import logging
import subprocess
import threading
from types import TracebackType
from typing import Final, Self

from upstream_clients.platform import Platform

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 0.3
"""It looks once through all processes and ends. On a machine too busy to let it, it does so when we are gone."""


class Watchdog:
    """A context manager around the watchdog process. `watch` may be called from any thread."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._process: subprocess.Popen[bytes] | None = None
        self._is_gone = False

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
        except subprocess.TimeoutExpired:  # it is still looking for what was left; it ends by itself
            threading.Thread(target=process.wait, daemon=True).start()

    def watch(self, group: int) -> None:
        self._tell(b"+%d\n" % group)

    def forget(self, group: int) -> None:
        self._tell(b"-%d\n" % group)

    def _tell(self, line: bytes) -> None:
        if self._process is None or self._is_gone:
            return
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:
            self._is_gone = True
            logger.warning("the watchdog is gone: a hard kill of the gateway may leave servers running")
