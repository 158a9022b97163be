"""A few seconds of `make fuzz`, always the same ones; and the fuzzer itself, which must find what is there to be found."""

import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import pytest

from tests.fuzz.faces import FACES
from tests.fuzz.mutations import bad
from tests.fuzz.trials import Face, fuzz

SEED: Final = 20261130
LONG_SECONDS: Final = 120.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
async def test_a_face_survives_some_bad_messages(face: Face) -> None:
    tally = await fuzz(face, SEED, LONG_SECONDS, starts=1, batches=1)
    assert tally.finding is None
    assert (tally.cases, tally.starts) == (16, 1)


class Brittle:
    """Breaks at a case that holds two bytes, once it has been fed at all."""

    async def feed(self, cases: Sequence[bytes]) -> bool:
        if any(b"n" in case and b"\0" in case for case in cases):
            raise ValueError("broken")
        return True


@asynccontextmanager
async def brittle(_kind: str) -> AsyncIterator[Brittle]:
    yield Brittle()


async def test_a_failure_is_found_and_made_as_small_as_it_can_be() -> None:
    def case(rng: random.Random, _kind: str) -> bytes:
        return bad(rng, {"jsonrpc": "2.0", "id": 1, "method": "ping"})

    tally = await fuzz(Face("brittle", ("only",), case, brittle), SEED, LONG_SECONDS)
    assert tally.finding is not None
    assert str(tally.finding.error) == "broken"
    assert [sorted(case) for case in tally.finding.cases] == [sorted(b"n\0")]


def test_a_seed_says_it_all() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"a": [1, 2]}}}
    once, again = ([bad(rng, message) for _ in range(200)] for rng in (random.Random(SEED), random.Random(SEED)))
    assert once == again
    assert len(set(once)) > 150
