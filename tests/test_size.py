"""The size of a gain: Hodges-Lehmann with an interval that assumes only symmetry."""

import math
import random
from itertools import product
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.errors import MalformedInput
from scoreboard.noise import (
    BlockStat,
    Calibration,
    block_stat,
)
from scoreboard.statistics.exact import (
    gain_floor_ppm,
)
from scoreboard.statistics.size import Basis, estimate, precision_weights, size, sized

small = st.integers(-200_000_000, 200_000_000)
block_stats = st.builds(BlockStat, small, st.integers(0, 200_000_000), small)
SCALE = Calibration(40_000_000, 400_000, 9)


@given(st.lists(small, min_size=1, max_size=12))
def test_with_equal_weights_the_size_is_hodges_lehmann(values: list[int]) -> None:
    averages = [(a + b) / 2 for i, a in enumerate(values) for b in values[i:]]
    assert abs(estimate(values, [1] * len(values)).point - median(averages)) <= 1


def test_the_interval_is_the_signed_rank_interval_when_weights_are_equal() -> None:
    values = [int(x) for x in np.random.default_rng(1).normal(2e7, 2e7, 10)]
    averages = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    found = estimate(values, [7] * 10)
    assert found.low == math.floor(averages[8])  # P(W <= 8) = 25/1024 for n = 10
    assert found.high == math.floor(averages[-9])
    assert found.confidence_ppm == 951_171


@pytest.mark.parametrize("weights", [[1] * 10, [9, 1, 4, 2, 7, 3, 8, 1, 5, 2]])
def test_the_interval_covers_the_truth_as_often_as_it_says(weights: list[int]) -> None:
    size_of = np.random.default_rng(4).uniform(1e6, 5e7, 10)
    signs = list(product((1, -1), repeat=10))[::7]
    held = sum(
        low <= 0 <= high
        for pattern in signs
        for found in (estimate([int(s * x) for s, x in zip(pattern, size_of, strict=True)], weights),)
        for low, high in ((found.low, found.high + 1),)
    )
    assert 0.94 <= held / len(signs) <= 0.975


def test_a_heavier_block_pulls_the_size_and_an_unsteady_one_does_not() -> None:
    blocks = [BlockStat(30_000_000, 10_000_000, 30_000_000)] * 6 + [BlockStat(-90_000_000, 200_000_000, 30_000_000)] * 4
    assert size(blocks, SCALE).gain_ppm == gain_floor_ppm(30_000_000)
    equal = estimate([b.d_nanologs for b in blocks], [1] * 10)
    assert equal.point < 0


def test_the_lesser_of_trimmed_mean_and_total_is_the_gain() -> None:
    tail = [block_stat([100] * 20, [92] * 19 + [400])] * 10
    found = size(tail, SCALE)
    assert (found.basis, found.trimmed_ppm) == (Basis.TOTAL, 86_956)
    assert found.gain_ppm == found.total_ppm < 0


def test_blocks_that_one_arm_made_wild_keep_their_say_in_the_size() -> None:
    rng = random.Random(6)
    winning, losing = [], []
    for _ in range(6):
        base, cand = ([round(1e7 * math.exp(rng.gauss(0, 0.05))) for _ in range(20)] for _ in range(2))
        winning.append(block_stat([round(1.03 * t) for t in base], cand))
        losing.append(block_stat(base, [10 * t if i < 6 else t for i, t in enumerate(cand)]))
    assert size(winning, SCALE).gain_ppm > 0
    assert size(winning[:4] + losing, SCALE).gain_ppm < 0
    unheld = [BlockStat(s.d_nanologs, 1_000_000_000, s.total_nanologs) for s in losing]
    assert size(winning[:4] + unheld, SCALE).gain_ppm > 0


@given(st.lists(block_stats, min_size=6, max_size=8), st.integers(0, 50_000_000), st.integers(0, 5))
def test_a_block_that_went_better_never_lowers_the_size(stats_: list[BlockStat], more: int, where: int) -> None:
    worse = stats_[where]
    better = BlockStat(worse.d_nanologs + more, worse.s_nanologs, worse.total_nanologs + more)
    improved = [*stats_[:where], better, *stats_[where + 1 :]]
    assert size(improved, SCALE).gain_ppm >= size(stats_, SCALE).gain_ppm


@given(st.lists(block_stats, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_size_holds_its_point_inside_its_interval_in_any_order(stats_: list[BlockStat], rng: object) -> None:
    found = size(stats_, SCALE)
    assert found.low_ppm <= found.gain_ppm <= found.high_ppm
    assert found.gain_ppm == min(found.trimmed_ppm, found.total_ppm)
    shuffled = list(stats_)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert size(shuffled, SCALE) == found


@pytest.mark.parametrize(("blocks", "confidence"), [(1, 0), (2, 500_000), (5, 937_500), (6, 968_750)])
def test_few_blocks_say_how_little_their_interval_holds(blocks: int, confidence: int) -> None:
    values = [10_000_000 * (i + 1) for i in range(blocks)]
    found = estimate(values, [1] * blocks)
    assert (found.low, found.high, found.confidence_ppm) == (values[0], values[-1], confidence)


@pytest.mark.parametrize("blocks", [0, 17])
def test_no_blocks_and_too_many_give_no_size(blocks: int) -> None:
    with pytest.raises(MalformedInput, match="give no estimate"):
        sized([BlockStat(0, 0, 0)] * blocks, [1] * blocks)


def test_weights_are_inverse_variances() -> None:
    assert precision_weights([10, 20, 100_000]) == [1_000_000, 250_000, 1]
