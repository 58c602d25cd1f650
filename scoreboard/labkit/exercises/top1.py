"""``top1(reference, candidate)``: the share of rows whose first choice agrees, in ppm, rounded down."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property

PPM = 1_000_000
Rows = NDArray[np.float32]


def reference(reference: Rows, candidate: Rows) -> int:
    """As ``parity.measure`` and ``figures.top1_ppm``, without near ties."""
    if reference.shape != candidate.shape or reference.ndim != len(("rows", "vocabulary")) or not len(reference):
        raise Refusal(f"{candidate.shape} against {reference.shape}")
    if not (np.isfinite(candidate).all() and np.isfinite(reference).all()):
        raise Refusal("a logit is not finite")
    agree = int((reference.argmax(axis=1) == candidate.argmax(axis=1)).sum())
    return agree * PPM // len(reference)


def rows(*lists: list[float]) -> Rows:
    """Logits from lists."""
    return np.array(lists, dtype=np.float32)


def drawn(name: str, count: int, vocab: int, noise: float) -> tuple[Rows, Rows]:
    """A reference and a noisy candidate, the same in every run."""
    rng = np.random.default_rng(sum(name.encode()))
    right = rng.normal(0, 2, (count, vocab)).astype(np.float32)
    return right, right + rng.normal(0, noise, right.shape).astype(np.float32)


BASE = rows([3, 1, 0], [0, 2, 1], [1, 0, 5], [0, 4, 1])


def _clear() -> Iterable[tuple[Any, ...]]:
    yield BASE, BASE
    yield BASE, rows([3, 1, 0], [0, 2, 1], [1, 0, 5], [4, 0, 1])
    yield BASE, -BASE
    yield drawn("top1", 64, 50, 1.0)


def _down() -> Iterable[tuple[Any, ...]]:
    three = BASE[:3]
    yield three, np.vstack([three[:2], -three[2:]])
    yield drawn("down", 37, 20, 2.0)


def _ties() -> Iterable[tuple[Any, ...]]:
    tied = rows([2, 2, 0], [0, 1, 1], [1, 1, 1])
    yield tied, rows([3, 1, 0], [0, 3, 1], [3, 1, 0])
    yield tied, rows([1, 3, 0], [0, 1, 3], [1, 1, 3])


def _odd() -> Iterable[tuple[Any, ...]]:
    yield BASE, rows([3, 1, 0], [0, np.nan, 1], [1, 0, 5], [0, 4, 1])
    yield BASE, rows([3, 1, 0], [0, np.inf, 1], [1, 0, 5], [0, 4, 1])


def _shapes() -> Iterable[tuple[Any, ...]]:
    yield BASE, BASE[:1]
    yield BASE, BASE[:3]
    yield BASE, np.hstack([BASE, -9 * np.ones((4, 1), np.float32)])
    yield BASE[:0], BASE[:0]


EXERCISE = Exercise(
    name="top1",
    notebook="02_parity_reference",
    points=7,
    minutes=8,
    lines=5,
    hints=(
        "find the first choice of each row of both tables by eye and count the rows that agree",
        "argmax gives the position of the first maximum, and the position of a nan if there is one; shapes broadcast",
        "shape: two conditions that raise, one comparison of two argmaxes, one division of integers; 5 lines",
    ),
    properties=(
        Property(
            "rows that agree are counted", 2, "first choice against first choice, row by row", agrees(reference, _clear)
        ),
        Property(
            "a share is rounded down",
            1,
            "2 of 3 are 666,666 ppm: rounding goes against the candidate",
            agrees(reference, _down),
        ),
        Property(
            "of equal logits the lowest index wins",
            1,
            "on both sides, so that a tie is no accident",
            agrees(reference, _ties),
        ),
        Property(
            "what is not finite is refused",
            2,
            "argmax of a row with nan is the nan's place: ValueError, never a share",
            agrees(reference, _odd),
        ),
        Property(
            "another shape is refused",
            1,
            "numpy stretches one row over all; every row has to answer its own: ValueError",
            agrees(reference, _shapes),
        ),
    ),
    reference=reference,
)
