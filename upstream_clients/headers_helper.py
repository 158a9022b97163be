"""Asks a configured program for headers: without a shell, within ten seconds, and without ever showing what it printed."""

import json
import re
from collections.abc import Mapping
from typing import Final

import anyio

from upstream_clients.endpoint import HeadersHelper
from upstream_clients.errors import UpstreamUnauthorized
from upstream_clients.program import Program, run_program

HELPER_SECONDS: Final = 10.0
"""What Claude Code gives it. It may ask a keychain or a token service; whoever asks a person must do so beforehand."""

OUTPUT_BYTES: Final = 64 * 1024
"""Far more than servers take in headers (8 to 16 KiB)."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


async def printed_headers(helper: HeadersHelper) -> Mapping[str, str]:
    """What the program prints now. Whatever it has started ends with it.

    Raises:
        UpstreamUnauthorized: it failed, took too long, or printed something else than headers.
    """
    printed = None
    with anyio.move_on_after(HELPER_SECONDS):
        try:
            printed = await run_program(Program(helper.argv, helper.env, OUTPUT_BYTES))
        except OSError as error:
            raise _failed(f"cannot be started: {error.strerror}") from None
    if printed is None:
        raise _failed(f"did not end within {HELPER_SECONDS:g} s")
    if printed.code is None:
        raise _failed(f"printed more than {OUTPUT_BYTES} bytes")
    if printed.code != 0:
        raise _failed(f"ended with exit code {printed.code}")
    return _headers(printed.output)


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
