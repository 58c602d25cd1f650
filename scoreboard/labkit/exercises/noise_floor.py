"""``noise_floor(d)``: the standard deviation of a block of identical code."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

LEAST = 5
WITHIN = 1e-12
AA = [0.012, -0.031, 0.004, -0.009, 0.022, -0.015, 0.001, 0.017, -0.006]


def reference(d: Sequence[float]) -> float:
    """As ``floor_sd``: the mean is zero by design, so all m blocks are degrees of freedom."""
    if not (len(d) >= LEAST and all(math.isfinite(each) for each in d)):
        raise Refusal(f"{len(d)} blocks; {LEAST} finite ones are needed")
    return math.sqrt(sum(each * each for each in d) / len(d))


def _balanced() -> Iterable[tuple[Any, ...]]:
    sign = (1, -1) * 200
    yield ([0.02 * each for each in sign],)
    yield ([0.02 * each + 0.01 * other for each, other in zip(sign, (1, 1, -1, -1) * 100, strict=True)],)


def _shifted() -> Iterable[tuple[Any, ...]]:
    yield ([0.03 + 0.001 * each for each in range(-200, 201)],)


def _count() -> Iterable[tuple[Any, ...]]:
    yield (AA,)
    yield ([0.01, -0.01, 0.01, -0.01, 0.01],)


def _few() -> Iterable[tuple[Any, ...]]:
    yield (AA[:4],)
    yield ([],)
    yield ([0.0] * 4,)


def _odd() -> Iterable[tuple[Any, ...]]:
    yield ([*AA, math.nan],)
    yield ([*AA, math.inf],)


EXERCISE = Exercise(
    name="noise_floor",
    notebook="04_noise_floor",
    points=7,
    minutes=8,
    lines=5,
    hints=(
        "square the numbers of the call, add them up, and see by what you divide",
        "two checkouts of one build have a true difference of 0, so there is no mean to estimate and none to subtract",
        "shape: one condition that raises, then a square root of a mean of squares; 3 lines",
    ),
    properties=(
        Property(
            "the size of the scatter",
            2,
            "a standard deviation, not a range and not a variance",
            agrees(reference, _balanced, 1e-4),
        ),
        Property(
            "the mean is zero by design",
            2,
            "a harness that favours one side adds to the noise; do not subtract the mean",
            agrees(reference, _shifted, 1e-3),
        ),
        Property(
            "all m blocks count", 1, "nothing was estimated first, so divide by m", agrees(reference, _count, WITHIN)
        ),
        Property(
            "at least five blocks",
            1,
            "fewer say next to nothing about a spread: ValueError",
            agrees(reference, _few, WITHIN),
        ),
        Property("what is not a number is refused", 1, "nan and infinity: ValueError", agrees(reference, _odd, WITHIN)),
    ),
    reference=reference,
)
