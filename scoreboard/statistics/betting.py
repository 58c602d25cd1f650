"""Betting on the sign of each block: evidence that stays valid whenever one looks and however often.

Under "same code" the coin that deals the two builds to their slots makes the sign of each block a fair coin,
whatever drift, outliers or autocorrelation do to its size. So one bets on it:

    E_n = mean over g of the product over i <= n of (1 + sign(d_i) * stake_g(|d_i|, sigma_i))
    stake_g = min(0.9, tanh(delta_g * min(|d|, 2.5 sigma) / sigma**2))
    delta_g = log(1 + {.005 .01 .02 .04 .08 .16})

A fair coin makes E a martingale of mean 1, so it ever reaches 1/alpha with a chance of at most alpha
(Ville 1939). A stake is fixed by |d| and sigma, which do not know the label. It never exceeds 0.9, so that
one wild block costs a factor of ten and not everything. Stakes are integers in parts per 1e9 and products
are exact, so E is a rational number and every comparison with a bar is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from ..errors import MalformedInput
from ..noise import BlockStat, Calibration, sigma
from .exact import MAX_NANOLOGS, NANO, PPM, log_gain, tanh_floor_ppb

GRID_PPM = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)
MAX_STAKE_PPB = 900_000_000
MAX_E_MILLI = 10**12


@dataclass(frozen=True)
class Bet:
    """One block as the test sees it. A block carried from an earlier round keeps the sigma of its time."""

    d_nanologs: int
    sigma_nanologs: int

    def __post_init__(self) -> None:
        if not (-MAX_NANOLOGS <= self.d_nanologs <= MAX_NANOLOGS):
            raise MalformedInput("d_nanologs", f"{self.d_nanologs} is outside ±{MAX_NANOLOGS}")
        if not (1 <= self.sigma_nanologs <= MAX_NANOLOGS):
            raise MalformedInput("sigma_nanologs", f"{self.sigma_nanologs} is outside 1 … {MAX_NANOLOGS}")


@dataclass(frozen=True)
class Wealth:
    """Wealth of the bettors after some blocks: one exact integer per grid point, over ``NANO ** blocks``."""

    shares: tuple[int, ...]
    blocks: int

    @property
    def scale(self) -> int:
        """What the sum of ``shares`` is divided by to give E."""
        return len(self.shares) * int(NANO**self.blocks)

    def reaches(self, chance_ppm: int) -> bool:
        """Whether E >= 1 / chance, exactly."""
        return sum(self.shares) * chance_ppm >= self.scale * PPM

    @property
    def e_milli(self) -> int:
        """E in thousandths, rounded down, at most ``MAX_E_MILLI``: the form that a verdict carries."""
        return min(1000 * sum(self.shares) // self.scale, MAX_E_MILLI)

    @property
    def log_e(self) -> float:
        """Natural logarithm of E, for people; finite for every number of blocks."""
        return log(sum(self.shares)) - log(self.scale)

    def after(self, bet: Bet, shift_nanologs: int = 0, sign: int = 1) -> "Wealth":
        """Wealth when the bets on "the centre of sign * d + shift is above 0" are settled by one more block."""
        value = sign * bet.d_nanologs + shift_nanologs
        side = (value > 0) - (value < 0)
        stakes = _stakes(abs(value), bet.sigma_nanologs)
        settled = (have * (NANO + side * stake) for have, stake in zip(self.shares, stakes, strict=True))
        return Wealth(tuple(settled), self.blocks + 1)


START = Wealth((1,) * len(GRID_PPM), 0)


def bet(stat: BlockStat, cal: Calibration) -> Bet:
    """The block as a bet, with the standard deviation that the calibration gives it."""
    return Bet(stat.d_nanologs, sigma(cal, stat.s_nanologs))


def wealth_path(bets: Sequence[Bet], shift_nanologs: int = 0, sign: int = 1) -> Iterator[Wealth]:
    """Wealth after each block for "the centre of sign * d + shift is above 0"; ``sign`` is 1 or -1."""
    wealth = START
    for item in bets:
        wealth = wealth.after(item, shift_nanologs, sign)
        yield wealth


def wealth_of(bets: Sequence[Bet], shift_nanologs: int = 0, sign: int = 1) -> Wealth:
    """Wealth after the last block."""
    wealth = START
    for item in bets:
        wealth = wealth.after(item, shift_nanologs, sign)
    return wealth


def e_value(bets: Sequence[Bet], shift_nanologs: int = 0, sign: int = 1) -> float:
    """E after the last block, as a float held to ``MAX_E_MILLI / 1000``."""
    return wealth_of(bets, shift_nanologs, sign).e_milli / 1000


def first_crossing(
    bets: Sequence[Bet], chance_ppm: int, min_blocks: int, shift_nanologs: int = 0, sign: int = 1
) -> int | None:
    """The number of blocks, at least ``min_blocks``, after which E first stands at 1/chance or above."""
    for wealth in wealth_path(bets, shift_nanologs, sign):
        if wealth.blocks >= min_blocks and wealth.reaches(chance_ppm):
            return wealth.blocks
    return None


@lru_cache(maxsize=1 << 14)
def _stakes(size: int, sigma_nanologs: int) -> tuple[int, ...]:
    """Share of the wealth set on the sign of one block, in parts per 1e9, for each gain of the grid."""
    twice = min(2 * size, 5 * sigma_nanologs)
    scale = 2 * sigma_nanologs**2
    return tuple(min(tanh_floor_ppb(log_gain(gain) * twice, scale), MAX_STAKE_PPB) for gain in GRID_PPM)
