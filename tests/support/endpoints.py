"""Upstreams at an address, for tests."""

from dataclasses import replace
from typing import Final, Literal

from upstream_clients import Endpoint, Patience, UpstreamSpec

BOTH: Final = ("http", "sse")
MESSAGE_BYTES: Final = 256 * 1024


def endpoint_spec(
    owner: str,
    url: str,
    attempts: tuple[Literal["http", "sse"], ...] = BOTH,
    *,
    protocol: Literal["legacy", "auto", "modern"] = "legacy",
    idle: float = 20,
    **beside: object,
) -> UpstreamSpec:
    """What `open_fleet` takes. `beside` are other fields of the endpoint."""
    endpoint = Endpoint(url, attempts, MESSAGE_BYTES, wait_seconds=idle)
    endpoint = replace(endpoint, **beside)  # type: ignore[arg-type]
    return UpstreamSpec(owner, endpoint, Patience(idle=idle, total=30), start_seconds=20, protocol=protocol)
