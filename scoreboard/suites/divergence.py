"""KL(reference || candidate) of rows of logits, in nats, rounded up to whole nanonats. Pure.

With d = candidate - reference, one logit each, and p the reference's probabilities, the divergence is
``log sum(p exp(d)) - sum(p d)``, whatever constant is added to either side. Three ways lead to it; a row
takes the first whose error bound is small enough, so its answer depends on the row alone:

1. *range*: KL <= (max d - min d)^2 / 8 (Hoeffding's lemma). At most one nanonat: done without an exponential.
2. *moments*: for small d, ``log(1 + m1 + m2/2 + m3/6 + m4/24) - m1`` with m_k = sum(p d^k), the weights p in
   float32. The divergence is the least value over c of sum(p (exp(d-c) - 1 - (d-c))), whose terms are not
   negative: a relative error of the weights that all m_k share is at most that relative error of the result.
3. *whole*: both sides normalised and summed in float64.

Before them, float32 rows of LEAST_COMPILED logits or more are tried by scoreboard/suites/compiled.py, where the
extra ``fast`` is installed.

The figure is within 0.5e-9 + 0.5e-6 KL or within 1e-6 KL, whichever is more, of the true divergence of the logits
as given, and then rounded up to a whole nanonat. It is 0 exactly when the two rows are equal, and saturates at
``MOST_NANONATS``. The last bits of exponentials differ between processors and ways: one row may come out a
nanonat, or a few parts in ten millions of a large figure, apart.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32] | NDArray[np.float64]

NANO = 1_000_000_000
MOST_NANONATS = 10**15

BLOCK = 1 << 15  # elements that one pass keeps in cache
LANE = 1 << 10  # elements that float32 adds up; beyond that sums are float64
SCREEN = 1 << 18  # elements of short rows that are screened together
LEAST_COMPILED = 1 << 14  # shorter rows are not worth loading what is compiled

_HALF_LOG2_E = np.float32(0.5 / math.log(2.0))
_TOP = 22.0  # largest reference logit whose float32 weight is taken without a shift
_NEAR = 0.25  # largest |d| at which the series is tried
_MASKED = 1e6  # nats below the top: stands for the -inf of a token of probability 0

# Relative error of sum(w d^2) / sum(w), w = exp(x), x <= 22, in units of 2^-24: rounding of x log2(e) 11, of
# log2(e) 6, exp2 squared 4, products 2, all twice but the last for numerator and denominator, then 37
# float32 additions (LANE / 32 lanes + 5) twice. Half of it, times m2, is an error of the divergence.
_WEIGHT_ERROR = 2.0**-17


def nanonats(nats: float) -> int:
    """``nats`` in whole nanonats, rounded up; at least 0, at most MOST_NANONATS."""
    return MOST_NANONATS if nats * NANO >= MOST_NANONATS else max(0, math.ceil(nats * NANO))


def is_close(kl: float, doubt: float) -> bool:
    """Whether a figure that is off by at most ``doubt`` nats is close enough."""
    return doubt <= max(0.5 / NANO + 0.5e-6 * kl, 1e-6 * kl)


class Divergence:
    """Buffers for rows of ``vocab`` logits; their size does not grow with the number of rows."""

    def __init__(self, vocab: int, dtype: np.dtype[np.float32 | np.float64]) -> None:
        self._vocab = vocab
        self._difference = np.empty((max(1, SCREEN // vocab), vocab), dtype)
        self._narrow = np.empty((2, BLOCK // LANE, LANE), np.float32)
        self._partial = np.empty((5, -(-vocab // LANE)), np.float32)
        self._wide = np.empty((4, min(vocab, BLOCK)), np.float64)

    @cached_property
    def _ones(self) -> NDArray[np.float64]:
        return np.ones(self._wide.shape[1])

    @property
    def rows_at_once(self) -> int:
        """Number of rows that one call of :meth:`rows` takes."""
        return len(self._difference)

    def rows(self, reference: Logits, candidate: Logits, tops: Sequence[float]) -> list[int | None]:
        """KL(reference || candidate) of each row of [n, vocab], n <= ``rows_at_once``; None if infinite.

        ``tops`` are the maxima of the reference's rows. Both sides may hold -inf (probability 0), neither NaN
        nor +inf.
        """
        with np.errstate(all="ignore"):
            d = np.subtract(candidate, reference, out=self._difference[: len(reference)])
            figures = zip(tops, d.min(axis=1).tolist(), d.max(axis=1).tolist(), strict=True)
            return [self._row(reference[i], candidate[i], d[i], *three) for i, three in enumerate(figures)]

    def _row(self, x: Logits, y: Logits, d: Logits, top: float, low: float, high: float) -> int | None:
        if low == high == 0.0:
            return 0
        if not math.isfinite(high - low):
            return self._masked(x, y)
        largest = max(abs(low), abs(high))
        spread = high - low + 2.0**-22 * largest + 2.0**-140
        if spread * spread / 8.0 <= 1.0 / NANO:
            return 1
        if largest <= _NEAR and d.dtype == np.float32:
            kl, doubt = self._moments(x, d, top, largest)
            if is_close(kl, doubt):
                return max(1, nanonats(kl))
        return max(1, nanonats(self._whole(x, y)))

    def _masked(self, x: Logits, y: Logits) -> int | None:
        """The same for a row in which a side holds -inf, or whose differences overflow."""
        if np.any(np.isneginf(y) & ~np.isneginf(x)):
            return None
        if np.array_equal(x, y):
            return 0
        return max(1, nanonats(self._whole(_unmasked(x), _unmasked(y))))

    def _moments(self, x: Logits, d: Logits, top: float, largest: float) -> tuple[float, float]:
        """Divergence and a bound on its error, from weighted moments of d, |d| <= ``largest``."""
        shift = np.float32(0.0 if 0.0 <= top <= _TOP else round(top) - _TOP / 2)
        for start in range(0, self._vocab, BLOCK):
            stop = start + BLOCK
            self._add_block(x[start:stop], d[start:stop], shift, self._partial[:, start // LANE :])
        sums = self._partial.sum(axis=1, dtype=np.float64)
        m1, m2, m3, m4 = (sums[1:] / sums[0]).tolist()
        kl = math.log1p(m1 + m2 / 2 + m3 / 6 + m4 / 24) - m1
        return kl, _WEIGHT_ERROR * m2 / 2 + m4 * largest * math.exp(largest) / 120

    def _add_block(self, x: Logits, d: Logits, shift: np.float32, partial: NDArray[np.float32]) -> None:
        """Per lane of the block: sums of w, w d, w d^2, w d^3, w d^4, where w = exp(x - shift)."""
        count = len(x)
        lanes = -(-count // LANE)
        flat = self._narrow.reshape(2, -1)
        flat[:, count : lanes * LANE] = 0.0
        root, product = flat[:, :count]
        roots, products = self._narrow[:, :lanes]
        sums = partial[:, :lanes]
        np.multiply(np.subtract(x, shift, out=root) if shift else x, _HALF_LOG2_E, out=root)
        np.exp2(root, out=root)
        np.multiply(root, d, out=product)
        np.vecdot(roots, roots, out=sums[0])
        np.vecdot(roots, products, out=sums[1])
        np.vecdot(products, products, out=sums[2])
        np.multiply(product, d, out=root)
        np.vecdot(products, roots, out=sums[3])
        np.vecdot(roots, roots, out=sums[4])

    def _whole(self, x: Logits, y: Logits) -> float:
        """The divergence in float64; BLOCK / 32 additions keep its error below 3e-12 (1 + KL)."""
        top_x, top_y = float(x.max()), float(y.max())
        sum_x = sum_y = sum_xy = 0.0
        for start in range(0, self._vocab, BLOCK):
            xs, ys = x[start : start + BLOCK], y[start : start + BLOCK]
            a, b, p, q = self._wide[:, : len(xs)]
            ones = self._ones[: len(xs)]
            np.copyto(a, xs)
            np.copyto(b, ys)
            a -= top_x
            b -= top_y
            sum_x += float(np.exp(a, out=p) @ ones)
            sum_y += float(np.exp(b, out=q) @ ones)
            b -= a
            sum_xy += float(p @ b)
        return math.log(sum_y) - math.log(sum_x) - sum_xy / sum_x


def _unmasked(row: Logits) -> NDArray[np.float64]:
    """``row`` in float64 with a finite logit of probability 0 in place of -inf."""
    wide = row.astype(np.float64)
    return np.where(np.isneginf(wide), wide.max() - _MASKED, wide)
