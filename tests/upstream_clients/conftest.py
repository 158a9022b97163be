import sys
import time
from collections.abc import Iterator, Set

import pytest

from tests.support.processes import GONE_SECONDS, children, descriptors


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Fail a test after which a child process, even a zombie, or a pipe of ours is still there."""
    if sys.platform != "linux":
        yield
        return
    before = (children(), descriptors().keys())
    yield
    deadline = time.monotonic() + GONE_SECONDS
    # The watchdog and the threads that read pipes end by themselves, a moment after the gateway on a busy machine.
    while _left(*before) != (set(), {}) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _left(*before) == (set(), {})


def _left(known: Set[int], numbers: Set[int]) -> tuple[set[int], dict[int, str]]:
    return children() - known, {number: what for number, what in descriptors().items() if number not in numbers}
