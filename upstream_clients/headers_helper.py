"""Asks a configured program for headers: without a shell, within ten seconds, and without ever showing what it printed."""

import asyncio
import json
import re
import subprocess
from collections.abc import Mapping
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.endpoint import HeadersHelper
from upstream_clients.errors import UpstreamUnauthorized
from upstream_clients.platform import Platform, current_platform

HELPER_SECONDS: Final = 10.0
"""What Claude Code gives it. It may ask a keychain or a token service; whoever asks a person must do so beforehand."""

END_SECONDS: Final = 1.0
"""After it was killed; nothing survives that, and a busy machine sees it soon."""

OUTPUT_BYTES: Final = 64 * 1024
"""Far more than servers take in headers (8 to 16 KiB)."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


async def printed_headers(helper: HeadersHelper) -> Mapping[str, str]:
    """What the program prints now. Whatever it has started ends with it.

    Raises:
        UpstreamUnauthorized: it failed, took too long, or printed something else than headers.
    """
    platform = current_platform()
    try:
        process = await anyio.to_thread.run_sync(platform.start, list(helper.argv), dict(helper.env), None)
    except OSError as error:
        raise _failed(f"cannot be started: {error.strerror}") from None
    run = _Run()
    platform.watch_exit(process, run.exit_seen)
    try:
        with anyio.move_on_after(HELPER_SECONDS) as patience:
            await run.attach(platform, process)
            await run.printed.wait()
            if len(run.output) > OUTPUT_BYTES:
                raise _failed(f"printed more than {OUTPUT_BYTES} bytes")
            await run.exited.wait()
        if patience.cancelled_caught:
            raise _failed(f"did not end within {HELPER_SECONDS:g} s")
        if run.code != 0:
            raise _failed(f"ended with exit code {run.code}")
        return _headers(run.output)
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(END_SECONDS):
            platform.end_hard(process.pid)
            await run.exited.wait()
        run.close()


class _Run(asyncio.Protocol):
    """One run of the program: what it has printed so far, and how it ended. What it says on standard error is not kept."""

    def __init__(self) -> None:
        self.output = b""
        self.printed = anyio.Event()
        self.exited = anyio.Event()
        self.code: int | None = None
        self._transports: list[asyncio.BaseTransport] = []

    async def attach(self, platform: Platform, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        with anyio.CancelScope(shield=True):  # takes no time; the pipes must belong to somebody who closes them
            self._transports.append(await platform.read_pipe(process.stderr, asyncio.Protocol()))
            self._transports.append(await platform.read_pipe(process.stdout, self))

    def close(self) -> None:
        for transport in self._transports:
            transport.close()

    def data_received(self, data: bytes) -> None:
        if len(self.output) <= OUTPUT_BYTES:
            self.output += data
        if len(self.output) > OUTPUT_BYTES:
            self.printed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.printed.set()

    def exit_seen(self, code: int) -> None:
        self.code = code
        self.exited.set()


def _headers(printed: bytes) -> Mapping[str, str]:
    try:
        headers = json.loads(printed)
    except (ValueError, RecursionError):
        raise _failed("printed something else than a JSON object") from None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise _failed("printed something else than a JSON object of strings")
    cleaned = {name: value.strip(" \t\r\n") for name, value in headers.items()}
    if not all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in cleaned.items()):
        raise _failed("printed a name or a value that no header may have")
    return cleaned


def _failed(what: str) -> UpstreamUnauthorized:
    return UpstreamUnauthorized(f"its headersHelper {what}", hint="Run its command by hand to see why.")
