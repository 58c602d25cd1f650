"""What a block of paired timings says, and how noisy blocks of this node are.

A block pairs steps of the base with steps of the candidate, measured in turn on one core. Its log ratios
are antisymmetric in the two labels, its spread is blind to them: exchanging base and candidate flips the
sign of ``d`` and ``total`` and leaves ``s`` and every weight as they are. The test in ``betting`` rests on
nothing else. The spread counts at most twice the spread of the steadier arm: a build that makes its losing
blocks noisy, to have them weighed less, cannot move the other arm's steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from .errors import MalformedInput
from .statistics.exact import MAX_NANOLOGS, PPM, divide_even, log_ratio

TRIM = 5  # one fifth is cut, or drawn in, on each side
REFERENCE_SHARE = 5  # a fifth of the typical variance is added to each block's own
ARM_SHARE = 2  # a block is held to be at most this many times as unsteady as its steadier arm
OUTLIER = 9  # a squared score counts at most nine medians


@dataclass(frozen=True)
class BlockStat:
    """One block. Positive means that the candidate is faster.

    ``d_nanologs``: 20 % trimmed mean of log(base/candidate) over the pairs.
    ``s_nanologs``: 20 % winsorised standard deviation of the same, at most twice that of the log times of
    the steadier arm; 0 for one pair.
    ``total_nanologs``: log(sum of base times / sum of candidate times), nothing trimmed.
    """

    d_nanologs: int
    s_nanologs: int
    total_nanologs: int

    def __post_init__(self) -> None:
        for name in ("d_nanologs", "total_nanologs"):
            value = getattr(self, name)
            if not (-MAX_NANOLOGS <= value <= MAX_NANOLOGS):
                raise MalformedInput(name, f"{value} is outside ±{MAX_NANOLOGS}")
        if not (0 <= self.s_nanologs <= 2 * MAX_NANOLOGS):
            raise MalformedInput("s_nanologs", f"{self.s_nanologs} is outside 0 … {2 * MAX_NANOLOGS}")


@dataclass(frozen=True)
class Calibration:
    """How blocks of identical code scatter here, from ``blocks`` A/A blocks.

    A block with own spread s scatters with ``sigma = kappa * sqrt(0.2 * s_ref**2 + s**2)``. When the
    typical spread is 0 (one pair per block) the root is 1 nanolog for every block.
    """

    s_ref_nanologs: int
    kappa_ppm: int
    blocks: int

    def __post_init__(self) -> None:
        if not (0 <= self.s_ref_nanologs <= 2 * MAX_NANOLOGS):
            raise MalformedInput("s_ref_nanologs", f"{self.s_ref_nanologs} is outside 0 … {2 * MAX_NANOLOGS}")
        if not (1 <= self.kappa_ppm <= MAX_NANOLOGS * PPM):
            raise MalformedInput("kappa_ppm", f"{self.kappa_ppm} is outside 1 … {MAX_NANOLOGS * PPM}")
        if not self.blocks >= 1:
            raise MalformedInput("blocks", f"{self.blocks} is below 1")


def block_stat(base_ns: Sequence[int], cand_ns: Sequence[int]) -> BlockStat:
    """Reduce a block; ``base_ns[i]`` and ``cand_ns[i]`` are the two steps of pair ``i``, in nanoseconds.

    Raises MalformedInput for no pairs, unequal lengths, or a time that is not positive.
    """
    if not (len(base_ns) == len(cand_ns) and len(base_ns) > 0):
        raise MalformedInput("", f"a block needs pairs, found {len(base_ns)} base and {len(cand_ns)} candidate steps")
    logs = [log_ratio(base, cand) for base, cand in zip(base_ns, cand_ns, strict=True)]
    steadier = min(_own_spread(base_ns), _own_spread(cand_ns))
    spread = min(winsorised_sd(logs), ARM_SHARE * steadier)
    return BlockStat(trimmed_mean(logs), spread, log_ratio(sum(base_ns), sum(cand_ns)))


def trimmed_mean(values: Sequence[int]) -> int:
    """Mean without the lowest and the highest fifth, to the nearest integer."""
    cut = len(values) // TRIM
    kept = sorted(values)[cut : len(values) - cut]
    return divide_even(sum(kept), len(kept))


def winsorised_sd(values: Sequence[int]) -> int:
    """Standard deviation (n - 1) once the outer fifths stand at the nearest kept value; 0 for n = 1."""
    count, cut = len(values), len(values) // TRIM
    if count == 1:
        return 0
    ranked = sorted(values)
    low, high = ranked[cut], ranked[count - 1 - cut]
    drawn = [min(max(value, low), high) for value in ranked]
    scatter = count * sum(value * value for value in drawn) - sum(drawn) ** 2
    return isqrt(scatter // (count * (count - 1)))


def calibrate(aa: Sequence[BlockStat]) -> Calibration:
    """Fit the scale of the noise to blocks of identical code (their true mean is zero by design).

    ``kappa**2`` is the mean of d²/v with each term held to nine medians, v = 0.2 s_ref² + s².
    Raises MalformedInput without blocks. Order and labels of the blocks do not matter.
    """
    if not aa:
        raise MalformedInput("aa", "no A/A blocks: measure at least 5")
    s_ref = median(sorted(stat.s_nanologs for stat in aa))
    scores = sorted(stat.d_nanologs**2 * REFERENCE_SHARE * PPM**2 // _variance5(s_ref, stat.s_nanologs) for stat in aa)
    bar = OUTLIER * median(scores)
    mean = sum(min(score, bar) for score in scores) // len(scores)
    return Calibration(s_ref, min(max(isqrt(mean), 1), MAX_NANOLOGS * PPM), len(aa))


def sigma(cal: Calibration, s_nanologs: int) -> int:
    """Standard deviation of ``d`` for a block with this own spread, 1 … ``MAX_NANOLOGS`` nanologs."""
    variance = cal.kappa_ppm**2 * _variance5(cal.s_ref_nanologs, s_nanologs)
    return min(max(isqrt(variance // (REFERENCE_SHARE * PPM**2)), 1), MAX_NANOLOGS)


def median(ranked: Sequence[int]) -> int:
    """Middle of sorted integers; between two middle ones, the lower integer of their mean."""
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) // 2


def _own_spread(times_ns: Sequence[int]) -> int:
    return winsorised_sd([log_ratio(time, times_ns[0]) for time in times_ns])


def _variance5(s_ref: int, s: int) -> int:
    """Five times the unscaled variance of a block: s_ref² + 5 s², or 5 where no block has a spread."""
    return s_ref**2 + REFERENCE_SHARE * s**2 if s_ref > 0 else REFERENCE_SHARE
