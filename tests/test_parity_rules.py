"""Figures of graded rows: percentiles without interpolation, near ties apart, errors rounded up."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.errors import MalformedInput
from scoreboard.parity import overlap_ppm
from scoreboard.suites.parity_rules import percentile, standard_error_ppm, summarise


@pytest.mark.parametrize(
    ("share_ppm", "value"),
    [(1, 10), (250_000, 10), (250_001, 20), (500_000, 20), (750_000, 30), (999_999, 40), (1_000_000, 40)],
)
def test_a_percentile_is_the_least_value_that_enough_rows_do_not_exceed(share_ppm: int, value: int) -> None:
    assert percentile([40, 10, 30, 20], share_ppm) == value


@pytest.mark.parametrize(("kl", "share_ppm"), [([], 500_000), ([1], 0), ([1], 1_000_001), ([1], -5)])
def test_a_percentile_of_nothing_is_refused(kl: list[int], share_ppm: int) -> None:
    with pytest.raises(MalformedInput, match="share_ppm"):
        percentile(kl, share_ppm)


@given(st.lists(st.integers(0, 10**12), min_size=1), st.integers(1, 10**6))
def test_enough_rows_do_not_exceed_a_percentile_and_too_few_stay_below(kl: list[int], share_ppm: int) -> None:
    value = percentile(kl, share_ppm)
    assert sum(x <= value for x in kl) * 10**6 >= share_ppm * len(kl)
    assert sum(x < value for x in kl) * 10**6 < share_ppm * len(kl)


@given(st.integers(1, 10**6), st.data())
def test_a_standard_error_is_the_binomial_one_rounded_up(rows: int, data: st.DataObject) -> None:
    agreeing = data.draw(st.integers(0, rows))
    p = agreeing / rows
    exact = 1e6 * math.sqrt(p * (1 - p) / rows)
    assert exact - 1e-6 <= standard_error_ppm(agreeing, rows) < exact + 1 + 1e-6


def test_a_summary_keeps_near_ties_apart_and_rounds_against_the_candidate() -> None:
    found = summarise([1, 1, 2], ((0, 100), (2, 101)), 100)
    assert (found.rows, found.mean_nanonats, found.max_nanonats) == (3, 2, 2)
    assert (found.top1_ppm, found.hard_misses, found.near_ties) == (333_333, ((2, 101),), ((0, 100),))
    assert found.percentiles[500_000] == 1
    assert found.percentiles[999_000] == 2


def test_a_summary_of_no_rows_is_refused() -> None:
    with pytest.raises(MalformedInput, match="nothing to sum up"):
        summarise([], (), 0)


def test_overlap_is_the_mean_share_of_the_references_likeliest_tokens() -> None:
    reference = np.array([[5.0, 4.0, 3.0, 2.0], [5.0, 4.0, 3.0, 2.0]])
    candidate = np.array([[4.0, 5.0, 0.0, 1.0], [0.0, 1.0, 5.0, 4.0]])
    assert overlap_ppm(reference, candidate, 1) == 0
    assert overlap_ppm(reference, candidate, 2) == 500_000
    assert overlap_ppm(reference, candidate, 3) == 666_666
    assert overlap_ppm(reference, candidate, 4) == 1_000_000


def test_overlap_takes_the_lowest_index_of_equal_logits() -> None:
    assert overlap_ppm(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 1.0]]), 1) == 1_000_000
    assert overlap_ppm(np.array([[1.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 1.0]]), 1) == 0


@pytest.mark.parametrize("k", [0, 4, -1])
def test_overlap_of_an_impossible_number_is_refused(k: int) -> None:
    with pytest.raises(MalformedInput, match="k: is"):
        overlap_ppm(np.ones((1, 3)), np.ones((1, 3)), k)
