"""Asks a configured program for headers: without a shell, within ten seconds, and without ever showing what it printed."""

import json
import re
import subprocess
from collections.abc import Mapping
from typing import Final

import anyio
from anyio.abc import Process

from upstream_clients.endpoint import HeadersHelper
from upstream_clients.errors import UpstreamUnauthorized
from upstream_clients.platform import current_platform

HELPER_SECONDS: Final = 10.0
"""What Claude Code gives it. It may ask a keychain or a token service; whoever asks a person must do so beforehand."""

OUTPUT_BYTES: Final = 64 * 1024
"""Far more than servers take in headers (8 to 16 KiB)."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


async def printed_headers(helper: HeadersHelper) -> Mapping[str, str]:
    """What the program prints now.

    Raises:
        UpstreamUnauthorized: it failed, took too long, or printed something else than headers.
    """
    try:
        process = await anyio.open_process(
            helper.argv,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(helper.env),
            start_new_session=True,
        )
    except OSError as error:
        raise _failed(f"cannot be started: {error.strerror}") from None
    try:
        with anyio.move_on_after(HELPER_SECONDS) as patience:
            printed = await _output(process)
            code = await process.wait()
        if patience.cancelled_caught:
            raise _failed(f"did not end within {HELPER_SECONDS:g} s")
        if code != 0:
            raise _failed(f"ended with exit code {code}")
        return _headers(printed)
    finally:
        await _end(process)


async def _output(process: Process) -> bytes:
    assert process.stdout is not None
    printed = b""
    async for chunk in process.stdout:
        printed += chunk
        if len(printed) > OUTPUT_BYTES:
            raise _failed(f"printed more than {OUTPUT_BYTES} bytes")
    return printed


async def _end(process: Process) -> None:
    with anyio.CancelScope(shield=True):  # bounded: nothing survives the kill
        if process.returncode is None:
            current_platform().end_hard(process.pid)
        await process.aclose()


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
