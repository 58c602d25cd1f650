"""The captured answers of the shipped reference, and ways to damage them, for notebook 02."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..lock import parse_lock
from ..suites.suite import Suite, load_suite
from .places import FIXTURES, home

Rows = NDArray[np.float32]

SCALE, NOISE, SEED = np.float32(1.3), 0.3, 2
KEPT_BITS = np.uint32(0xFFFF0000)  # of a float32: sign, exponent, 7 bits
HALF = np.uint32(0x8000)


@cache
def suite() -> Suite:
    """The suite that the lock pins."""
    root = home() / FIXTURES
    return load_suite(root / parse_lock((root / "reference.lock").read_bytes()).suite.path)


def to_bf16(rows: Rows) -> Rows:
    """Rounded to 8 significant bits."""
    return ((rows.view(np.uint32) + HALF) & KEPT_BITS).view(np.float32)


def hotter(rows: Rows) -> Rows:
    """Every logit 1.3 times as large."""
    return rows * SCALE


def noisy(rows: Rows) -> Rows:
    """A normal number of size 0.3 added to each logit, the same in every run."""
    rng = np.random.default_rng(SEED)
    return rows + rng.normal(0, NOISE, rows.shape).astype(np.float32)


CHANGES: dict[str, Callable[[Rows], Rows]] = {"bf16": to_bf16, "times 1.3": hotter, "noise": noisy}
