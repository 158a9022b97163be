"""An upstream that answers no call is spared, tried, and spared for longer."""

from upstream_clients.breaker import FAILURES, LONGEST_SECONDS, Breaker, Way


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock, lambda _least, _most: 1.0)
    for _ in range(FAILURES):
        assert breaker.ask() is Way.THROUGH
        breaker.failed()
    return breaker


def test_an_answer_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(Clock())
    for _ in range(3):
        for _ in range(FAILURES - 1):
            breaker.failed()
        breaker.answered()
    assert breaker.ask() is Way.THROUGH


def test_after_so_many_failures_in_a_row_calls_are_refused_for_a_while() -> None:
    clock = Clock()
    breaker = opened(clock)
    assert (breaker.ask(), breaker.seconds_left, breaker.failures) == (Way.REFUSED, 1.0, FAILURES)
    clock.now += 0.9
    assert breaker.ask() is Way.REFUSED


def test_then_one_caller_tries_it_and_the_others_are_refused() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 1
    assert [breaker.ask() for _ in range(3)] == [Way.TRIAL, Way.REFUSED, Way.REFUSED]
    breaker.gave_up()
    assert [breaker.ask() for _ in range(2)] == [Way.TRIAL, Way.REFUSED]


def test_an_answered_trial_lets_calls_through_and_the_next_silence_opens_it_for_longer() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 1
    breaker.ask()
    breaker.tried_well()
    assert breaker.ask() is Way.THROUGH
    breaker.failed()
    assert (breaker.ask(), breaker.seconds_left) == (Way.REFUSED, 2.0)


def test_trials_in_vain_come_less_and_less_often_within_a_bound() -> None:
    clock = Clock()
    breaker = opened(clock)
    waits = []
    for _ in range(8):
        waits.append(breaker.seconds_left)
        clock.now += breaker.seconds_left
        assert breaker.ask() is Way.TRIAL
        breaker.tried_in_vain()
    assert waits == [1, 2, 4, 8, 16, 32, LONGEST_SECONDS, LONGEST_SECONDS]


def test_calls_that_fail_late_do_not_end_the_trial() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 1
    assert breaker.ask() is Way.TRIAL
    breaker.failed()
    assert breaker.ask() is Way.REFUSED


def test_an_answer_forgets_how_often_it_was_open() -> None:
    clock = Clock()
    breaker = opened(clock)
    breaker.answered()
    for _ in range(FAILURES):
        breaker.failed()
    assert breaker.seconds_left == 1.0
