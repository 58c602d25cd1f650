"""``mean_kl(reference, candidate)``: KL(reference ‖ candidate) in nats, the mean over rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import Refusal, agrees
from ..exercise import Exercise, Property
from .top1 import Rows, drawn, rows

WITHIN = 1e-5
CLOSE = 1e-11


def reference(reference: Rows, candidate: Rows) -> float:
    """As ``parity.measure``: both sides normalised in float64, terms of probability 0 left out."""
    if reference.shape != candidate.shape:
        raise Refusal(f"{candidate.shape} against {reference.shape}")
    if np.isnan(reference).any() or not (candidate < np.inf).all() or not np.isfinite(candidate.max(axis=1)).all():
        raise Refusal("a row is not a distribution")
    p, q = log_softmax(reference), log_softmax(candidate)
    seen = p > -np.inf
    if np.isneginf(q[seen]).any():
        raise Refusal("the candidate gives probability 0 to a token that the reference knows")
    terms = np.zeros_like(p)
    terms[seen] = np.exp(p[seen]) * (p[seen] - q[seen])
    return max(0.0, float(terms.sum(axis=1).mean()))


def log_softmax(logits: Rows) -> NDArray[np.float64]:
    """Logarithms of probabilities, rows [n, V]."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    logs: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logs


A, B = rows([2, 0, 0, -1]), rows([0, 2, 0, -1])  # mirror images: both directions are equal


def _same() -> Iterable[tuple[Any, ...]]:
    yield A, B
    yield A, A
    yield rows([0, 1, 2, 3]), rows([3, 2, 1, 0])


def _direction() -> Iterable[tuple[Any, ...]]:
    yield rows([0, 0]), rows([6, 0])
    yield rows([6, 0]), rows([0, 0])
    yield drawn("direction", 1, 30, 2.0)


def _rows() -> Iterable[tuple[Any, ...]]:
    yield np.vstack([A, A, A]), np.vstack([A, B, A])


def _shift() -> Iterable[tuple[Any, ...]]:
    yield A + np.float32(2000), B + np.float32(2000)
    yield A - np.float32(2000), B + np.float32(500)


def _small() -> Iterable[tuple[Any, ...]]:
    right, _ = drawn("small", 16, 400, 0.0)
    step = np.float32(1e-3) * np.where(np.arange(400) % 2, 1, -1).astype(np.float32)
    yield right, right + step
    yield right + np.float32(30), right + np.float32(30) + step


def _zero() -> Iterable[tuple[Any, ...]]:
    yield rows([1, 0, -np.inf]), rows([0, 0, -np.inf])
    yield rows([1, 0, -np.inf]), rows([0, 0, -3])
    yield rows([1, 0, -3]), rows([0, 0, -np.inf])


def _odd() -> Iterable[tuple[Any, ...]]:
    yield np.vstack([A, A]), np.vstack([A, rows([np.nan, 0, 0, 0])])
    yield np.vstack([A, A]), np.vstack([A, rows([np.inf, 0, 0, 0])])
    yield np.vstack([A, A]), A


EXERCISE = Exercise(
    name="mean_kl",
    notebook="02_parity_reference",
    points=10,
    minutes=15,
    lines=11,
    hints=(
        "take the smallest call and compute both distributions by hand: which of the two weighs the logarithms?",
        "KL(p ‖ q) is the sum of p·(log p - log q): the reference weighs; subtract the largest logit before any exp",
        "shape: log-probabilities in float64, one mask for p > 0, one sum over the last axis, one mean; 9 lines",
    ),
    properties=(
        Property(
            "the divergence of ordinary rows",
            2,
            "the sum over tokens, in nats, within 1e-5; equal rows give 0",
            agrees(reference, _same, WITHIN),
        ),
        Property(
            "the reference weighs",
            2,
            "KL(reference ‖ candidate) is not KL(candidate ‖ reference)",
            agrees(reference, _direction, WITHIN),
        ),
        Property("the mean is over rows", 1, "one number per row, then their mean", agrees(reference, _rows, WITHIN)),
        Property(
            "large logits do not overflow",
            1,
            "a constant added to a row changes nothing: subtract the maximum first",
            agrees(reference, _shift, WITHIN),
        ),
        Property(
            "small divergences survive",
            1,
            "float32 sums lose what float64 keeps: convert before you normalise",
            agrees(reference, _small, CLOSE),
        ),
        Property(
            "probability 0",
            1,
            "where the reference has 0 the term is 0; where only the candidate has 0 it is infinite: ValueError",
            agrees(reference, _zero, WITHIN),
        ),
        Property(
            "what is not a distribution is refused",
            2,
            "nan and +inf in the candidate, or other shapes: ValueError, never a number",
            agrees(reference, _odd, WITHIN),
        ),
    ),
    reference=reference,
)
