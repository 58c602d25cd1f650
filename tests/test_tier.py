from fractions import Fraction

import pytest
from case_study import TIERS, utps, vectors
from hypothesis import given
from hypothesis import strategies as st

from scoreboard.errors import MalformedInput
from scoreboard.model import Tier
from scoreboard.tier import TierBasis, gain_of, ppm_down, tier_basis, tier_of

FLOOR = Fraction(2, 100)
BARS = (Fraction(35, 1000), Fraction(60, 1000), Fraction(100, 1000), Fraction(180, 1000))
STEP = Fraction(1, 10**12)
RANK = list(Tier)
rates = st.integers(min_value=1, max_value=10**15)


def label(frontier_utps: int, rate_utps: int) -> str:
    """The ladder's word for a gain over the frontier: ``none`` up to the floor, then the tier."""
    gain = gain_of(frontier_utps, rate_utps)
    return tier_of(gain, TIERS).value.upper() if gain > FLOOR else "none"


@pytest.mark.parametrize(
    ("gain", "tier"),
    [
        (FLOOR + STEP, Tier.XS),
        (BARS[0] - STEP, Tier.XS),
        (BARS[0], Tier.S),
        (BARS[0] + STEP, Tier.S),
        (BARS[1] - STEP, Tier.S),
        (BARS[1], Tier.M),
        (BARS[1] + STEP, Tier.M),
        (BARS[2] - STEP, Tier.M),
        (BARS[2], Tier.L),
        (BARS[2] + STEP, Tier.L),
        (BARS[3] - STEP, Tier.L),
        (BARS[3], Tier.XL),
        (BARS[3] + STEP, Tier.XL),
        (Fraction(10**6), Tier.XL),
    ],
)
def test_a_gain_exactly_at_a_bar_belongs_to_the_tier_that_begins_there(gain: Fraction, tier: Tier) -> None:
    assert tier_of(gain, TIERS) is tier


def test_a_gain_that_was_shown_is_never_below_xs_however_small_its_share_of_the_reference() -> None:
    assert tier_of(Fraction(1, 10**9), TIERS) is Tier.XS


@pytest.mark.parametrize("vector", vectors("float_boundary_vectors"), ids=lambda v: f"{v['frontier']}-{v['tps']}")
def test_bars_are_decided_as_exact_arithmetic_decides_them(vector: dict[str, object]) -> None:
    frontier, rate = utps(float(str(vector["frontier"]))), utps(float(str(vector["tps"])))
    assert gain_of(frontier, rate) == Fraction(str(vector["exact_gain"]))
    assert label(frontier, rate) == vector["label_exact_arithmetic"]


def test_floats_disagree_with_exact_arithmetic_on_890_points_of_the_grid() -> None:
    """The grid: frontiers 1.00 to 120.00 in steps of 0.01, rates exactly at a bar in hundredths."""
    kinds: dict[str, int] = {}
    for frontier in range(100, 12_001):
        for bar in (FLOOR, *BARS):
            rate = frontier * (1 + bar)
            if rate.denominator != 1:
                continue
            exact, by_float = label(frontier, int(rate)), float_label(frontier / 100, int(rate) / 100)
            if exact != by_float:
                kinds[f"{by_float} instead of {exact}"] = kinds.get(f"{by_float} instead of {exact}", 0) + 1
    survey = vectors("float_boundary_survey")
    assert kinds == survey["by_kind_float_vs_exact"]
    assert sum(kinds.values()) == survey["disagreements"] == 890


def float_label(frontier: float, rate: float) -> str:
    """The same rule in binary floating point: what must not decide."""
    gain = (rate - frontier) / frontier
    if gain <= 0.02:
        return "none"
    bars = ((0.18, "XL"), (0.1, "L"), (0.06, "M"), (0.035, "S"))
    return next((name for bar, name in bars if gain >= bar), "XS")


def test_a_float_is_refused_as_a_basis() -> None:
    with pytest.raises(TypeError, match="exact"):
        tier_of(0.035, TIERS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("base_utps", "reference_utps", "basis", "denominator"),
    [
        (100, None, Fraction(10, 100), TierBasis.FRONTIER),
        (100, 99, Fraction(10, 100), TierBasis.FRONTIER),
        (100, 100, Fraction(10, 100), TierBasis.FRONTIER),
        (100, 101, Fraction(10, 101), TierBasis.REFERENCE),
        (100, 1000, Fraction(1, 100), TierBasis.REFERENCE),
    ],
)
def test_the_basis_is_the_lesser_of_both_shares(
    base_utps: int, reference_utps: int | None, basis: Fraction, denominator: TierBasis
) -> None:
    assert tier_basis(Fraction(1, 10), base_utps, reference_utps) == (basis, denominator)


@pytest.mark.parametrize(("base_utps", "reference_utps"), [(0, 100), (-1, 100), (100, 0), (100, -5)])
def test_a_denominator_that_is_not_above_zero_is_refused(base_utps: int, reference_utps: int) -> None:
    with pytest.raises(MalformedInput, match="not above 0"):
        tier_basis(Fraction(1, 10), base_utps, reference_utps)


@pytest.mark.parametrize(
    ("share", "ppm"),
    [
        (Fraction(1, 3), 333_333),
        (Fraction(-1, 3), -333_334),
        (Fraction(0), 0),
        (Fraction(2, 100), 20_000),
        (Fraction(10**40), 2**63 - 1),
        (Fraction(-(10**40)), 1 - 2**63),
    ],
)
def test_a_share_in_ppm_is_rounded_against_the_candidate_and_fits_the_record(share: Fraction, ppm: int) -> None:
    assert ppm_down(share) == ppm


@given(st.fractions(min_value=0, max_value=2), st.fractions(min_value=0, max_value=2))
def test_a_greater_gain_never_has_a_lesser_tier(a: Fraction, b: Fraction) -> None:
    low, high = sorted((a, b))
    assert RANK.index(tier_of(low, TIERS)) <= RANK.index(tier_of(high, TIERS))


@given(rates, rates, rates)
def test_a_reference_never_raises_the_basis_of_a_gain(base: int, rate: int, reference: int) -> None:
    gain = abs(gain_of(base, rate))
    basis, denominator = tier_basis(gain, base, reference)
    assert basis == min(gain, gain * Fraction(base, reference))
    assert (denominator is TierBasis.REFERENCE) == (basis < gain)


@given(rates, rates, st.integers(min_value=1, max_value=1000))
def test_a_tier_does_not_depend_on_the_unit_of_the_rates(base: int, rate: int, unit: int) -> None:
    assert gain_of(base * unit, rate * unit) == gain_of(base, rate)
