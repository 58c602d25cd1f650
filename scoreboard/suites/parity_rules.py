"""What is said of graded rows beside the bars of the gate: percentiles, near ties, errors. Pure, on integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ..errors import MalformedInput

PPM = 1_000_000
SHARES_PPM = (500_000, 900_000, 950_000, 990_000, 999_000)

Misses = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Summary:
    """Graded rows in figures; shares in ppm, divergences in nanonats, both rounded against the candidate.

    ``percentiles`` maps each of ``SHARES_PPM`` to the least divergence that so many rows do not exceed. A miss
    is ``(row, gap)``; ``near_ties`` are those whose gap is at most the bar that was given, ``hard_misses`` the
    others. ``top1_ppm`` counts both as misses and has the standard error ``top1_error_ppm`` of a binomial.
    """

    rows: int
    mean_nanonats: int
    max_nanonats: int
    percentiles: dict[int, int]
    top1_ppm: int
    top1_error_ppm: int
    hard_misses: tuple[tuple[int, ...], ...]
    near_ties: tuple[tuple[int, ...], ...]


def summarise(kl_nanonats: Sequence[int], misses: Misses, near_tie_nanonats: int) -> Summary:
    """The figures of some rows. Raises MalformedInput when there is none."""
    rows = len(kl_nanonats)
    if rows == 0:
        raise MalformedInput("kl_nanonats", "is empty; there is nothing to sum up")
    agreeing = rows - len(misses)
    return Summary(
        rows=rows,
        mean_nanonats=-(-sum(kl_nanonats) // rows),
        max_nanonats=max(kl_nanonats),
        percentiles={share: percentile(kl_nanonats, share) for share in SHARES_PPM},
        top1_ppm=agreeing * PPM // rows,
        top1_error_ppm=standard_error_ppm(agreeing, rows),
        hard_misses=tuple(miss for miss in misses if miss[1] > near_tie_nanonats),
        near_ties=tuple(miss for miss in misses if miss[1] <= near_tie_nanonats),
    )


def percentile(kl_nanonats: Sequence[int], share_ppm: int) -> int:
    """The least divergence that at least ``share_ppm`` of the rows do not exceed; no interpolation."""
    if not (kl_nanonats and 0 < share_ppm <= PPM):
        problem = f"{share_ppm} ppm of {len(kl_nanonats)} rows; wanted are 1 to {PPM} ppm of a row or more"
        raise MalformedInput("share_ppm", problem)
    return sorted(kl_nanonats)[-(-share_ppm * len(kl_nanonats) // PPM) - 1]


def standard_error_ppm(agreeing: int, rows: int) -> int:
    """Standard error of the share ``agreeing / rows``, rounded up: sqrt(p (1 - p) / n)."""
    square = Fraction(agreeing * (rows - agreeing) * PPM**2, rows**3)
    root = isqrt(square.numerator // square.denominator)
    return root if root**2 == square else root + 1
