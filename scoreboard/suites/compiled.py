"""Divergence and first choices of one row in one compiled pass, where numpy makes a dozen. Pure; extra ``fast``.

A block of the row at a time, so that what lies between is in cache:

    weigh    w = exp(x) and d = y - x of each logit; sum(w), sum(w d), the largest x and y
    spread   S = sum(w excess(d - centre)), excess(u) = exp(u) - 1 - u, centre = the block's weighted mean of d

Blocks are put together about one centre c for the row: with s = centre - c, a block's sum(w excess(d - c)) is
``exp(s) S + excess(s) sum(w) + (exp(s) - 1) sum(w (d - centre))``, whose last term is about 0 and whose others are
not negative: nothing cancels. Then KL = log(1 + E + m) - m, E and m being sum(w excess(d - c)) and sum(w (d - c))
over sum(w).

Float32 but for the sums, so no error grows with the vocabulary. What the compiler may do is to join a product and a
sum ("contract") and to add float64 in another order ("reassoc"), and nothing else: weight cancels in the order in
which it stands.
"""

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from .divergence import is_close, nanonats

EPSILON = 2.0**-24  # relative error of one float32 operation
LOWEST = -88.0  # lower logits weigh nothing: exp of this is below 1e-28 of what the largest one weighs
TOPS = (-20.0, 40.0)  # bounds of a row's largest logit
NEAR = 2.0  # bound of |u| for which excess is a polynomial
LEAST_REACH = 1e-6  # below it the bound of an error is as at it
FAR = 20.0  # bound of |d| beyond which nothing here is tried
BLOCK = 1 << 11  # logits
PAIRS_A_THREAD = 1 << 19  # fewer take hardly longer than a thread takes to start

Row = NDArray[np.float32]
Sums = tuple[float, float, float, float]

_F = np.float32
_LOG2_E = _F(1.442695041)
_LN2_HIGH = _F(355 / 512)  # times a whole number below 2^15: exact
_LN2_LOW = _F(-2.12194440e-4)
_ROUNDER = _F(1.5 * 2**23)  # added and taken away again: the nearest whole number
_BIAS = np.int32(127)
_MANTISSA = np.int32(23)
_SIGN = np.int32(31)
_NO_SIGN = np.int32(0x7FFFFFFF)
_LEAST = np.int32(-(2**31))
_LOWEST = _F(LOWEST)
_EXCLUDED = _F(-1e30)
_ONE = _F(1.0)

# Least relative error of exp(r) on +-ln(2)/2, 2e-9, and of (exp(u) - 1 - u) / u^2 on +-NEAR, 8e-9.
_E2, _E3, _E4, _E5, _E6 = (_F(c) for c in (0.49999991, 0.1666642, 0.04166823, 0.008374841, 0.0013836814))
_P0, _P1, _P2, _P3, _P4 = (_F(c) for c in (0.5, 0.16666666, 0.04166662, 0.0083333617, 0.0013889893))
_P5, _P6, _P7, _P8, _P9 = (_F(c) for c in (1.9839138e-4, 2.4728875e-5, 2.7599767e-6, 2.9672227e-7, 2.5569957e-8))


def threads_for(rows: int, vocab: int) -> int:
    """How many threads measure so many rows soonest."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, rows, rows * vocab // PAIRS_A_THREAD))


class Estimate(NamedTuple):
    """One row: KL and a bound on its error in nats, and the first index of each side's largest logit."""

    kl: float
    doubt: float
    top: int
    choice: int


class Measured(NamedTuple):
    """One row: divergence, and the first index of each side's largest logit."""

    nanonats: int
    top: int
    choice: int


class QuickRow:
    """Room to measure one row after another."""

    def __init__(self) -> None:
        self._scratch = np.empty((2, BLOCK), np.float32)

    def measure(self, x: NDArray[Any], y: NDArray[Any]) -> Measured | None:
        """KL(x || y) of float32[V] logits; None where the error may be too large, or a logit is odd."""
        found = self.estimate(x, y)
        if found is None or not is_close(found.kl, found.doubt):
            return None
        if found.top == 0 and x.min() == x[0]:
            return None
        equal = found.kl == 0.0 and np.array_equal(x, y)
        return Measured(0 if equal else max(1, nanonats(found.kl)), found.top, found.choice)

    def estimate(self, x: NDArray[Any], y: NDArray[Any]) -> Estimate | None:
        """KL(x || y) with a bound on its error; None where there is none."""
        top, choice, reach, sums = pass_over(x, y, self._scratch)
        if top < 0 or not TOPS[0] <= x[top] <= TOPS[1]:
            return None
        kl, doubt = _near(reach, *sums) if reach < math.inf else _apart(*apart(x, y, self._scratch))
        return Estimate(kl, doubt, top, choice)


