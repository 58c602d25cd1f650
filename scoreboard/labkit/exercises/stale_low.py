"""``stale_low(stale, margin)``: what a pin that is too low does as a basis and as a guard. Question 2."""

from collections.abc import Iterable
from typing import Any

from ..compare import agrees
from ..exercise import Exercise, Property
from ..parts import item

WITHIN = 1e-9


def reference(stale: float, margin: float) -> tuple[float, float]:
    """The gain credited for no change, and the largest loss that passes."""
    pin = 1 - stale
    return 1 / pin - 1, 1 - (1 - margin) * pin


def _mild() -> Iterable[tuple[Any, ...]]:
    for percent in (15, 5, 10, 25):
        yield percent / 100, 0.01


def _far() -> Iterable[tuple[Any, ...]]:
    for percent in (40, 50, 75, 90):
        yield percent / 100, 0.01


def _margins() -> Iterable[tuple[Any, ...]]:
    for percent in (2, 5, 20):
        yield 0.15, percent / 100


def _fresh() -> Iterable[tuple[Any, ...]]:
    for percent in (1, 3, 10):
        yield 0.0, percent / 100


EXERCISE = Exercise(
    name="stale_low",
    notebook="08_self_check",
    points=5,
    minutes=6,
    lines=4,
    hints=(
        "let main run at 100 and the pin at 85: what gain is read for no change, and where does the floor stand?",
        "as a basis the pin is what one divides by; as a guard it is multiplied, and the margin comes off the pin",
        "shape: one line for the pin as a share of main, one line for the pair; 2 lines",
    ),
    properties=(
        Property("the gain for no change", 1, "main over the pin, minus 1", item(0, reference, _mild, WITHIN)),
        Property("the loss that passes", 1, "1 minus the floor as a share of main", item(1, reference, _mild, WITHIN)),
        Property(
            "the margin comes off the pin", 1, "the floor is (1 - margin) x pin", item(1, reference, _margins, WITHIN)
        ),
        Property("far off as well", 1, "no shortcut that is right for small shares", agrees(reference, _far, WITHIN)),
        Property("a fresh pin", 1, "credits nothing and admits its margin", agrees(reference, _fresh, WITHIN)),
    ),
    reference=reference,
)
