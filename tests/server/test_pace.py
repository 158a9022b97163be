"""Work in threads makes way for calls: it rests while they come, and works on where there are none."""

import time

import pytest

from server.pace import REST_SECONDS, Pace


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was rested; the clock goes on by itself: a millisecond each time that it is looked at."""
    clock, rested = [100.0], list[float]()

    def now() -> float:
        clock[0] += 0.001
        return clock[0]

    def rest(seconds: float) -> None:
        rested.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "monotonic", now)
    monkeypatch.setattr(time, "sleep", rest)
    return rested


def test_work_rests_between_its_steps_for_a_while_after_a_call(rests: list[float]) -> None:
    pace = Pace()
    pace.called()
    for _ in range(10):
        pace.give_way()
    assert rests == [REST_SECONDS] * 10
    for _ in range(1_000):
        pace.give_way()
    assert 300 < len(rests) < 600


def test_work_does_not_rest_where_nothing_is_called(rests: list[float]) -> None:
    pace = Pace()
    for _ in range(100):
        pace.give_way()
    assert rests == []


def test_short_steps_are_counted_together(monkeypatch: pytest.MonkeyPatch, rests: list[float]) -> None:
    pace = Pace()
    pace.called()
    pace.give_way()
    monkeypatch.setattr(time, "monotonic", lambda: 100.003)
    for _ in range(100):
        pace.give_way()
    assert len(rests) == 1
