"""Logarithms and their inverses on integers, with one answer on every machine.

``decimal`` rounds ``ln`` and ``exp`` correctly at a stated precision, where the C library's last bit
depends on the CPU. So a verdict derived again elsewhere has the same integers. Log ratios are integers
in nanologs (1e-9 of a natural logarithm): 10_000_000 nanologs are a ratio of 1.01.
"""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cache

from ..errors import MalformedInput

NANO = 10**9
PPM = 10**6
MAX_GAIN_PPM = 10**12
MAX_NANOLOGS = 50 * NANO

_CONTEXT = Context(prec=28)


def log_ratio(numerator: int, denominator: int) -> int:
    """``1e9 * ln(numerator / denominator)`` in nanologs, half to even; swapping the arguments flips the sign.

    Raises MalformedInput unless both are positive: a time of zero has no ratio to anything.
    """
    if not (numerator > 0 and denominator > 0):
        raise MalformedInput("", f"a ratio needs two positive numbers, found {numerator} and {denominator}")
    large, small = max(numerator, denominator), min(numerator, denominator)
    log = _CONTEXT.ln(_CONTEXT.divide(Decimal(large), Decimal(small)))
    size = int((log * NANO).to_integral_value(ROUND_HALF_EVEN))
    return size if numerator == large else -size


@cache
def log_gain(gain_ppm: int) -> int:
    """``ln(1 + gain)`` in nanologs; ``gain_ppm`` must be above -1_000_000."""
    return log_ratio(PPM + gain_ppm, PPM)


def gain_floor_ppm(nanologs: int) -> int:
    """``floor(1e6 * (exp(x) - 1))``: a gain rounded against the candidate, at most ``MAX_GAIN_PPM``."""
    clipped = max(-MAX_NANOLOGS, min(nanologs, MAX_NANOLOGS))
    ratio = _CONTEXT.exp(_CONTEXT.divide(Decimal(clipped), Decimal(NANO)))
    return min(int((ratio * PPM).to_integral_value(ROUND_FLOOR)) - PPM, MAX_GAIN_PPM)


def tanh_floor_ppb(numerator: int, denominator: int) -> int:
    """``floor(1e9 * tanh(numerator / denominator))`` for a ratio >= 0, at most 999_999_999."""
    if numerator >= 12 * denominator:
        return NANO - 1
    twice = _CONTEXT.exp(_CONTEXT.divide(Decimal(2 * numerator), Decimal(denominator)))
    share = _CONTEXT.divide(twice - 1, twice + 1)
    return min(int((share * NANO).to_integral_value(ROUND_FLOOR)), NANO - 1)


def divide_even(numerator: int, denominator: int) -> int:
    """The integer nearest to ``numerator / denominator`` (denominator > 0), half to even."""
    quotient, rest = divmod(numerator, denominator)
    above = 2 * rest - denominator
    return quotient + (above > 0 or (above == 0 and quotient % 2 == 1))


def nanologs_of(value: float) -> int:
    """A natural logarithm that arrived as a float, in nanologs, half to even.

    Raises MalformedInput unless it is finite and at most ``MAX_NANOLOGS`` in size.
    """
    if not abs(value) <= MAX_NANOLOGS / NANO:
        raise MalformedInput("", f"log ratio {value} is not within ±{MAX_NANOLOGS // NANO}")
    return int((Decimal(value) * NANO).to_integral_value(ROUND_HALF_EVEN))


def log_of_mean_inverse(logs: Sequence[int]) -> int:
    """``-1e9 * ln(mean(exp(-y)))`` of log ratios y in nanologs, half to even.

    The log ratio of total times when the base took equally long in each pair: one long candidate step counts
    in full.
    """
    total = sum((_CONTEXT.exp(_CONTEXT.divide(Decimal(-log), Decimal(NANO))) for log in logs), Decimal(0))
    mean = _CONTEXT.divide(total, Decimal(len(logs)))
    return int((-_CONTEXT.ln(mean) * NANO).to_integral_value(ROUND_HALF_EVEN))
