import sys
from collections.abc import Iterator

import pytest

from tests.support.processes import children, descriptors


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Fail a test after which a child process, even a zombie, or a pipe of ours is still there."""
    if sys.platform != "linux":
        yield
        return
    before = (children(), descriptors())
    yield
    left = {number: what for number, what in descriptors().items() if number not in before[1]}
    assert (children() - before[0], left) == (set(), {})
