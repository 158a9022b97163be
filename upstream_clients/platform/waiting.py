"""Waits for a child's end in a thread, where the event loop has no way of its own."""

import asyncio
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress


def wait_in_thread(
    loop: asyncio.AbstractEventLoop, process: "subprocess.Popen[bytes]", on_exit: Callable[[int], None]
) -> None:
    """Calls `on_exit(return code)` on the loop once the process has ended, if the loop still runs then."""

    def wait() -> None:
        code = process.wait()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(on_exit, code)

    threading.Thread(target=wait, name="waits for a child", daemon=True).start()
