"""The test on signs, the rule of a round, and what holds whenever one stops and however often one looks."""

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.decide import (
    Action,
    Course,
    Fitness,
    Guard,
    Rule,
    Shown,
    course,
    expected_false_accepts_micro,
    faster,
    futile,
    guard,
    next_action,
    shown,
)
from scoreboard.errors import MalformedInput
from scoreboard.noise import BlockStat, block_stat, calibrate
from scoreboard.parse import decode, encode
from scoreboard.statistics.betting import GRID_PPM, MAX_E_MILLI, START, Bet, bet, e_value, first_crossing, wealth_of
from scoreboard.statistics.exact import log_gain

RULE = Rule()
PERCENT = log_gain(10_000)
bets = st.builds(Bet, st.integers(-150_000_000, 150_000_000), st.integers(5_000_000, 80_000_000))
UP, DOWN, FLAT = Bet(40_000_000, 20_000_000), Bet(-40_000_000, 20_000_000), Bet(0, 20_000_000)
WEAK = [Bet(40_000_000, 60_000_000), Bet(-20_000_000, 60_000_000)] * 24


def mirrored(item: Bet) -> Bet:
    return Bet(-item.d_nanologs, item.sigma_nanologs)


# --- the bets


def test_the_evidence_is_the_mixture_of_products_of_the_formula() -> None:
    blocks = [Bet(12_000_000, 20_000_000), Bet(-3_000_000, 15_000_000), Bet(90_000_000, 25_000_000), FLAT]
    products = []
    for gain in GRID_PPM:
        delta, wealth = math.log1p(gain / 1e6), 1.0
        for item in blocks:
            d, sigma = item.d_nanologs / 1e9, item.sigma_nanologs / 1e9
            stake = min(0.9, math.tanh(delta * min(abs(d), 2.5 * sigma) / sigma**2))
            wealth *= 1 + math.copysign(stake, d)
        products.append(wealth)
    expected = sum(products) / len(products)
    assert e_value(blocks) == pytest.approx(expected, abs=1e-3)
    assert wealth_of(blocks).log_e == pytest.approx(math.log(expected), abs=1e-7)


@given(st.lists(bets, min_size=1, max_size=6), st.sampled_from([0, PERCENT, -PERCENT]))
def test_over_all_outcomes_of_the_coins_the_evidence_averages_exactly_one(blocks: list[Bet], shift: int) -> None:
    around = [(item.d_nanologs + shift, item.sigma_nanologs) for item in blocks]
    total = Fraction(0)
    for signs in product((1, -1), repeat=len(blocks)):
        flipped = [Bet(s * value - shift, sigma) for s, (value, sigma) in zip(signs, around, strict=True)]
        wealth = wealth_of(flipped, shift)
        total += Fraction(sum(wealth.shares), wealth.scale)
    assert total == 2 ** len(blocks)