def _near(reach: float, total: float, second: float, first: float, centre: float) -> tuple[float, float]:
    """From sums of w, w excess(u) and w u, u = d - centre; |u| and |d| + |any block's centre| are at most ``reach``.

    In EPSILON, E is off by the errors of its weights, twice; of excess; of the product; and of u. Taking a block's
    centre away moves u by |u|. The rounding of d itself moves it by |d| <= |u| + |centre|. Either moves excess(u) by
    that times |exp(u) - 1|, which is at most ``steep`` excess(u) / |u| and at most ``slope`` sqrt(excess(u)). m is off
    by 5|u| + |centre|, |u| being at most ``width`` sqrt(excess(u)); it counts by m + E, which is small about the mean.
    """
    e, m, reach = max(second, 0.0) / total, first / total, max(reach, LEAST_REACH)
    steep = reach * math.expm1(reach) / _excess(reach)
    slope, width = math.expm1(reach) / math.sqrt(_excess(reach)), reach / math.sqrt(_excess(-reach))
    relative = 2.0 * WEIGHT_ERROR + EXCESS_ERROR + 1.0 + 2.0 * steep
    rest = abs(centre) * slope * math.sqrt(e) + (5.0 * width * math.sqrt(e) + abs(centre)) * abs(m + e)
    return math.log1p(m + e) - m, EPSILON * (relative * e + rest) / (1.0 + m + e)


def _excess(u: float) -> float:
    return math.expm1(u) - u if abs(u) > 1e-3 else u * u / 2.0  # noqa: PLR2004


def _apart(mine: float, other: float, cross: float, distance: float) -> tuple[float, float]:
    """The plain formula from sums of exp(x), exp(y), exp(x) (y - x) and exp(x) |y - x|."""
    kl = math.log(other / mine) - cross / mine
    return kl, EPSILON * (2.0 * WEIGHT_ERROR + (2.0 * WEIGHT_ERROR + 1.0) * distance / mine)


def _compiled(*also: str) -> Callable[[Callable[..., Any]], Any]:
    return numba.njit(fastmath={"contract", *also}, error_model="numpy", nogil=True, cache=True)


@_compiled()
def weight(x: np.float32) -> np.float32:  # pragma: no cover - compiled
    """exp(x) for x <= 60, and 0 below LOWEST."""
    x = x if x > _LOWEST else _LOWEST  # noqa: FURB136 - max() branches
    whole = (x * _LOG2_E + _ROUNDER) - _ROUNDER
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    e = (((((_E6 * r + _E5) * r + _E4) * r + _E3) * r + _E2) * r + _ONE) * r + _ONE
    exponent = np.int32((np.int32(whole) + _BIAS) << _MANTISSA)
    return e * exponent.view(np.float32)


@_compiled()
def excess(u: np.float32) -> np.float32:  # pragma: no cover - compiled
    """exp(u) - 1 - u for |u| <= NEAR."""
    p = ((((_P9 * u + _P8) * u + _P7) * u + _P6) * u + _P5) * u + _P4
    return (u * u) * ((((p * u + _P3) * u + _P2) * u + _P1) * u + _P0)


@_compiled()
def residue(x: np.float32, square: np.float32) -> np.float32:  # pragma: no cover - compiled
    """What is left of x x: 0 unless product and difference are joined, and rounded once."""
    return x * x - square


# In EPSILON, the most of weight over every float32 from LOWEST + 1 to 60 and of excess within +-NEAR, on processors
# that join a product and a sum, and on those that do not.
_PROBE = _F(1.0 + 2.0**-12)
WEIGHT_ERROR, EXCESS_ERROR = (1.495, 3.06) if residue(_PROBE, _PROBE * _PROBE) != 0.0 else (1.9, 3.76)


@_compiled()
def finite(x: np.float32) -> np.float32:  # pragma: no cover - compiled
    """A number in place of -inf, so that where both sides exclude a token they do not differ. NaN stays."""
    return _EXCLUDED if x < _EXCLUDED else x  # noqa: FURB136 - max() loses NaN


@_compiled()
def magnitude(u: np.float32) -> np.int32:  # pragma: no cover - compiled
    """A whole number in the order of |u|, with what is not a number above all others."""
    return np.int32(np.float32(u).view(np.int32) & _NO_SIGN)


@_compiled()
def rank(x: np.float32) -> np.int32:  # pragma: no cover - compiled
    """A whole number in the order of x: its maximum over many is one vector operation, that of floats is not."""
    bits = np.float32(x).view(np.int32)
    return np.int32(bits ^ ((bits >> _SIGN) & _NO_SIGN))


@_compiled()
def weigh(x: Row, y: Row, w: Row, d: Row) -> tuple[np.int32, np.int32, np.int32]:  # pragma: no cover - compiled
    """Fill ``w`` and ``d``; return the magnitude of d and the ranks of x and y that are largest."""
    largest, top_x, top_y = np.int32(0), _LEAST, _LEAST
    for i in range(x.size):
        w[i] = weight(x[i])
        u = finite(y[i]) - finite(x[i])
        d[i] = u
        largest = np.int32(max(largest, magnitude(u)))
        top_x = np.int32(max(top_x, rank(x[i])))
        top_y = np.int32(max(top_y, rank(y[i])))
    return largest, top_x, top_y


