"""What A/A blocks say about a node beside its scale: floor, thresholds, trend, order and harness bias.

The true mean of an A/A block is zero by design, so m blocks give m degrees of freedom. All results are
integers: nanologs, or parts per million of a rate (1_000 nanologs are 1 ppm to first order).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erfc, isqrt, sqrt

from ..errors import MalformedInput
from ..noise import median
from .betting import Bet, wealth_of
from .exact import PPM, divide_even, log_ratio
from .quantiles import MICRO, chi2_10_micro, t95_micro

EXACT_FLIPS = 14  # up to 2**14 sign patterns are counted; beyond, their normal limit
MS_PER_MINUTE = 60_000
NANOLOGS_PER_PPM = 1_000
BIASED_E_MILLI = 20_000


@dataclass(frozen=True)
class SlotEffect:
    """How much faster slot 0 is than slot 1, and the chance of so much under no effect (two-sided)."""

    ppm: int
    p_ppm: int


@dataclass(frozen=True)
class Share:
    """``count`` out of ``of``, with its 95 % interval (Wilson 1927)."""

    count: int
    of: int
    low_ppm: int
    high_ppm: int


def floor_sd(d_nanologs: Sequence[int]) -> int:
    """The noise floor: root mean square of A/A blocks, in nanologs, rounded up."""
    _some(d_nanologs)
    return isqrt(sum(d * d for d in d_nanologs) // len(d_nanologs)) + 1


def floor_sd_upper(sd_nanologs: int, blocks: int) -> int:
    """Upper bound of the floor that holds with a chance of 90 %; 1.76 times the floor at 5 blocks."""
    return isqrt(sd_nanologs**2 * blocks * MICRO // chi2_10_micro(blocks)) + 1


def mean_threshold(sd_nanologs: int, blocks: int, count: int) -> int:
    """A plain mean of ``count`` blocks beyond this is a gain at 5 %, with a floor from ``blocks`` A/A blocks."""
    return t95_micro(blocks) * sd_nanologs // isqrt(count * MICRO**2) + 1


def beyond_largest_ppm(blocks: int) -> int:
    """False accepts of the rule "a block beyond the largest of ``blocks`` A/A blocks": 1 / (2 (m + 1))."""
    return -(-PPM // (2 * (blocks + 1)))


def lag1_ppm(d_nanologs: Sequence[int]) -> int:
    """Correlation of neighbouring blocks about zero; 0 when no block moved."""
    _some(d_nanologs)
    energy = sum(d * d for d in d_nanologs)
    product = sum(a * b for a, b in pairwise(d_nanologs))
    return divide_even(PPM * product, energy) if energy else 0


def drift_ppm_per_minute(at_ms: Sequence[int], level_ns: Sequence[int]) -> int | None:
    """Trend of the base's own level: the median slope over all pairs of blocks (Theil 1950, Sen 1968).

    ``level_ns[i]`` is the base's typical step at ``at_ms[i]``; positive means that the node became slower.
    None when no two blocks have different times.
    """
    logs = [log_ratio(level, level_ns[0]) for level in level_ns]
    slopes = sorted(
        divide_even((logs[j] - logs[i]) * MS_PER_MINUTE, (at_ms[j] - at_ms[i]) * NANOLOGS_PER_PPM)
        for i in range(len(logs))
        for j in range(len(logs))
        if at_ms[j] > at_ms[i]
    )
    return median(slopes) if slopes else None


def slot_effect(d_nanologs: Sequence[int], swapped: Sequence[bool]) -> SlotEffect:
    """Mean advantage of the build in slot 0, with the chance that fair coins give one as large.

    ``swapped[i]`` says that the base was in slot 1. Every pattern of signs is counted for up to 14 blocks.
    """
    _some(d_nanologs)
    effects = [d if swap else -d for d, swap in zip(d_nanologs, swapped, strict=True)]
    seen = abs(sum(effects))
    if len(effects) <= EXACT_FLIPS:
        sums = [0]
        for effect in effects:
            sums = [total + step for total in sums for step in (effect, -effect)]
        p_ppm = -(-PPM * sum(abs(total) >= seen for total in sums) // len(sums))
    else:
        scale = sqrt(2 * sum(effect * effect for effect in effects))
        p_ppm = round(PPM * erfc(seen / scale)) if scale else PPM
    return SlotEffect(divide_even(sum(effects), len(effects) * NANOLOGS_PER_PPM), p_ppm)


def harness_e_milli(bets: Sequence[Bet]) -> int:
    """Two-sided evidence that the harness favours a label, over all its A/A blocks.

    At ``BIASED_E_MILLI`` or above gating must stop. With a fair harness it ever gets there in 5 % of cases.
    """
    return (wealth_of(bets).e_milli + wealth_of(bets, sign=-1).e_milli) // 2


def share(count: int, of: int) -> Share:
    """``count / of`` with Wilson's 95 % interval, rounded outwards."""
    if not 0 <= count <= of or of == 0:
        raise MalformedInput("count", f"{count} of {of} is no share")
    z2 = 1.959963984540054**2
    centre, half = count + z2 / 2, sqrt(z2 * (count * (of - count) / of + z2 / 4))
    low, high = (centre - half) / (of + z2), (centre + half) / (of + z2)
    return Share(count, of, max(int(PPM * low), 0), min(int(PPM * high) + 1, PPM))


def _some(values: Sequence[int]) -> None:
    if not values:
        raise MalformedInput("aa", "no A/A blocks: measure at least 5")
