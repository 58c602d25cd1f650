"""How large a gain is: the weighted Hodges-Lehmann estimate with an interval that assumes only symmetry.

The estimate is the weighted median of all averages of two blocks, a block with itself included. The
interval holds every shift that the sign test of the same statistic does not reject: under the true shift
the sign of each block is a fair coin, so all 2**n sign patterns are equally likely and are counted.
(Hodges and Lehmann 1963; weights blind to the labels leave the argument as it is.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from ..errors import MalformedInput
from ..noise import BlockStat, Calibration, sigma
from .exact import PPM, gain_floor_ppm

MAX_BLOCKS = 16  # 2**16 sign patterns are still counted in a moment
TAIL_PPM = 25_000  # chance on each side that the interval may miss


class Basis(StrEnum):
    """Which figure of the blocks gave the lesser gain."""

    TRIMMED = "trimmed"
    TOTAL = "total"


@dataclass(frozen=True)
class Size:
    """A gain in ppm of the base's rate, the lesser of the trimmed mean's and the total time's.

    ``gain_ppm`` and ``low_ppm`` are rounded down, ``high_ppm`` is at most 1 ppm above the interval's end.
    ``confidence_ppm`` is at least 950_000 from six blocks on; with fewer the interval is the whole range.
    """

    gain_ppm: int
    low_ppm: int
    high_ppm: int
    confidence_ppm: int
    trimmed_ppm: int
    total_ppm: int
    basis: Basis
    blocks: int


@dataclass(frozen=True)
class Estimate:
    """Point, lower and upper end in nanologs, rounded down, and the chance that the interval holds."""

    point: int
    low: int
    high: int
    confidence_ppm: int


def size(stats: Sequence[BlockStat], cal: Calibration) -> Size:
    """Gain of the candidate over the base from fresh blocks; the order of the blocks does not matter.

    Raises MalformedInput for no blocks or more than ``MAX_BLOCKS``.
    """
    return sized(stats, [sigma(cal, stat.s_nanologs) for stat in stats])


def sized(stats: Sequence[BlockStat], sigmas: Sequence[int]) -> Size:
    """The same with the standard deviation of each block given, such as the one that it had at its time."""
    weights = precision_weights(sigmas)
    trimmed = estimate([stat.d_nanologs for stat in stats], weights)
    total = estimate([stat.total_nanologs for stat in stats], weights)
    basis, lesser = (Basis.TRIMMED, trimmed) if trimmed.point <= total.point else (Basis.TOTAL, total)
    return Size(
        gain_ppm=gain_floor_ppm(lesser.point),
        low_ppm=gain_floor_ppm(lesser.low),
        high_ppm=gain_floor_ppm(lesser.high + 1) + 1,
        confidence_ppm=lesser.confidence_ppm,
        trimmed_ppm=gain_floor_ppm(trimmed.point),
        total_ppm=gain_floor_ppm(total.point),
        basis=basis,
        blocks=len(stats),
    )


def precision_weights(sigmas: Sequence[int]) -> list[int]:
    """``1/sigma**2`` as integers, a million for the most precise block."""
    best = min(sigmas, default=1)
    return [max(PPM * best**2 // sigma_**2, 1) for sigma_ in sigmas]


def estimate(values: Sequence[int], weights: Sequence[int]) -> Estimate:
    """Weighted Hodges-Lehmann estimate of the centre of ``values`` (nanologs), with its interval."""
    count = len(values)
    if not 1 <= count <= MAX_BLOCKS:
        raise MalformedInput("", f"{count} blocks give no estimate; between 1 and {MAX_BLOCKS} do")
    pairs = sorted((values[i] + values[j], weights[i] * weights[j]) for i in range(count) for j in range(i, count))
    doubled = sorted({value for value, _ in pairs})
    low, tail_low = _limit(doubled, values, weights)
    high, tail_high = _limit([-value for value in reversed(doubled)], [-value for value in values], weights)
    outside = -(-PPM * (tail_low + tail_high) // 2**count)
    return Estimate(_weighted_median(pairs) // 4, low // 2, -high // 2, PPM - outside)


def _weighted_median(pairs: Sequence[tuple[int, int]]) -> int:
    """Four times the centre: the average with equal weight below and above, or the middle of two such."""
    half, seen = sum(weight for _, weight in pairs), 0
    for index, (value, weight) in enumerate(pairs):
        seen += 2 * weight
        if seen > half:
            return 2 * value
        if seen == half:
            return value + pairs[index + 1][0]
    raise AssertionError("weights are positive")


def _limit(doubled: Sequence[int], values: Sequence[int], weights: Sequence[int]) -> tuple[int, int]:
    """The lowest end of a gap that is not rejected as too low (twice its value), and the patterns beyond it.

    The centre of each gap between neighbouring averages is tried, from below.
    """
    beyond = 1  # below all averages only the pattern with every sign up is as extreme
    for left, right in pairwise(doubled):
        patterns = _patterns_above(left + right, values, weights)
        if patterns * PPM > TAIL_PPM * 2 ** len(values):
            return left, beyond
        beyond = patterns
    return doubled[0], beyond


def _patterns_above(shift4: int, values: Sequence[int], weights: Sequence[int]) -> int:
    """How many of the 2**n sign patterns give a statistic at least as high as the one at ``shift4 / 4``."""
    ranked = sorted(
        (abs(4 * value - shift4), 4 * value > shift4, weight) for value, weight in zip(values, weights, strict=True)
    )
    seen = below = 0
    sums = [0]
    for _, up, weight in ranked:
        below += weight
        score = weight * below
        seen += score * up
        sums += [total + score for total in sums]
    return sum(total >= seen for total in sums)
