"""``digest(logits)``: the SHA-256 of logits as they are sealed."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import agrees
from ..exercise import Exercise, Property

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4) / np.float32(7)
MANY = np.linspace(-8, 8, 40_000, dtype=np.float32).reshape(100, 400)


def reference(logits: NDArray[np.floating[Any]]) -> str:
    """As ``parity.grade`` and the suite: little-endian float32, row after row."""
    return hashlib.sha256(np.ascontiguousarray(logits, "<f4").tobytes()).hexdigest()


def _plain() -> Iterable[tuple[Any, ...]]:
    yield (ROWS,)
    yield (ROWS[:1],)


def _all_rows() -> Iterable[tuple[Any, ...]]:
    yield (MANY,)
    changed = MANY.copy()
    changed[50, 200] += np.float32(1)
    yield (changed,)


def _bits() -> Iterable[tuple[Any, ...]]:
    yield (np.zeros((2, 3), np.float32),)
    yield (-np.zeros((2, 3), np.float32),)
    yield (np.nextafter(ROWS, np.float32(9)),)


def _order() -> Iterable[tuple[Any, ...]]:
    yield (ROWS.astype(">f4"),)
    yield (ROWS.astype(np.float64),)


def _layout() -> Iterable[tuple[Any, ...]]:
    yield (np.asfortranarray(ROWS),)
    yield (ROWS.T,)
    yield (np.asfortranarray(MANY),)


EXERCISE = Exercise(
    name="digest",
    notebook="02_parity_reference",
    points=6,
    minutes=6,
    lines=4,
    hints=(
        "look at the array of the call: its type, its byte order, its strides; which bytes does your function hash?",
        "a digest names bytes, so say which: float32, little-endian, one row after the other; text leaves bytes out",
        "shape: one conversion to contiguous little-endian float32, one call of hashlib; 1 or 2 lines",
    ),
    properties=(
        Property("the bytes of a small array", 2, "SHA-256 in 64 lower-case hex digits", agrees(reference, _plain)),
        Property(
            "every row counts",
            1,
            "the text of a large array leaves its middle out; hash bytes, never text",
            agrees(reference, _all_rows),
        ),
        Property("every bit counts", 1, "0.0 and -0.0 are equal and have other bits", agrees(reference, _bits)),
        Property(
            "one type, one byte order",
            1,
            "the same values as float64 or big-endian have the same digest",
            agrees(reference, _order),
        ),
        Property(
            "the layout in memory does not matter",
            1,
            "transposed arrays are hashed row after row, as they read",
            agrees(reference, _layout),
        ),
    ),
    reference=reference,
)
