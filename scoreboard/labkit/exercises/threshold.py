"""``threshold(s0, aa_blocks, k, floor, t95)``: the least mean of k blocks that noise seldom reaches, or a refusal."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from ...statistics.quantiles import t95_micro
from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

WITHIN = 1e-12


def t95(freedom: int) -> float:
    """The 95 % point of Student's t with so many degrees of freedom."""
    return t95_micro(freedom) / 1e6


def reference(s0: float, aa_blocks: int, k: int, floor: float, t95: Callable[[int], float]) -> float:
    """T_k = t(.95, m)·s0/√k; refused where it is above the floor that the gate promises to see."""
    least = t95(aa_blocks) * s0 / math.sqrt(k)
    if not least <= floor:
        raise Refusal(f"the bar is {floor:.4f} and noise alone reaches {least:.4f}")
    return least


def _one() -> Iterable[tuple[Any, ...]]:
    yield 0.01, 9, 1, 0.5, t95
    yield 0.004, 9, 1, 0.5, t95


def _more() -> Iterable[tuple[Any, ...]]:
    yield 0.02, 9, 4, 0.5, t95
    yield 0.02, 9, 16, 0.5, t95


def _freedom() -> Iterable[tuple[Any, ...]]:
    yield 0.01, 5, 1, 0.5, t95
    yield 0.01, 20, 4, 0.5, t95


def _above() -> Iterable[tuple[Any, ...]]:
    yield 0.04, 9, 3, 0.02, t95
    yield 0.02, 5, 3, 0.02, t95
    yield math.nan, 9, 4, 0.02, t95


def _on() -> Iterable[tuple[Any, ...]]:
    yield 0.01, 9, 4, t95(9) * 0.01 / math.sqrt(4), t95


EXERCISE = Exercise(
    name="threshold",
    notebook="04_noise_floor",
    points=8,
    minutes=8,
    lines=4,
    hints=(
        "for one block there is no root: what is left of the formula, and does your answer have it?",
        "the scatter of a mean shrinks with the root of k; how well it is known hangs on the number of A/A blocks",
        "shape: one formula, one condition that raises unless the threshold is at most the floor; 4 lines",
    ),
    properties=(
        Property("one block", 2, "t(.95, 9) is 1.833: T = 1.833·s0", agrees(reference, _one, WITHIN)),
        Property(
            "more blocks help by their root", 2, "four blocks halve the threshold", agrees(reference, _more, WITHIN)
        ),
        Property(
            "the A/A blocks are the degrees of freedom",
            1,
            "t asks how many blocks s0 was estimated from, not how many are averaged",
            agrees(reference, _freedom, WITHIN),
        ),
        Property(
            "a bar below the noise is refused",
            2,
            "a bar of 2 % where noise reaches 4 % decides nothing: ValueError; nan is refused as well",
            agrees(reference, _above, WITHIN),
        ),
        Property("a bar on the threshold is honest", 1, "equal is not below", agrees(reference, _on, WITHIN)),
    ),
    reference=reference,
)
