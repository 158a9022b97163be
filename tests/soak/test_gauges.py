"""The judge of the soak: what grows is found, and what only wavers is not."""

import os
import random
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.gauges import GAUGES, Sample, counting, growths, measure

SECONDS = 1_800
WARM_UP = 600

ASLEEP = """
import asyncio, sys
async def main():
    tasks = [asyncio.ensure_future(asyncio.sleep(3600)) for _ in range(6)]
    print("there", end="", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())
"""


def samples(**each_minute: float) -> list[Sample]:
    """Of a run in which the gauges waver, and these also grow by so much a minute. At first everything grows."""
    rng = random.Random(7)
    taken = []
    for at in range(0, SECONDS, 5):
        warming = min(at, WARM_UP) / 10
        values = {gauge: 50 + warming + rng.gauss(0, 4) + each_minute.get(gauge, 0) * at / 60 for gauge in GAUGES}
        taken.append(Sample(at=at, **values))  # type: ignore[arg-type]  # whole numbers are not what matters here
    return taken


def test_what_wavers_after_the_warm_up_does_not_grow() -> None:
    assert [growth.gauge for growth in growths(samples(), WARM_UP) if growth.is_leak] == []


@pytest.mark.parametrize("gauge", GAUGES)
def test_what_grows_by_three_a_minute_is_found_and_nothing_else(gauge: str) -> None:
    found = growths(samples(**{gauge: 3.0}), WARM_UP)
    assert [growth.gauge for growth in found if growth.is_leak] == [gauge]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_process_tells_its_tasks_and_shows_the_rest(tmp_path: Path) -> None:
    environment = {**os.environ, **counting(tmp_path / "tasks")}
    async with await anyio.open_process([sys.executable, "-c", ASLEEP], env=environment) as process:
        assert process.stdout is not None
        assert await process.stdout.receive() == b"there"
        sample = await measure(process.pid, tmp_path / "tasks", 1.0)
        process.kill()
    assert (sample.tasks, sample.threads, sample.children) == (7, 1, 0)
    assert sample.descriptors >= 3
    assert sample.rss > 1
