"""``significant(gain, e_milli, rule)``: shown to be faster, and by more than the floor; S1 of the gate."""

from collections.abc import Iterable
from fractions import Fraction
from math import nan
from types import SimpleNamespace
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

PPM = 1_000_000
RULE = SimpleNamespace(alpha_ppm=50_000, floor_ppm=20_000)
STRICT = SimpleNamespace(alpha_ppm=10_000, floor_ppm=35_000)
LOOSE = SimpleNamespace(alpha_ppm=100_000, floor_ppm=5_000)


def reference(gain: Fraction, e_milli: float, rule: Any) -> str:
    """As S1 in ``gate``: E ≥ 1/alpha shows "faster"; then the gain has to be above the floor, strictly."""
    if not e_milli * rule.alpha_ppm >= 1000 * PPM:
        return "inconclusive"
    return "faster" if gain * PPM > rule.floor_ppm else "none"


def _clear() -> Iterable[tuple[Any, ...]]:
    yield Fraction(8, 100), 55_000, RULE
    yield Fraction(1, 100), 55_000, RULE
    yield Fraction(3, 100), 4_000, RULE
    yield Fraction(23, 100), 900_000, RULE


def _floor() -> Iterable[tuple[Any, ...]]:
    yield Fraction(1, 50), 55_000, RULE
    yield Fraction(20_001, PPM), 55_000, RULE
    yield Fraction(4_6206, 4_5300) - 1, 55_000, RULE


def _shown() -> Iterable[tuple[Any, ...]]:
    yield Fraction(8, 100), 20_000, RULE
    yield Fraction(8, 100), 19_999, RULE


def _lucky() -> Iterable[tuple[Any, ...]]:
    yield Fraction(1, 2), 1_000, RULE
    yield Fraction(350, 100), 0, RULE
    yield Fraction(1, 100), 4_000, RULE


def _loss() -> Iterable[tuple[Any, ...]]:
    yield Fraction(-8, 100), 55_000, RULE
    yield Fraction(0), 20_000, RULE


def _rules() -> Iterable[tuple[Any, ...]]:
    yield Fraction(3, 100), 55_000, STRICT
    yield Fraction(8, 100), 99_999, STRICT
    yield Fraction(8, 100), 100_000, STRICT
    yield Fraction(1, 100), 10_000, LOOSE


def _odd() -> Iterable[tuple[Any, ...]]:
    yield Fraction(8, 100), nan, RULE


EXERCISE = Exercise(
    name="significant",
    notebook="03_write_the_gate",
    points=8,
    minutes=10,
    lines=5,
    hints=(
        "there are three answers; say aloud which question each of them answers for the call above",
        "evidence and size are two questions: do the blocks show any gain at all, and is the gain above the floor?",
        "shape: an early return for what is not shown, then one conditional expression; no number in the code; 3 lines",
    ),
    properties=(
        Property("three answers", 2, "faster, none and inconclusive are different findings", agrees(reference, _clear)),
        Property("exactly the floor is none", 1, "the gain must exceed the floor, exactly", agrees(reference, _floor)),
        Property("exactly 1/alpha is shown", 1, "E ≥ 1/alpha, so 20 at alpha = 5 %", agrees(reference, _shown)),
        Property(
            "without evidence no reading decides",
            1,
            "one lucky repetition reads any gain: large or small, it is inconclusive until it is shown",
            agrees(reference, _lucky),
        ),
        Property("a loss is none", 1, "a build that is slower is not a gain", agrees(reference, _loss)),
        Property("the rule decides", 1, "alpha and floor come from the policy", agrees(reference, _rules)),
        Property("what is not a number shows nothing", 1, "nan is not ≥ anything", agrees(reference, _odd)),
    ),
    reference=reference,
)
