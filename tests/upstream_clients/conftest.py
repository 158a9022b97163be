import sys
import time
from collections.abc import Iterator

import pytest

from tests.support.processes import GONE_SECONDS, children, descriptors


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Fail a test after which a child process, even a zombie, or a pipe of ours is still there."""
    if sys.platform != "linux":
        yield
        return
    before = (children(), descriptors())
    yield
    deadline = time.monotonic() + GONE_SECONDS
    while children() - before[0] and time.monotonic() < deadline:
        time.sleep(0.01)  # the watchdog ends by itself, a moment after the gateway on a busy machine
    left = {number: what for number, what in descriptors().items() if number not in before[1]}
    assert (children() - before[0], left) == (set(), {})
