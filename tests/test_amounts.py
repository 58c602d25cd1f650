"""Amounts for people: digits that matter, a direction in words, one unit side by side, two sides told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.amounts import between, change, durations, gained, nats, percent, quantity, sides, times
from scoreboard.statistics.exact import log_ratio

UNITS = st.sampled_from(["ppm", "times", "nanonats", "milli", "blocks"])


@pytest.mark.parametrize(
    ("ppm", "text"),
    [
        (0, "0.00 %"),
        (1, "0.0001 %"),
        (40, "0.004 %"),
        (999, "0.1 %"),
        (1_000, "0.10 %"),
        (19_999, "2.00 %"),
        (99_999, "10.00 %"),
        (100_000, "10.0 %"),
        (-40, "-0.004 %"),
        (12_345_678_901, "1,234,567.9 %"),
    ],
)
def test_a_share_keeps_two_digits_that_matter(ppm: int, text: str) -> None:
    assert percent(ppm) == text
    if ppm:
        assert percent(ppm, sign=True) == (text if ppm < 0 else f"+{text}")


@pytest.mark.parametrize(
    ("ppm", "text"),
    [
        (0, "0 times"),
        (999_999, "0.999 times"),
        (1_000_000, "1 times"),
        (3_159_999, "3.15 times"),
        (5_000_000, "5 times"),
        (99_990_000, "99.9 times"),
        (1_000_999_000_000, "1,000,000 times"),
    ],
)
def test_a_ratio_keeps_three_digits_and_is_rounded_down(ppm: int, text: str) -> None:
    assert times(ppm) == text


@pytest.mark.parametrize(
    ("gain_ppm", "text"),
    [(150_731, "+15.1 %"), (-20_000, "-2.00 %"), (1_999_999, "+200.0 %"), (2_000_000, "3 times faster")],
)
def test_a_gain_is_a_percentage_below_three_times(gain_ppm: int, text: str) -> None:
    assert gained(gain_ppm) == text
    assert gained(gain_ppm, None, 1) == text


def test_a_gain_and_its_interval_are_told_in_one_way() -> None:
    assert gained(150_731, 142_000, 160_000) == "+15.1 % [14.2 %, 16.0 %]"
    assert gained(2_151_162, 2_000_000, 2_200_000) == "3.15 times faster [3 times, 3.2 times]"


@pytest.mark.parametrize(
    ("base", "candidate", "text"),
    [
        (118, 100, "18.0 % faster"),
        (100, 118, "18.0 % slower"),
        (100, 100, "no change"),
        (10**9, 10**9 - 1, "no change"),
        (299, 100, "199.0 % faster"),
        (301, 100, "3.01 times faster"),
        (100, 301, "3.01 times slower"),
    ],
)
def test_a_change_says_faster_or_slower_and_is_the_mirror_of_its_reversal(base: int, candidate: int, text: str) -> None:
    assert change(log_ratio(base, candidate)) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (10_000_000, 20_000_000, "1.00 % to 2.02 % faster"),
        (-20_000_000, -10_000_000, "1.00 % to 2.02 % slower"),
        (-10_000_000, 20_000_000, "1.00 % slower to 2.02 % faster"),
        (1_000_000_000, 2_000_000_000, "2.71 to 7.38 times faster"),
        (-1_500_000_000, -20_000_000, "1.02 to 4.48 times slower"),
        (0, 20_000_000, "no change to 2.02 % faster"),
        (None, 20_000_000, "at most 2.02 % faster"),
        (None, -20_000_000, "at least 2.02 % slower"),
        (10_000_000, None, "at least 1.00 % faster"),
        (-10_000_000, None, "at most 1.00 % slower"),
        (None, None, "not told yet"),
    ],
)
def test_what_is_left_has_a_direction_at_each_end(low: int | None, high: int | None, text: str) -> None:
    assert between(low, high) == text


@pytest.mark.parametrize(
    ("times_ns", "texts"),
    [
        ((3, 1_770_000), ["3 ns", "1,770,000 ns"]),
        ((0, 5), ["0 ns", "5 ns"]),
        ((999, 1_000), ["999 ns", "1000 ns"]),
        ((1_000, 2_500), ["1.000 µs", "2.500 µs"]),
        ((2_410_000, 2_020_000), ["2.410 ms", "2.020 ms"]),
        ((10**9, 10**13), ["1.000 s", "10,000.000 s"]),
    ],
)
def test_times_side_by_side_share_the_unit_of_the_shortest(times_ns: tuple[int, ...], texts: list[str]) -> None:
    assert durations(times_ns) == texts
    assert durations(times_ns[::-1]) == texts[::-1]


@given(st.integers(0, 10**12), st.integers(0, 10**12), UNITS)
def test_two_sides_look_alike_only_if_they_are(found: int, bound: int, unit: str) -> None:
    texts = sides(found, bound, unit)
    assert (texts[0] == texts[1]) is (found == bound)


def test_a_side_that_has_no_number_is_empty() -> None:
    assert sides(None, None, "") == ("", "")
    assert sides(3, None, "blocks") == ("3 blocks", "")


@pytest.mark.parametrize(
    ("nanonats", "text"), [(1, "1e-09"), (50_000_000, "0.05"), (7_700_000_000, "7.7"), (123_400_000_000, "123")]
)
def test_a_divergence_has_two_digits_and_no_power_of_ten_where_it_is_large(nanonats: int, text: str) -> None:
    assert nats(nanonats) == text
    assert quantity(nanonats, "nanonats") == f"{text} nats"
