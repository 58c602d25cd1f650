"""Rows of logits that arithmetic may stumble over, and their exact divergence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboard.suites.divergence import BLOCK, LANE

F32 = NDArray[np.float32]
VOCABS = (2, 3, 7, LANE - 1, LANE, LANE + 1, 4 * LANE + 17, BLOCK, BLOCK + 1, 2 * BLOCK + LANE + 5)
KINDS = ("normal", "steps", "peaked", "flat", "huge", "denormal", "low")
SHAPES = ("normal", "coin", "one", "top", "scale", "offset")


def exact_nats(reference: NDArray[Any], candidate: NDArray[Any]) -> float:
    """KL of one row in 80-bit arithmetic, as a sum of terms that are not negative."""
    log_p, log_q = (_log_softmax(row.astype(np.longdouble)) for row in (reference, candidate))
    t = log_q - log_p
    p = np.exp(log_p)
    small = np.abs(t) < 1e-4
    series = p * t * t * (0.5 + t / 6 + t * t / 24)
    return float(np.where(small, series, np.exp(log_q) - p - p * t).sum())


def _log_softmax(row: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    shifted = row - row.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def logits(kind: str, vocab: int, rng: np.random.Generator) -> F32:
    """One row of a shape that arithmetic may stumble over."""
    if kind == "steps":
        row = rng.choice(rng.normal(size=3) * 9, vocab)
    elif kind == "peaked":
        row = rng.normal(size=vocab)
        row[rng.integers(vocab)] += rng.choice([12.0, 25.0, 60.0, 200.0])
    elif kind == "flat":
        row = rng.normal(size=vocab) * 1e-3
    elif kind == "huge":
        row = rng.uniform(-1e4, 1e4, vocab)
    elif kind == "denormal":
        row = rng.normal(size=vocab) * 1e-40
    elif kind == "low":
        row = rng.normal(size=vocab) * 3 - 120
    else:
        row = rng.normal(size=vocab) * 3
    row[0] = row[1] + 1e-3 if kind != "denormal" else 1e-39
    return row.astype(np.float32)


def moved(reference: F32, noise: float, shape: str, rng: np.random.Generator) -> F32:
    """``reference`` with each logit moved by about ``noise``."""
    if shape == "coin":
        step = rng.choice([-noise, noise], reference.size)
    elif shape == "one":
        step = np.where(np.arange(reference.size) == rng.integers(reference.size), noise, 0.0)
    elif shape == "top":
        step = np.where(np.arange(reference.size) == reference.argmax(), noise, 0.0)
    elif shape == "scale":
        step = reference * noise
    elif shape == "offset":
        step = rng.normal(size=reference.size) * noise + 7
    else:
        step = rng.normal(size=reference.size) * noise
    result: F32 = (reference + step).astype(np.float32)
    return result
