"""What gets past the bounds on self-reported rates: the test states the wish, and fails until it comes true."""

import pytest

from scoreboard.bounds import Bound, BoundRule, Claim, Window, judge_claim

SECOND = 10**9
TRUE_RATE, START_UP_S, JITTER_S = 10, 33, 2


@pytest.mark.xfail(reason="LIMITS: a claim is bounded, not measured", strict=True, raises=AssertionError)
@pytest.mark.parametrize(("claimed", "slept_in_short_runs_s"), [(14, 0), (50, 80)])
def test_a_claim_that_is_not_true_is_refused(claimed: int, slept_in_short_runs_s: int) -> None:
    long_ns = (START_UP_S + 1000 // TRUE_RATE) * SECOND
    window = Window(0, 1000, (START_UP_S + slept_in_short_runs_s) * SECOND, long_ns)
    claim = Claim(claimed * 10**6, SECOND // claimed)
    assert judge_claim(BoundRule(), window, JITTER_S * SECOND, claim, TRUE_RATE * 10**6) is not Bound.ACCEPT
