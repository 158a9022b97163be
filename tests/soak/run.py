"""`make soak`: two gateways, one over standard input and output and one over HTTP, over one configuration full of bad
upstreams, under a constant load; half an hour by default.

Every few seconds it measures both, and in the end fits a line through each gauge. It fails if a line rises beyond its
bound, if anything asked was not answered, if the good upstream's answers were ever wrong, or if a process is left.
"""

import argparse
import functools
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

import anyio

from tests.soak.company import DOES, chaos, configuration
from tests.soak.hosts import Tale, over_http, over_stdio
from tests.support.gauges import GAUGES, Sample, counting, growths, measure
from tests.support.hosts import Host, open_host
from tests.support.http_gateways import HttpGateway, open_http_gateway
from tests.support.http_stub import HttpStub, http_stub
from tests.support.processes import all_gone, marked

WORKERS: Final = 4
"""Hosts of each gateway. Together with the pauses between their turns that is some 25 requests a second."""

SAMPLE_SECONDS: Final = 5.0
MISCHIEF_SECONDS: Final = 5.0
FREEZE_SECONDS: Final = 2.0

WARM_UP_SHARE: Final = 1 / 3
"""Results are kept for ten minutes, back-offs grow to one, and what Python frees it keeps for a while."""


class Mischief:
    """What happens to the gateways from outside: edits of the configuration, and harm to processes of upstreams."""

    def __init__(self, config: Path, marker: str, url: str, rng: random.Random) -> None:
        self._config = config
        self._rng = rng
        self._marker = marker
        self._text = functools.partial(configuration, marker, url)
        self._editions: Counter[str] = Counter()

    def edit(self) -> None:
        """Starts two of the bad ones anew: what fails again and again is tried less and less."""
        self._editions.update(self._rng.sample(tuple(DOES), k=2))
        self._write(self._text(self._editions, guest=self._rng.random() < 0.5))

    def spoil(self) -> None:
        self._write(self._config.read_text(encoding="utf-8")[: self._rng.randint(1, 500)])

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._victim(), signal.SIGKILL)

    async def run(self) -> None:
        while True:
            await anyio.sleep(self._rng.expovariate(1 / MISCHIEF_SECONDS))
            match self._rng.choice(("edit", "edit", "spoil", "kill", "freeze")):
                case "edit":
                    self.edit()
                case "spoil":
                    self.spoil()
                    await anyio.sleep(FREEZE_SECONDS)
                    self.edit()
                case "kill":
                    self.kill()
                case _:
                    await self._freeze(self._victim())

    def _victim(self) -> int:
        """The process of a bad upstream."""
        bad = [pid for pid, command in marked(self._marker).items() if '"tools": 20' not in command]
        return self._rng.choice(bad)

    async def _freeze(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            try:
                await anyio.sleep(FREEZE_SECONDS)
            finally:
                os.kill(pid, signal.SIGCONT)

    def _write(self, text: str) -> None:
        self._config.write_text(text, encoding="utf-8")


class Watch:
    """Measures one gateway as long as the run lasts."""

    def __init__(self, name: str, pid: int, counts: Path) -> None:
        self.name = name
        self.samples: list[Sample] = []
        self._pid = pid
        self._counts = counts

    async def look(self, at: float) -> Sample:
        self.samples.append(await measure(self._pid, self._counts, at))
        return self.samples[-1]

    def report(self, warm_up_seconds: float) -> bool:
        """Prints how each gauge has gone; whether none has grown."""
        print(f"{self.name}\n  {'gauge':12} {'start':>9} {'rise':>9} {'bound':>7}")
        found = growths(self.samples, warm_up_seconds)
        for growth in found:
            print(f"  {growth}")
        return not any(growth.is_leak for growth in found)


async def soak(seconds: float, seed: int, folder: Path) -> bool:
    rng, tale, marker = random.Random(seed), Tale(), f"toolfold-soak-{uuid4().hex}"
    async with http_stub({"tools/call": chaos(rng)}) as stub:
        config = folder / "mcp.json"
        config.touch(mode=0o600)
        mischief = Mischief(config, marker, stub.url, rng)
        mischief.edit()
        counts = [folder / "stdio-tasks", folder / "http-tasks"]
        async with (
            open_host(config, added=counting(counts[0])) as host,
            open_http_gateway(config, added=counting(counts[1])) as gateway,
        ):
            watches = [
                Watch("over standard input and output", host.process.pid, counts[0]),
                Watch("over HTTP", gateway.process.pid, counts[1]),
            ]
            async with anyio.create_task_group() as tasks:
                for _ in range(WORKERS):
                    tasks.start_soon(over_stdio, host, random.Random(rng.random()), tale)
                    tasks.start_soon(over_http, gateway.url, random.Random(rng.random()), tale)
                tasks.start_soon(mischief.run)
                await _watched(watches, seconds, functools.partial(_forget, stub, host, gateway))
                tasks.cancel_scope.cancel()
    return _judged(watches, tale, seconds, all_gone(marker))


async def _watched(watches: Sequence[Watch], seconds: float, forget: Callable[[], None]) -> None:
    began = time.monotonic()
    while (at := time.monotonic() - began) < seconds:
        samples = [await watch.look(at) for watch in watches]
        print(f"{at:6.0f} s " + " | ".join(_line(sample) for sample in samples), flush=True)
        forget()
        await anyio.sleep(SAMPLE_SECONDS)


def _line(sample: Sample) -> str:
    return " ".join(f"{gauge} {getattr(sample, gauge):.0f}" for gauge in GAUGES)


def _forget(stub: HttpStub, host: Host, gateway: HttpGateway) -> None:
    """What the tests' own ends keep of everything."""
    stub.seen.clear()
    stub.cut.clear()
    host.received[:] = [message for message in host.received if "method" not in message]
    host.stderr = gateway.stderr = ""


def _judged(watches: Sequence[Watch], tale: Tale, seconds: float, left: dict[int, str]) -> bool:
    for outcome, count in sorted(tale.outcomes.items()):
        print(f"{count:8} {outcome}")
    for wrong in tale.wrong[:20]:
        print("WRONG", wrong)
    grows = [not watch.report(seconds * WARM_UP_SHARE) for watch in watches]
    print(f"processes left: {len(left)}; wrong answers: {len(tale.wrong)}")
    return not (any(grows) or tale.wrong or left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    print(f"soak of {options.minutes:g} minutes, --seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        is_well = anyio.run(soak, options.minutes * 60, options.seed, Path(folder))
    print("nothing grows" if is_well else "FAILED")
    sys.exit(not is_well)


if __name__ == "__main__":
    main()
