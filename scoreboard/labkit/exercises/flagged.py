"""``flagged(main, candidate)``: one rule that mends a ratchet which cries wolf. Question 6."""

import math
from collections.abc import Iterable
from random import Random
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property

FACTOR, BAR = 2.0, 0.05


def reference(main: float, candidate: float) -> bool:
    """Flagged unless it is under the bar or under twice main: what is not a number is flagged."""
    return not (candidate < BAR or candidate < FACTOR * main)


def _named() -> Iterable[tuple[Any, ...]]:
    yield 0.03, 0.07
    yield 0.001, 0.003
    yield 0.001, 2.67


def _under() -> Iterable[tuple[Any, ...]]:
    yield 0.001, 0.004
    yield 0.006694998, 0.0499
    random = Random("flagged")
    for _ in range(20):
        main = 10 ** random.uniform(-5, -2)
        yield main, min(main * random.uniform(2.1, 5), 0.049)


def _over() -> Iterable[tuple[Any, ...]]:
    yield 0.04, 0.06
    yield 0.049, 0.051
    yield 0.2, 0.3


def _zero() -> Iterable[tuple[Any, ...]]:
    yield 0.0, 1e-9
    yield 0.0, 0.0
    yield 0.0, 0.06


def _edges() -> Iterable[tuple[Any, ...]]:
    yield 0.02, 0.05
    yield 0.03, 0.06
    yield 0.02, math.nextafter(0.05, 0)
    yield 0.03, math.nextafter(0.06, 0)


def _not_numbers() -> Iterable[tuple[Any, ...]]:
    yield 0.001, math.nan
    yield math.nan, 0.3
    yield 0.001, math.inf


EXERCISE = Exercise(
    name="flagged",
    notebook="08_self_check",
    points=6,
    minutes=6,
    lines=2,
    hints=(
        "0.001 to 0.003 is three times as much, and how far is it from the bar?",
        "a ratio near zero is noise; it needs an absolute bar beside it. Write what is fine, and flag the rest",
        "shape: two comparisons that accept, joined, and one not; 1 line",
    ),
    properties=(
        Property("the three that are named", 1, "a real loss of accuracy is flagged", agrees(reference, _named)),
        Property(
            "under the bar a ratio is nothing", 1, "below 0.05 nats nothing is flagged", agrees(reference, _under)
        ),
        Property(
            "over the bar and less than twice main", 1, "main is as bad: not this change", agrees(reference, _over)
        ),
        Property("main at zero", 1, "0 to 1e-9 is no finding, and nothing divides by main", agrees(reference, _zero)),
        Property("on both bars", 1, "at the bar and at twice main it counts", agrees(reference, _edges)),
        Property("not a number", 1, "what is not a number is never fine", agrees(reference, _not_numbers)),
    ),
    reference=reference,
)
