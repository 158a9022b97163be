"""A Gateway as an upstream of a fleet."""

from tests.support.openclaw_gateway import TOKEN, FakeGateway
from upstream_clients import OpenClawGateway, Patience, UpstreamSpec

MIB = 1024 * 1024
PATIENCE = Patience(idle=30, total=60)


def spec_of(
    gateway: FakeGateway, *, patience: Patience = PATIENCE, start_seconds: float = 30, **beside: object
) -> UpstreamSpec:
    target = OpenClawGateway(gateway.url, 4 * MIB, patience.idle, **{"secret": TOKEN, **beside})  # type: ignore[arg-type]
    return UpstreamSpec("openclaw", target, patience, start_seconds)
