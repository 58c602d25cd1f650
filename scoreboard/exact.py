"""Logarithms and their inverses on integers, with one answer on every machine.

``decimal`` rounds ``ln`` and ``exp`` correctly at a stated precision, where the C library's last bit
depends on the CPU. So a verdict derived again elsewhere has the same integers. Log ratios are integers
in nanologs (1e-9 of a natural logarithm): 10_000_000 nanologs are a ratio of 1.01.
"""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cache

from .errors import MalformedInput

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
