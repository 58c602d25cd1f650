"""``xl_threshold(frontier, reference)``: where an xl begins, and which denominator says so. Question 3."""

from collections.abc import Iterable
from random import Random
from typing import Any

from ..exercise import Exercise, Property
from ..parts import item

WITHIN = 1e-6
XL = 0.18


def reference(frontier: float, reference_tps: float | None) -> tuple[float, str]:
    """Frontier + 0.18 max(reference, frontier); equal rates count as the frontier's."""
    if reference_tps is None or frontier >= reference_tps:
        return frontier + XL * frontier, "frontier"
    return frontier + XL * reference_tps, "reference"


def _behind() -> Iterable[tuple[Any, ...]]:
    yield 10.0, 18.44
    yield 1.0, 18.44
    yield 18.0, 18.44


def _ahead() -> Iterable[tuple[Any, ...]]:
    yield 50.0, 18.44
    yield 56.8, 18.44
    yield 19.0, 18.44


def _both() -> Iterable[tuple[Any, ...]]:
    random = Random("xl_threshold")
    for _ in range(20):
        yield random.randrange(100, 12_000) / 100, random.randrange(100, 12_000) / 100


def _equal() -> Iterable[tuple[Any, ...]]:
    yield 18.44, 18.44


def _off() -> Iterable[tuple[Any, ...]]:
    yield 10.0, None
    yield 99.68, None


def _off_or_equal() -> Iterable[tuple[Any, ...]]:
    yield from _off()
    yield from _equal()


EXERCISE = Exercise(
    name="xl_threshold",
    notebook="08_self_check",
    points=6,
    minutes=8,
    lines=4,
    hints=(
        "for frontier 10: how large is a gain that is 18 % of the frontier, and one that is 18 % of 18.44?",
        "the tier is the smaller of two shares, so the larger of the two denominators has to be satisfied",
        "shape: an early return where the frontier decides, then the other case; 3 lines",
    ),
    properties=(
        Property(
            "behind the reference",
            2,
            "the reference binds: frontier + 0.18 x 18.44",
            item(0, reference, _behind, WITHIN),
        ),
        Property(
            "ahead of the reference", 1, "the frontier binds: 1.18 x frontier", item(0, reference, _ahead, WITHIN)
        ),
        Property("which one binds", 1, "the name of the larger denominator", item(1, reference, _both)),
        Property("the anchor is off", 1, "without a reference the frontier binds", item(0, reference, _off, WITHIN)),
        Property("equal, or off", 1, "then it is called the frontier's", item(1, reference, _off_or_equal)),
    ),
    reference=reference,
)
