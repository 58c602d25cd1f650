"""Between which centres the blocks so far leave the truth, whenever one looks.

The bets of :mod:`.betting` on "the centre of d is above c" rule a centre c out once they reach 1/chance. They grow as
c falls, so everything below the largest centre that is ruled out is ruled out too. Under a true centre c the sign of
``d - c`` is a fair coin where the blocks scatter alike to both sides, so each end misses with its chance at most, at
any stopping time. Ends are multiples of ``GRAIN_NANOLOGS``, rounded outwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .betting import Bet, first_crossing

GRAIN_NANOLOGS = 10_000
REACH = 3  # standard deviations beyond the lowest block, behind which no stake grows any more


@dataclass(frozen=True)
class Interval:
    """Ends in nanologs, log(base/candidate): above 0 is faster. None where the blocks do not rule anything out."""

    low_nanologs: int | None
    high_nanologs: int | None


def interval(bets: Sequence[Bet], low_chance_ppm: int, high_chance_ppm: int, min_blocks: int = 5) -> Interval:
    """The centres that are not ruled out: from below with the first chance, from above with the second."""
    high = _ruled_out(bets, high_chance_ppm, min_blocks, -1)
    return Interval(_ruled_out(bets, low_chance_ppm, min_blocks, 1), None if high is None else -high)


def _ruled_out(bets: Sequence[Bet], chance_ppm: int, min_blocks: int, sign: int) -> int | None:
    """The largest centre of ``sign * d`` that is ruled out as too low."""
    if not bets:
        return None

    def out(grains: int) -> bool:
        return first_crossing(bets, chance_ppm, min_blocks, -grains * GRAIN_NANOLOGS, sign) is not None

    values = [sign * bet.d_nanologs for bet in bets]
    low = (min(values) - REACH * max(bet.sigma_nanologs for bet in bets)) // GRAIN_NANOLOGS
    high = max(values) // GRAIN_NANOLOGS + 1
    if not out(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if out(middle) else (low, middle)
    return low * GRAIN_NANOLOGS
