"""The watch in conftest.py is itself held to what it promises, in a pytest of its own."""

from pathlib import Path

import pytest

INNER_TESTS = """
import asyncio
import time

import anyio.to_thread


def work():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass


async def test_busy_in_a_coroutine():
    work()


async def test_busy_in_a_callback():
    asyncio.get_running_loop().call_soon(work)
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def test_busy_in_a_loop_of_its_own():
    async def main():
        work()

    asyncio.run(main())


async def test_sleeping():
    time.sleep(0.3)


async def test_busy_in_a_thread():
    await anyio.to_thread.run_sync(work)


def test_busy_without_a_loop():
    work()
"""


def test_a_callback_that_works_trips_the_watch_and_one_that_waits_does_not(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(INNER_TESTS)
    pytester.makeini("[pytest]\nanyio_mode = auto")

    result = pytester.runpytest_subprocess("-rE", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=6, errors=3)
    result.stdout.fnmatch_lines_random(
        [f"ERROR *::test_busy_in_a_{what}*" for what in ("coroutine", "callback", "loop")]
    )
