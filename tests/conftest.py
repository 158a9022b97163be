"""What holds for every test: one event loop that is never blocked, and folders of its own.

Must never hold anything that only some tests need.
"""

import asyncio.events
import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

# How fast a machine makes up examples, or works on one, is no property of ours.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# What a user notices as a stall. CPU time of the loop's own thread, so that a busy machine or a worker thread does
# not count, only what one callback itself did.
MAX_CALLBACK_SECONDS = 0.2


class Collecting:
    """How long its thread has collected garbage: most of it is of the test session, and grows with every test."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0
        self._thread = threading.get_ident()

    def __call__(self, phase: str, _info: dict[str, int]) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._began = time.thread_time()
        else:
            self.seconds += time.thread_time() - self._began


def pytest_collection_finish() -> None:
    """Take the test session's own objects out of garbage collection, as far as they are there yet."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def the_event_loop_is_never_blocked() -> Iterator[None]:
    """Fail a test in which one callback of any event loop took more than `MAX_CALLBACK_SECONDS` of CPU time, but for that
    of collecting garbage."""
    blocked: list[str] = []
    collecting = Collecting()
    run = asyncio.events.Handle._run

    def watched(handle: asyncio.events.Handle) -> None:
        start = time.thread_time() - collecting.seconds
        run(handle)
        spent = time.thread_time() - collecting.seconds - start
        if spent > MAX_CALLBACK_SECONDS:
            blocked.append(f"{spent:.3f} s of CPU in {handle!r}")

    gc.callbacks.append(collecting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.events.Handle, "_run", watched)
        yield
    gc.callbacks.remove(collecting)
    if blocked:
        pytest.fail("The event loop was blocked:\n" + "\n".join(blocked), pytrace=False)


@pytest.fixture(autouse=True)
def folders_of_its_own(tmp_path: Path) -> Iterator[None]:
    """Keep every test, and the processes that it starts, away from the user's cache, state and configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLFOLD_CACHE_DIR", str(tmp_path / "toolfold-cache"))
        patch.setenv("TOOLFOLD_STATE_DIR", str(tmp_path / "toolfold-state"))
        patch.setenv("TOOLFOLD_DATA_DIR", str(tmp_path / "toolfold-data"))
        patch.delenv("TOOLFOLD_CONFIG", raising=False)
        yield