@_compiled("reassoc", "nsz")
def add(w: Row, d: Row) -> tuple[float, float]:  # pragma: no cover - compiled
    """sum(w) and sum(w d)."""
    total = moment = 0.0
    for i in range(w.size):
        total += np.float64(w[i])
        moment += np.float64(w[i]) * np.float64(d[i])
    return total, moment


@_compiled()
def spread(w: Row, d: Row, centre: np.float32) -> None:  # pragma: no cover - compiled
    """Make ``d`` w excess(d - centre)."""
    for i in range(w.size):
        d[i] = w[i] * excess(d[i] - centre)


@_compiled("reassoc", "nsz")
def add_up(values: Row) -> float:  # pragma: no cover - compiled
    """Their sum in float64."""
    total = 0.0
    for i in range(values.size):
        total += np.float64(values[i])
    return total


@_compiled()
def moved(second: float, first: float, total: float, by: float) -> float:  # pragma: no cover - compiled
    """sum(w excess(u + by)) from sum(w excess(u)), sum(w u) and sum(w)."""
    grown = math.expm1(by)
    return (1.0 + grown) * second + (grown - by) * total + grown * first


@_compiled()
def first_at(x: Row, start: int, best: np.int32) -> int:  # pragma: no cover - compiled
    """First index of the logit of that rank, at ``start`` or after. Both zeros are one logit."""
    zero = rank(np.float32(0.0))
    if best == zero:
        start = 0
    for i in range(start, x.size):
        if rank(x[i]) == best or (best == zero and x[i] == 0.0):
            return i
    return -1


@_compiled()
def pass_over(
    x: Row, y: Row, scratch: NDArray[np.float32]
) -> tuple[int, int, float, Sums]:  # pragma: no cover - compiled
    """First index of the largest x and y, reach, and what :func:`_near` takes.

    The first index is -1 where a difference is no number or beyond FAR. Where a block has |u| beyond NEAR, reach is
    infinite and the sums mean nothing.
    """
    total = second = first = centre = farthest = off = 0.0
    best_x, best_y, start_x, start_y, near = _LEAST, _LEAST, 0, 0, True
    for start in range(0, x.size, BLOCK):
        xs, ys = x[start : start + BLOCK], y[start : start + BLOCK]
        w, d = scratch[0, : xs.size], scratch[1, : xs.size]
        largest, top_x, top_y = weigh(xs, ys, w, d)
        far = np.float64(np.int32(largest).view(np.float32))
        if not far <= FAR:
            return -1, -1, far, (0.0, 0.0, 0.0, 0.0)
        if top_x > best_x:
            best_x, start_x = top_x, start
        if top_y > best_y:
            best_y, start_y = top_y, start
        weights, moment = add(w, d)
        if weights == 0.0:
            continue
        mean = np.float32(moment / weights)
        farthest, off = max(farthest, far), max(off, abs(np.float64(mean)))
        if not (near and far + abs(np.float64(mean)) <= NEAR):
            near = False
            continue
        spread(w, d, mean)
        own = add_up(d)
        rest = moment - np.float64(mean) * weights
        new = centre + (first + rest + (np.float64(mean) - centre) * weights) / (total + weights)
        here, there = np.float64(mean) - new, centre - new
        second = moved(second, first, total, there) + moved(own, rest, weights, here)
        first += there * total + rest + here * weights
        total += weights
        centre = new
    return (
        first_at(x, start_x, best_x),
        first_at(y, start_y, best_y),
        farthest + off if near else np.inf,
        (total, second, first, centre),
    )


@_compiled()
def weigh_other(y: Row, v: Row) -> None:  # pragma: no cover - compiled
    """Fill ``v`` with exp(y)."""
    for i in range(y.size):
        v[i] = weight(y[i])


@_compiled("reassoc", "nsz")
def add_distance(w: Row, d: Row) -> float:  # pragma: no cover - compiled
    """sum(w |d|)."""
    total = 0.0
    for i in range(w.size):
        total += np.float64(w[i]) * abs(np.float64(d[i]))
    return total


@_compiled()
def apart(
    x: Row, y: Row, scratch: NDArray[np.float32]
) -> tuple[float, float, float, float]:  # pragma: no cover - compiled
    """Sums of exp(x), exp(y), exp(x) (y - x) and exp(x) |y - x|."""
    mine = other = cross = distance = 0.0
    for start in range(0, x.size, BLOCK):
        xs, ys = x[start : start + BLOCK], y[start : start + BLOCK]
        w, d = scratch[0, : xs.size], scratch[1, : xs.size]
        weigh(xs, ys, w, d)
        total, moment = add(w, d)
        mine += total
        cross += moment
        distance += add_distance(w, d)
        weigh_other(ys, w)
        other += add_up(w)
    return mine, other, cross, distance
