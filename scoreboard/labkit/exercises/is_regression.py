"""``is_regression(kl, main_kl, ratchet)``: the ratchet with a floor, P3 of the gate."""

from collections.abc import Iterable
from random import Random
from types import SimpleNamespace
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

PPM = 1_000_000
LECTURE = SimpleNamespace(factor_ppm=2 * PPM, bar_nanonats=50_000_000, floor_nanonats=500_000)
SHIPPED = SimpleNamespace(factor_ppm=2 * PPM, bar_nanonats=100_000, floor_nanonats=50_000)


def reference(kl_nanonats: int, main_nanonats: int, ratchet: Any) -> bool:
    """As P3 in ``correctness``: over the bar, and at least so many times main's; main counts as the floor at least."""
    times_main = ratchet.factor_ppm * max(main_nanonats, ratchet.floor_nanonats)
    return bool(kl_nanonats > ratchet.bar_nanonats and kl_nanonats * PPM >= times_main)


def _clear() -> Iterable[tuple[Any, ...]]:
    yield 2_673_132_434, 6_694_998, LECTURE
    yield 3_867_388, 3_867_388, LECTURE
    yield 90_000_000, 20_000_000, LECTURE
    random = Random("is_regression")
    for _ in range(20):
        main = random.randrange(600_000, 30_000_000)
        yield max(3 * main, 60_000_000), main, LECTURE
        yield main // 2, main, LECTURE


def _under() -> Iterable[tuple[Any, ...]]:
    yield 3_000_000, 1_000_000, LECTURE
    yield 4_000_000, 1_000_000, LECTURE
    yield 19_336_943, 3_867_388, LECTURE
    yield 90_000, 1, SHIPPED


def _over() -> Iterable[tuple[Any, ...]]:
    yield 60_000_000, 40_000_000, LECTURE
    yield 190_000, 100_000, SHIPPED


def _twice() -> Iterable[tuple[Any, ...]]:
    yield 60_000_000, 30_000_000, LECTURE
    yield 59_999_999, 30_000_000, LECTURE
    yield 700_001, 350_001, SHIPPED


def _on() -> Iterable[tuple[Any, ...]]:
    yield 50_000_000, 10_000_000, LECTURE
    yield 50_000_001, 10_000_000, LECTURE


def _near_zero() -> Iterable[tuple[Any, ...]]:
    tight = SimpleNamespace(factor_ppm=4 * PPM, bar_nanonats=600_000, floor_nanonats=500_000)
    yield 700_000, 0, tight
    yield 1_999_999, 90_000, tight
    yield 2_000_000, 90_000, tight


EXERCISE = Exercise(
    name="is_regression",
    notebook="03_write_the_gate",
    points=7,
    minutes=10,
    lines=4,
    hints=(
        "compute the ratio and the distance to the bar of the call by hand; which of the two does your answer look at?",
        "twice almost nothing is almost nothing: a ratio needs an absolute bar beside it, and a floor under main",
        "shape: two conditions joined by `and`, both on integers; multiply instead of dividing; 2 lines",
    ),
    properties=(
        Property("both conditions together", 2, "over the bar and twice main is a finding", agrees(reference, _clear)),
        Property(
            "under the bar a ratio is no finding", 1, "0.001 → 0.004 is 4 × and harmless", agrees(reference, _under)
        ),
        Property(
            "over the bar the ratio still counts",
            1,
            "less than twice main is not this check's finding; the absolute bar has its own",
            agrees(reference, _over),
        ),
        Property("twice is already a regression", 1, "the factor itself counts: ≥, exactly", agrees(reference, _twice)),
        Property("on the bar is not over it", 1, "a KL that stands on the bar is accepted", agrees(reference, _on)),
        Property(
            "main near zero counts as the floor",
            1,
            "no ratio is taken of noise: max(main, floor)",
            agrees(reference, _near_zero),
        ),
    ),
    reference=reference,
)
