"""Blocks of paired timings, their scale, and what A/A blocks say of a node."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoreboard.errors import MalformedInput
from scoreboard.noise import (
    BlockStat,
    Calibration,
    block_stat,
    calibrate,
    sigma,
    trimmed_mean,
    winsorised_sd,
)
from scoreboard.statistics.betting import MAX_STAKE_PPB, Bet, Wealth, bet, e_value, wealth_of
from scoreboard.statistics.exact import (
    divide_even,
    gain_floor_ppm,
    log_ratio,
)
from scoreboard.statistics.scatter import (
    beyond_largest_ppm,
    drift_ppm_per_minute,
    floor_sd,
    floor_sd_upper,
    harness_e_milli,
    lag1_ppm,
    mean_threshold,
    share,
    slot_effect,
)

times = st.integers(1, 10**12)
pairs = st.lists(st.tuples(times, times), min_size=1, max_size=30)
small = st.integers(-200_000_000, 200_000_000)
block_stats = st.builds(BlockStat, small, st.integers(0, 200_000_000), small)
SCALE = Calibration(40_000_000, 400_000, 9)


def flipped(stat: BlockStat) -> BlockStat:
    return BlockStat(-stat.d_nanologs, stat.s_nanologs, -stat.total_nanologs)


def test_a_block_is_trimmed_mean_winsorised_spread_and_total() -> None:
    rng = np.random.default_rng(5)
    base, cand = (rng.lognormal(17, 0.05, 20).astype(int).tolist() for _ in range(2))
    y = np.log(np.array(base) / np.array(cand))
    stat = block_stat(base, cand)
    assert stat.d_nanologs == pytest.approx(1e9 * stats.trim_mean(y, 0.2), abs=2)
    winsorised = np.asarray(stats.mstats.winsorize(y, (0.2, 0.2)))
    assert stat.s_nanologs == pytest.approx(1e9 * winsorised.std(ddof=1), abs=2)
    assert stat.total_nanologs == pytest.approx(1e9 * math.log(sum(base) / sum(cand)), abs=1)


@given(pairs)
def test_exchanging_the_labels_flips_the_signs_and_keeps_the_spread(block: list[tuple[int, int]]) -> None:
    base, cand = [b for b, _ in block], [c for _, c in block]
    assert block_stat(cand, base) == flipped(block_stat(base, cand))


@given(pairs, st.integers(2, 1000))
def test_a_machine_that_is_slower_for_both_arms_changes_nothing(block: list[tuple[int, int]], factor: int) -> None:
    base, cand = [b for b, _ in block], [c for _, c in block]
    assert block_stat([factor * b for b in base], [factor * c for c in cand]) == block_stat(base, cand)


def test_one_pair_is_a_block_without_a_spread() -> None:
    assert block_stat([110], [100]) == BlockStat(log_ratio(110, 100), 0, log_ratio(110, 100))


def test_one_slow_step_in_twenty_moves_the_total_and_not_the_trimmed_mean() -> None:
    base, cand = [100] * 20, [92] * 19 + [400]
    stat = block_stat(base, cand)
    assert gain_floor_ppm(stat.d_nanologs) == 86_956
    assert stat.total_nanologs < 0


def test_a_build_that_makes_half_of_its_steps_wild_does_not_widen_the_block_beyond_the_steady_arm() -> None:
    rng = np.random.default_rng(3)
    base, cand = (rng.lognormal(17, 0.05, 20).astype(int).tolist() for _ in range(2))
    wild = [10 * c if i % 2 else c for i, c in enumerate(cand)]
    steady = winsorised_sd([log_ratio(b, base[0]) for b in base])
    assert winsorised_sd([log_ratio(b, c) for b, c in zip(base, wild, strict=True)]) > 20 * steady
    assert block_stat(base, wild).s_nanologs == 2 * steady


@pytest.mark.parametrize(("base", "cand"), [([], []), ([1], []), ([1, 2], [1, 2, 3])])
def test_steps_without_a_partner_are_refused(base: list[int], cand: list[int]) -> None:
    with pytest.raises(MalformedInput, match="a block needs pairs"):
        block_stat(base, cand)


@pytest.mark.parametrize(("count", "kept"), [(1, 1), (4, 4), (5, 3), (9, 7), (10, 6), (20, 12)])
def test_a_fifth_is_cut_on_each_side(count: int, kept: int) -> None:
    values = list(range(count))
    values[0], values[-1] = values[0] - 10**6 * (kept < count), values[-1] + 10**6 * (kept < count)
    assert trimmed_mean(values) == divide_even(count - 1, 2)


@pytest.mark.parametrize("field", ["d_nanologs", "s_nanologs", "total_nanologs"])
def test_a_block_beyond_any_measurable_ratio_is_refused_by_field(field: str) -> None:
    with pytest.raises(MalformedInput) as error:
        BlockStat(**({"d_nanologs": 0, "s_nanologs": 0, "total_nanologs": 0} | {field: 2 * 10**11}))
    assert error.value.path == field


def test_the_scale_fits_blocks_of_known_noise() -> None:
    rng = np.random.default_rng(11)
    spread = rng.uniform(0.02, 0.08, 400)
    aa = [
        BlockStat(round(1e9 * d), round(1e9 * s), 0) for d, s in zip(rng.normal(0, 0.5 * spread), spread, strict=True)
    ]
    cal = calibrate(aa)
    s_ref = float(np.median(spread))
    assert cal.s_ref_nanologs == pytest.approx(1e9 * s_ref, abs=2)
    scores = np.array([(a.d_nanologs / 1e9) ** 2 / (0.2 * s_ref**2 + (a.s_nanologs / 1e9) ** 2) for a in aa])
    kappa = math.sqrt(np.minimum(scores, 9 * np.median(scores)).mean())
    assert cal.kappa_ppm == pytest.approx(1e6 * kappa, abs=2)
    assert sigma(cal, 50_000_000) == pytest.approx(1e9 * kappa * math.sqrt(0.2 * s_ref**2 + 0.05**2), rel=1e-5)


@given(st.lists(block_stats, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_scale_knows_neither_labels_nor_order(aa: list[BlockStat], rng: object) -> None:
    shuffled = [flipped(stat) for stat in aa]
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert calibrate(shuffled) == calibrate(aa)


def test_blocks_of_one_pair_share_one_scale_their_root_mean_square() -> None:
    aa = [BlockStat(d, 0, d) for d in (3_000_000, -4_000_000, 5_000_000)]
    cal = calibrate(aa)
    assert cal.s_ref_nanologs == 0
    assert sigma(cal, 0) == sigma(cal, 10**8) == math.isqrt(50_000_000_000_000 // 3)


def test_one_wild_calibration_block_does_not_set_the_scale() -> None:
    aa = [BlockStat(d, 0, d) for d in (1_000_000,) * 8]
    wild = calibrate([*aa, BlockStat(500_000_000, 0, 0)])
    assert sigma(wild, 0) < 2 * sigma(calibrate(aa), 0)


def test_a_node_without_any_noise_still_has_a_scale() -> None:
    assert sigma(calibrate([BlockStat(0, 0, 0)] * 5), 0) == 1


def test_a_scale_needs_blocks() -> None:
    with pytest.raises(MalformedInput, match="no A/A blocks"):
        calibrate([])


@pytest.mark.parametrize(
    ("field", "value"), [("s_ref_nanologs", -1), ("kappa_ppm", 0), ("kappa_ppm", 10**18), ("blocks", 0)]
)
def test_a_scale_out_of_range_is_refused_by_field(field: str, value: int) -> None:
    with pytest.raises(MalformedInput) as error:
        Calibration(**({"s_ref_nanologs": 1, "kappa_ppm": 1, "blocks": 1} | {field: value}))
    assert error.value.path == field


def test_the_floor_is_the_root_mean_square_and_its_bound_is_wider_by_the_quantile() -> None:
    assert floor_sd([3_000, -4_000]) == math.isqrt(12_500_000) + 1
    assert floor_sd_upper(10_000_000, 5) / 10_000_000 == pytest.approx(1.762, abs=1e-3)


def test_the_threshold_of_a_mean_falls_with_the_root_of_its_blocks() -> None:
    one, nine = mean_threshold(20_000_000, 9, 1), mean_threshold(20_000_000, 9, 9)
    assert one == pytest.approx(1.833113 * 20_000_000, abs=2)
    assert nine == pytest.approx(one / 3, abs=2)


@pytest.mark.parametrize(("blocks", "ppm"), [(5, 83_334), (9, 50_000), (19, 25_000)])
def test_the_largest_block_as_a_threshold_accepts_this_often(blocks: int, ppm: int) -> None:
    assert beyond_largest_ppm(blocks) == ppm


def test_lag_one_sees_blocks_that_follow_each_other() -> None:
    assert lag1_ppm([5, 5, 5, 5]) == 750_000
    assert lag1_ppm([5, -5, 5, -5]) == -750_000
    assert lag1_ppm([0, 0, 0]) == 0


def test_drift_is_the_median_slope_and_ignores_one_wild_block() -> None:
    at = [60_000 * i for i in range(9)]
    level = [round(1e9 * 1.01**i) for i in range(9)]
    level[4] *= 3
    found = drift_ppm_per_minute(at, level)
    assert found == pytest.approx(9_950, abs=20)
    assert drift_ppm_per_minute([5, 5], [1, 2]) is None


def test_drift_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    at = np.cumsum(rng.integers(1000, 9000, 11))
    level = rng.lognormal(17, 0.02, 11)
    slope = stats.theilslopes(np.log(level), at).slope
    found = drift_ppm_per_minute([int(t) for t in at], [int(x) for x in level])
    assert found == pytest.approx(1e6 * 60_000 * slope, abs=3)


@pytest.mark.parametrize("blocks", [6, 12])
def test_the_chance_of_a_slot_effect_agrees_with_a_sign_flip_test(blocks: int) -> None:
    d = np.random.default_rng(blocks).normal(0.5, 1, blocks) * 1e7
    found = slot_effect([int(x) for x in d], [True] * blocks)
    sums = [abs(sum(s * int(x) for s, x in zip(signs, d, strict=True))) for signs in product((1, -1), repeat=blocks)]
    assert found.p_ppm == math.ceil(1e6 * sum(total >= sums[0] for total in sums) / len(sums))
    assert found.ppm == pytest.approx(d.mean() / 1000, abs=1)


def test_many_blocks_take_the_normal_limit_of_the_same_chance() -> None:
    d = [10_000_000, -9_000_000, 4_000_000] * 4
    exact, limit = slot_effect(d, [True] * 12), slot_effect(d * 2, [True] * 24)
    assert exact.p_ppm > limit.p_ppm > 100_000
    assert slot_effect([0] * 20, [False] * 20).p_ppm == 1_000_000


def test_a_slot_that_is_faster_is_seen_whoever_sits_in_it() -> None:
    swapped = [True, False] * 6
    effect = slot_effect([10_000_000 if swap else -10_000_000 for swap in swapped], swapped)
    assert effect.ppm == 10_000
    assert effect.p_ppm < 1_000


def test_a_harness_that_favours_a_label_is_found_out_and_a_fair_one_is_not() -> None:
    fair = [Bet((-1) ** i * 20_000_000, 20_000_000) for i in range(20)]
    biased = [Bet(20_000_000, 20_000_000)] * 20
    assert harness_e_milli([]) == 1_000
    assert harness_e_milli(fair) < 1_000
    assert harness_e_milli(biased) > 20_000
    assert harness_e_milli([Bet(-20_000_000, 20_000_000)] * 20) == harness_e_milli(biased)


@pytest.mark.parametrize(("count", "of"), [(0, 10), (3, 400), (10, 400), (10, 10)])
def test_a_share_has_the_interval_of_wilson(count: int, of: int) -> None:
    reference = stats.binomtest(count, of).proportion_ci(method="wilson")
    found = share(count, of)
    assert found.low_ppm == pytest.approx(1e6 * reference.low, abs=1)
    assert found.high_ppm == pytest.approx(1e6 * reference.high, abs=1)


@pytest.mark.parametrize(("count", "of"), [(-1, 3), (4, 3), (0, 0)])
def test_a_share_of_nothing_is_refused(count: int, of: int) -> None:
    with pytest.raises(MalformedInput, match="no share"):
        share(count, of)


@pytest.mark.parametrize("facts", [floor_sd, lag1_ppm, lambda d: slot_effect(d, [])])
def test_facts_need_blocks(facts: object) -> None:
    with pytest.raises(MalformedInput, match="no A/A blocks"):
        facts([])  # type: ignore[operator]


def test_a_bet_carries_the_scale_of_its_time() -> None:
    stat = BlockStat(12_000_000, 30_000_000, 0)
    assert bet(stat, SCALE) == Bet(12_000_000, sigma(SCALE, 30_000_000))


def test_a_wild_block_costs_a_factor_of_ten_and_not_everything() -> None:
    assert e_value([Bet(-(10**9), 1_000)]) == pytest.approx(0.1)
    assert wealth_of([Bet(10**9, 1_000)]) == Wealth((10**9 + MAX_STAKE_PPB,) * 6, 1)