@given(st.lists(bets, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_blocks_does_not_change_the_evidence(blocks: list[Bet], rng: random.Random) -> None:
    shuffled = list(blocks)
    rng.shuffle(shuffled)
    assert wealth_of(shuffled) == wealth_of(blocks)


@given(st.lists(bets, min_size=1, max_size=20), st.integers(0, 100_000_000))
def test_a_block_that_went_better_never_lowers_the_evidence(blocks: list[Bet], more: int) -> None:
    better = [Bet(blocks[0].d_nanologs + more, blocks[0].sigma_nanologs), *blocks[1:]]
    assert sum(wealth_of(better).shares) >= sum(wealth_of(blocks).shares)


@given(st.lists(bets, max_size=20), st.integers(-50_000_000, 50_000_000))
def test_a_bet_on_the_opposite_is_the_bet_on_exchanged_labels(blocks: list[Bet], shift: int) -> None:
    assert wealth_of(blocks, shift, -1) == wealth_of([mirrored(item) for item in blocks], shift)


@pytest.mark.parametrize(("blocks", "least"), [(4, False), (5, True)])
def test_four_blocks_never_decide_and_five_of_a_kind_do(blocks: int, *, least: bool) -> None:
    certain = [Bet(10**9, 5_000_000)] * blocks
    assert faster(certain, 50_000) is least
    assert faster([mirrored(item) for item in certain], 50_000) is False


def test_the_bar_is_one_over_alpha_exactly() -> None:
    wealth = wealth_of([UP] * 3)
    exact = Fraction(sum(wealth.shares), wealth.scale)
    chance = 10**6 / exact
    assert wealth.reaches(math.ceil(chance))
    assert not wealth.reaches(math.ceil(chance) - 1)
    assert START.reaches(1_000_000)
    doubled = START.after(Bet(10**9, 1))
    assert doubled.reaches(526_316)
    assert not doubled.reaches(526_315)


def test_no_bar_is_crossed_before_the_least_number_of_blocks() -> None:
    certain = [Bet(10**9, 5_000_000)] * 9
    assert first_crossing(certain, 500_000, 7) == 7
    assert first_crossing(certain, 500_000, 1) == 2
    assert course(Rule(alpha_ppm=500_000, min_blocks=7), certain) == Course(Shown.FASTER, 7)


def test_evidence_stays_finite_over_thousands_of_blocks() -> None:
    assert wealth_of([UP] * 3000).e_milli == MAX_E_MILLI
    lost = wealth_of([DOWN] * 3000)
    assert lost.e_milli == 0
    assert math.isfinite(lost.log_e)
    assert lost.log_e < -100


def test_a_block_without_a_difference_moves_nothing() -> None:
    assert e_value([FLAT] * 10) == 1.0


def test_once_crossed_the_evidence_need_not_stay() -> None:
    assert first_crossing([UP] * 8 + [DOWN] * 30, 50_000, 5) == first_crossing([UP] * 8, 50_000, 5)
    assert wealth_of([UP] * 8 + [DOWN] * 30).e_milli < 1000


@pytest.mark.parametrize(
    ("field", "value"), [("d_nanologs", 10**11), ("sigma_nanologs", 0), ("sigma_nanologs", 10**11)]
)
def test_a_bet_out_of_range_is_refused_by_field(field: str, value: int) -> None:
    with pytest.raises(MalformedInput) as error:
        Bet(**({"d_nanologs": 0, "sigma_nanologs": 1} | {field: value}))
    assert error.value.path == field


# --- faster, futile, guards


def test_what_comes_first_stands() -> None:
    assert course(RULE, [UP] * 30) == Course(Shown.FASTER, 5)
    assert course(RULE, [DOWN] * 30).shown is Shown.FUTILE
    assert course(RULE, [DOWN] * 10 + [UP] * 200).shown is Shown.FUTILE
    assert course(RULE, [UP] * 10 + [DOWN] * 200).shown is Shown.FASTER
    assert course(RULE, [UP, DOWN] * 2) == Course(Shown.UNDECIDED, 4)
    assert shown(RULE, []) is Shown.UNDECIDED


def test_an_unfit_node_never_says_that_there_is_no_gain() -> None:
    assert shown(RULE, [DOWN] * 30, Fitness.UNFIT) is Shown.UNDECIDED
    assert shown(RULE, [UP] * 30, Fitness.UNFIT) is Shown.FASTER
    assert shown(RULE, [DOWN] * 10 + [UP] * 200, Fitness.UNFIT) is Shown.FASTER


def test_futility_rules_out_the_floor_and_not_more() -> None:
    at_floor = [Bet(log_gain(20_000), 10_000_000)] * 40
    below = [Bet(0, 10_000_000)] * 40
    assert not futile(at_floor, 20_000, 100_000)
    assert futile(below, 20_000, 100_000)


def test_a_change_and_its_reversal_are_never_both_faster() -> None:
    rng = random.Random(4)
    for _ in range(50):
        blocks = [Bet(round(rng.gauss(2e7, 3e7)), 30_000_000) for _ in range(48)]
        assert not (faster(blocks, 50_000) and faster([mirrored(item) for item in blocks], 50_000))


@pytest.mark.parametrize(
    ("d_percent", "state"),
    [(3, Guard.HELD), (0, Guard.HELD), (-5, Guard.UNDECIDED), (-10, Guard.REGRESSED)],
)
def test_a_guard_is_held_broken_or_unknown(d_percent: int, state: Guard) -> None:
    level = log_gain(10_000 * d_percent) if d_percent > 0 else -log_gain(-10_000 * d_percent)
    assert guard([Bet(level, 10_000_000)] * 40, 50_000, 50_000) is state


def test_exactly_the_margin_is_undecided_however_long_one_looks() -> None:
    exact = [Bet(-log_gain(50_000), 10_000_000)] * 400
    assert guard(exact, 50_000, 50_000) is Guard.UNDECIDED


def test_a_guard_that_was_shown_first_stands() -> None:
    held, lost = Bet(0, 10_000_000), Bet(-log_gain(100_000), 10_000_000)
    assert guard([held] * 20 + [lost] * 200, 50_000, 50_000) is Guard.HELD
    assert guard([lost] * 20 + [held] * 200, 50_000, 50_000) is Guard.REGRESSED


def test_not_significantly_slower_is_not_a_guard() -> None:
    assert guard([Bet(-log_gain(100_000), 80_000_000)] * 4, 50_000, 50_000) is Guard.UNDECIDED


# --- the next action


@pytest.mark.parametrize(
    ("blocks", "fresh", "measured", "guards", "action"),
    [
        ([], 0, 0, (), Action.MEASURE),
        ([UP] * 4, 0, 4, (), Action.MEASURE),
        ([UP] * 5, 0, 5, (), Action.SIZE),
        ([UP] * 5, 9, 14, (), Action.SIZE),
        ([UP] * 5, 10, 15, (), Action.STOP_SIZED),
        ([UP] * 5, 10, 15, (Guard.HELD,), Action.STOP_SIZED),
        ([UP] * 5, 10, 15, (Guard.HELD, Guard.UNDECIDED), Action.GUARD),
        ([UP] * 5, 42, 57, (Guard.UNDECIDED,), Action.GUARD),
        ([UP] * 5, 43, 58, (Guard.UNDECIDED,), Action.STOP_BOUND),
        ([UP] * 5, 2, 7, (Guard.UNDECIDED, Guard.REGRESSED), Action.STOP_REGRESSED),
        ([DOWN] * 12, 0, 12, (Guard.UNDECIDED,), Action.STOP_FUTILE),
        (WEAK[:47], 0, 47, (), Action.MEASURE),
        (WEAK, 0, 48, (), Action.STOP_BOUND),
        (WEAK, 0, 0, (), Action.MEASURE),
    ],
)
def test_the_next_action(
    blocks: list[Bet], fresh: int, measured: int, guards: tuple[Guard, ...], action: Action
) -> None:
    sizes = [BlockStat(40_000_000, 50_000_000, 40_000_000)] * fresh
    assert next_action(RULE, blocks, sizes, measured=measured, guards=guards) is action


@pytest.mark.parametrize(("elapsed_ms", "action"), [(179_999, Action.MEASURE), (180_000, Action.STOP_BOUND)])
def test_time_ends_a_round_that_is_undecided(elapsed_ms: int, action: Action) -> None:
    assert next_action(RULE, [UP] * 3, [], measured=3, elapsed_ms=elapsed_ms) is action


def test_time_never_cuts_the_size_of_a_gain_short() -> None:
    assert next_action(RULE, [UP] * 5, [], measured=5, elapsed_ms=10**9) is Action.SIZE


def test_a_pair_that_was_sized_is_never_measured_again() -> None:
    sizes = [BlockStat(0, 50_000_000, 0)] * 10
    assert next_action(RULE, [UP] * 5, sizes, measured=0) is Action.STOP_SIZED
    assert next_action(RULE, [DOWN] * 12, [], measured=0) is Action.STOP_FUTILE


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [
        ("alpha_ppm", 1, 500_000),
        ("beta_ppm", 1, 500_000),
        ("size_blocks", 6, 16),
        ("floor_ppm", 0, 1_000_000),
        ("budget_ms", 1, 86_400_000),
        ("max_blocks", 5, 10_000),
    ],
)
def test_a_rule_is_checked_on_both_sides_of_every_range(field: str, low: int, high: int) -> None:
    for value in (low, high):
        rule = decode(Rule, {field: value})
        assert decode(Rule, encode(rule)) == rule
    for value in (low - 1, high + 1):
        with pytest.raises(MalformedInput) as error:
            decode(Rule, {field: value}, "speed")
        assert error.value.path == f"speed.{field}"


def test_chance_alarms_are_counted_by_pair() -> None:
    assert expected_false_accepts_micro(10_614, 50_000) == 530_700_000


# --- anytime validity, by simulation: no change, coins fair, noise of every kind

TRIALS = 500
LIMIT = 0.05 * TRIALS + 3 * math.sqrt(0.05 * 0.95 * TRIALS)
Noise = Callable[[random.Random], Iterator[float]]


def heavy_tails(rng: random.Random) -> Iterator[float]:
    while True:
        yield 0.01 * math.tan(math.pi * (rng.random() - 0.5))


def drift(rng: random.Random) -> Iterator[float]:
    level = rng.uniform(-0.05, 0.05)
    while True:
        level += 0.003
        yield level + rng.gauss(0, 0.02)


def autocorrelation(rng: random.Random) -> Iterator[float]:
    state = 0.0
    while True:
        state = 0.95 * state + rng.gauss(0, 0.01)
        yield state


def slot_bias(rng: random.Random) -> Iterator[float]:
    while True:
        yield 0.03 + rng.gauss(0, 0.01)


def scale_that_lies(rng: random.Random) -> Iterator[float]:
    """Blocks ten times as noisy as the calibration, in bursts."""
    while True:
        yield rng.gauss(0, 0.2 if rng.random() < 0.3 else 0.02)


def accepted(noise: Noise, coin: Callable[[random.Random], int], tests: int = 1, blocks: int = 48) -> int:
    """Trials in which identical code is ever shown faster by one of ``tests`` tests of ``blocks`` blocks each."""
    wins = 0
    for trial in range(TRIALS):
        rng = random.Random(trial)
        values = (max(-0.4, min(0.4, x)) for x in noise(rng))
        stream = (Bet(coin(rng) * round(1e3 * x) * 1_000_000, 20_000_000) for x in values)
        wins += any(faster(list(islice(stream, blocks)), RULE.alpha_ppm) for _ in range(tests))
    return wins


def fair(rng: random.Random) -> int:
    return 1 if rng.random() < 0.5 else -1


def none(_: random.Random) -> int:
    return 1


@pytest.mark.parametrize("noise", [heavy_tails, drift, autocorrelation, slot_bias, scale_that_lies])
def test_identical_code_is_ever_shown_faster_with_a_chance_of_at_most_alpha(noise: Noise) -> None:
    assert accepted(noise, fair) <= LIMIT


@pytest.mark.parametrize("noise", [drift, slot_bias])
def test_without_the_coin_the_same_noise_is_called_a_gain(noise: Noise) -> None:
    assert accepted(noise, none) > 5 * LIMIT


def test_five_restarts_raise_nothing_because_evidence_carries_over() -> None:
    assert accepted(slot_bias, fair, blocks=5 * 48) <= LIMIT


def test_five_restarts_from_nothing_would_have_raised_it() -> None:
    assert accepted(slot_bias, fair, tests=5) > LIMIT


def test_a_build_that_makes_its_losing_blocks_noisy_gains_nothing() -> None:
    def block(rng: random.Random, *, cheat: bool) -> BlockStat:
        level = rng.gauss(0, 0.015)
        base = [round(1e7 * math.exp(rng.gauss(0, 0.05))) for _ in range(20)]
        cand = [round(1e7 * math.exp(level + rng.gauss(0, 0.05))) for _ in range(20)]
        if cheat and block_stat(base, cand).d_nanologs < 0:
            cand = [10 * t if i < 6 else t for i, t in enumerate(cand)]
        return block_stat(base, cand)

    rng = random.Random(12)
    cal = calibrate([block(rng, cheat=False) for _ in range(9)])
    wins = sum(faster([bet(block(rng, cheat=True), cal) for _ in range(20)], RULE.alpha_ppm) for _ in range(60))
    assert wins <= 0.05 * 60 + 3 * math.sqrt(0.05 * 0.95 * 60)
