"""Logarithms on integers: one answer on every machine."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoreboard.errors import MalformedInput
from scoreboard.statistics.exact import (
    MAX_GAIN_PPM,
    divide_even,
    gain_floor_ppm,
    log_gain,
    log_of_mean_inverse,
    log_ratio,
    nanologs_of,
    tanh_floor_ppb,
)
from scoreboard.statistics.quantiles import chi2_10_micro, t95_micro

times = st.integers(1, 10**12)
small = st.integers(-200_000_000, 200_000_000)


@given(times, times)
def test_a_log_ratio_is_the_nearest_nanolog_and_flips_with_its_arguments(a: int, b: int) -> None:
    assert log_ratio(a, b) == -log_ratio(b, a)
    assert abs(log_ratio(a, b) - 1e9 * math.log(a / b)) <= 0.51


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 5), (5, 0), (-1, 1)])
def test_a_ratio_with_a_time_that_is_not_positive_is_refused_never_nan(a: int, b: int) -> None:
    with pytest.raises(MalformedInput, match="positive"):
        log_ratio(a, b)


@pytest.mark.parametrize(("gain_ppm", "found"), [(20_000, 20_000), (0, 0), (-20_000, -20_000), (1_000_000, 1_000_000)])
def test_a_gain_goes_there_and_back_within_a_thousandth_of_a_ppm(gain_ppm: int, found: int) -> None:
    assert gain_floor_ppm(log_gain(gain_ppm) + 1) == found
    assert gain_floor_ppm(log_gain(gain_ppm) - 1) == found - 1


def test_an_absurd_gain_is_held_to_the_largest_that_is_written() -> None:
    assert gain_floor_ppm(10**15) == MAX_GAIN_PPM
    assert gain_floor_ppm(-(10**15)) == -1_000_000


@given(st.integers(0, 10**12), st.integers(1, 10**12))
def test_a_stake_is_the_hyperbolic_tangent_rounded_down_and_below_one(numerator: int, denominator: int) -> None:
    found = tanh_floor_ppb(numerator, denominator)
    assert 0 <= found < 10**9
    assert -1e-6 <= 1e9 * math.tanh(numerator / denominator) - found <= 1.000001


@pytest.mark.parametrize(
    ("numerator", "denominator", "nearest"),
    [(1, 2, 0), (3, 2, 2), (-1, 2, 0), (-3, 2, -2), (7, 3, 2), (-7, 3, -2)],
)
def test_division_goes_to_the_nearest_integer_and_ties_to_even(numerator: int, denominator: int, nearest: int) -> None:
    assert divide_even(numerator, denominator) == nearest


@given(st.lists(small, min_size=1, max_size=20))
def test_the_total_of_log_ratios_is_the_total_over_equal_base_steps(logs: list[int]) -> None:
    expected = -math.log(sum(math.exp(-log / 1e9) for log in logs) / len(logs)) * 1e9
    assert abs(log_of_mean_inverse(logs) - expected) < 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 51.0, -51.0])
def test_a_log_ratio_from_outside_must_be_finite_and_of_a_sane_size(value: float) -> None:
    with pytest.raises(MalformedInput, match="not within"):
        nanologs_of(value)


@pytest.mark.parametrize("freedom", [*range(1, 65), 65, 80, 100, 400, 5000])
def test_quantiles_agree_with_scipy(freedom: int) -> None:
    assert t95_micro(freedom) / 1e6 == pytest.approx(stats.t.ppf(0.95, freedom), rel=1e-4, abs=1e-6)
    assert chi2_10_micro(freedom) / 1e6 == pytest.approx(stats.chi2.ppf(0.10, freedom), rel=1e-4, abs=1e-6)


def test_no_degrees_of_freedom_have_no_quantile() -> None:
    for quantile in (t95_micro, chi2_10_micro):
        with pytest.raises(MalformedInput, match="at least 1"):
            quantile(0)
