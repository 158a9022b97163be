"""What a serving process does around its work: logs to standard error, hears signals, ends without waiting for threads."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from server.config import Settings
from server.redaction import RedactingFormatter, Redactor

logger = logging.getLogger(__name__)

TALKATIVE: Final = ("mcp", "uvicorn")
"""Libraries that tell of every session and connection; their warnings are enough."""


class Log:
    """Standard error, and what never appears on it."""

    def __init__(self, settings: Settings, secrets: Iterable[str] = ()) -> None:
        self._redact = Redactor(secrets)
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(RedactingFormatter(self._redact))
        logging.basicConfig(handlers=[handler], force=True)
        for name in TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self.adopt(settings)

    def adopt(self, settings: Settings) -> None:
        """From now on these secrets are taken out, too, and messages of this level are written."""
        self._redact.learn(secret for server in settings.servers for secret in server.secrets)
        logging.getLogger().setLevel(settings.gateway.log.level.upper())


def run_to_the_end(work: Callable[[], Awaitable[None]]) -> None:
    """Runs the work, then ends the process."""
    anyio.run(work)
    logging.shutdown()
    sys.stderr.flush()
    # Worker threads may still be importing or indexing; interpreter shutdown would wait for them past the host's patience.
    os._exit(0)


async def on_signals(end: Callable[[], None]) -> None:
    """Calls `end` at every signal that asks for it. Ends only by cancellation."""

    def heard(number: signal.Signals) -> None:
        logger.info("ending on %s", number.name)
        end()

    if sys.platform == "win32":
        with heard_by_interpreter((signal.SIGINT, signal.SIGBREAK), heard):  # Ctrl-C, Ctrl-Break, a console that closes
            await anyio.sleep_forever()
    else:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for number in signals:
                heard(number)


@contextmanager
def heard_by_interpreter(numbers: Iterable[signal.Signals], hear: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Hears signals where the event loop can't. Windows' loops are woken by them all the same. Main thread only."""
    loop = asyncio.get_running_loop()

    def pass_on(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(hear, signal.Signals(number))

    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
