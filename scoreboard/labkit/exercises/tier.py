"""``tier(base_utps, candidate_utps, reference_utps, bars)``: the size of a gain in exact arithmetic; T1 of the gate."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from random import Random
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

PPM = 1_000_000
BARS = {"xl": 180_000, "l": 100_000, "m": 60_000, "s": 35_000}
BOUNDARIES = (  # base and candidate in thousandths of a token per second: gains that stand exactly on a bar
    (1_000, 1_180),
    (2_000, 2_070),
    (3_550, 3_905),
    (4_000, 4_240),
    (50_000, 59_000),
    (10**14, 118 * 10**12),  # no float tells one step below the bar from the bar
)


def reference(base_utps: int, candidate_utps: int, reference_utps: int | None, bars: Mapping[str, int]) -> str:
    """As ``tier_basis`` and ``tier_of``: min(delta/reference, delta/frontier), the largest bar that it reaches."""
    denominator = base_utps if reference_utps is None else max(base_utps, reference_utps)
    basis = Fraction(candidate_utps - base_utps, denominator)
    return next((name for name, bar_ppm in bars.items() if basis * PPM >= bar_ppm), "xs")


def _gain(base: int, percent_tenths: int) -> int:
    return base * (1000 + percent_tenths) // 1000


def _middle() -> Iterable[tuple[Any, ...]]:
    for tenths in (48, 80, 140, 240, 350):
        yield 20_000_000, _gain(20_000_000, tenths), None, BARS


def _small() -> Iterable[tuple[Any, ...]]:
    yield 20_000_000, _gain(20_000_000, 25), None, BARS
    yield 20_000_000, 20_699_999, None, BARS


def _boundary() -> Iterable[tuple[Any, ...]]:
    for base, candidate in BOUNDARIES:
        yield base * 1000, candidate * 1000, None, BARS
        yield base * 1000, candidate * 1000 - 1, None, BARS
    random = Random("tier")
    for _ in range(60):
        base = random.randrange(1_00, 120_00) * 10_000
        bar = random.choice(tuple(BARS.values()))
        yield base, base + base * bar // PPM, None, BARS


def _reference_binds() -> Iterable[tuple[Any, ...]]:
    yield 10_000_000, 13_000_000, 18_440_000, BARS
    yield 10_000_000, 13_319_200, 18_440_000, BARS
    yield 10_000_000, 13_319_199, 18_440_000, BARS


def _frontier_binds() -> Iterable[tuple[Any, ...]]:
    yield 50_000_000, 56_000_000, 18_440_000, BARS
    yield 50_000_000, 59_000_000, 18_440_000, BARS
    yield 50_000_000, 53_000_000, 18_440_000, BARS


EXERCISE = Exercise(
    name="tier",
    notebook="03_write_the_gate",
    points=9,
    minutes=12,
    lines=6,
    hints=(
        "divide by hand: by the base, and by the reference; which quotient is smaller, and which bar does it reach?",
        "a float near a bar stands on the wrong side of it: 1.18 / 1.0 - 1 is below 0.18. Integers and Fraction do not",
        "shape: pick the denominator, make one Fraction, walk over the bars from the largest; 4 lines",
    ),
    properties=(
        Property(
            "tiers away from the bars", 2, "between two bars the lower one names the tier", agrees(reference, _middle)
        ),
        Property("below s is xs", 1, "a gain that was shown is never below xs", agrees(reference, _small)),
        Property(
            "a gain on a bar belongs to the tier that begins there",
            3,
            "exactly 18 % is xl; decided on integers, never on floats",
            agrees(reference, _boundary),
        ),
        Property(
            "the reference binds while main is slower than it",
            2,
            "min(delta/reference, delta/frontier): the larger denominator",
            agrees(reference, _reference_binds),
        ),
        Property(
            "the frontier binds once main is faster",
            1,
            "min(delta/reference, delta/frontier): the larger denominator",
            agrees(reference, _frontier_binds),
        ),
    ),
    reference=reference,
)
