import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.support.processes import all_gone


@pytest.fixture
def marker() -> Iterator[str]:
    """Stands in the command line of everything that a test has started, and makes sure that it all ends."""
    if sys.platform != "linux":
        pytest.skip("finds processes through /proc")
    marker = f"toolfold-test-{uuid4().hex}"
    yield marker
    assert all_gone(marker) == {}
