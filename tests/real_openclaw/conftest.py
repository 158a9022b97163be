"""One real Gateway with a model of ours, and one toolfold in front of it. Started once for all tests here."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.real_openclaw.gateway import OPENED, TOKEN, RealGateway, installed
from tests.real_openclaw.provider import provider
from tests.support.hosts import ROOT, SERVE, environment
from tests.support.raw_client import RawClient, wait_for_upstreams
from tests.support.upstreams import write_config

INSTALLED: Final = ROOT / ".openclaw-real"


@dataclass(frozen=True, slots=True)
class Folded:
    """A toolfold that has the Gateway's tools, and what it says on standard error."""

    client: RawClient
    stderr: Path


@pytest.fixture(scope="session")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealGateway]:
    """A Gateway that has had no session yet."""
    found = installed(INSTALLED)
    if found is None:
        pytest.fail("OpenClaw is not installed. Run `make test-openclaw`.", pytrace=False)
    with provider() as model_url:
        gateway = RealGateway.prepare(*found, tmp_path_factory.mktemp("openclaw"), model_url)
        try:
            gateway.start()
            yield gateway
        finally:
            gateway.stop()


@pytest.fixture(scope="session")
def folded(there: RealGateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folded]:
    folder = tmp_path_factory.mktemp("folded")
    section = {"url": there.url, "token": "${REAL_OPENCLAW_TOKEN}", "allow": list(OPENED)}
    config = write_config(folder, {}, {"openclaw": section})
    env = environment(folder, {"REAL_OPENCLAW_TOKEN": TOKEN})
    path = folder / "stderr.txt"
    with path.open("wb") as stderr, RawClient([*SERVE, "--config", str(config)], env, stderr=stderr.fileno()) as client:
        client.greet()
        wait_for_upstreams(client)
        yield Folded(client, path)


@pytest.fixture(scope="session")
def fold(folded: Folded) -> RawClient:
    return folded.client
