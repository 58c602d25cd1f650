"""Amounts for people: significant digits, a direction in words, one unit for what stands side by side. Pure.

Text is rounded for reading; a ratio is rounded down, against whoever claims it. Exact integers stand in the data.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, log10

from .statistics.exact import gain_floor_ppm

PPM = 1_000_000
MICRO = 1_000_000
NANO = 1_000_000_000
TIMES_PPM = 3 * PPM  # from three times on a ratio reads better than a percentage
SMALL_PERCENT = 0.1
UNITS_NS = ((NANO, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
TEN_THOUSAND = 10_000
DIGITS = 4
NEVER_ALIKE = 12  # more digits than any two integers of a finding need to look different


def percent(ppm: int, *, sign: bool = False, finer: int = 0) -> str:
    """Parts per million as a percentage: one decimal from 10 % on, two below, two digits that matter below 0.1 %."""
    share = ppm * 100 / PPM
    if 0 < abs(share) < SMALL_PERCENT:
        return f"{share:{'+' if sign else ''}.{2 + finer}g} %"
    digits = (1 if abs(share) >= 10 else 2) + finer  # noqa: PLR2004  # two significant decimals are enough
    return f"{share:{'+' if sign else ''},.{digits}f} %"


def times(ppm: int, finer: int = 0) -> str:
    """A ratio in parts per million with three digits that matter, rounded down: 3.15 times, 514,000 times."""
    ratio = Fraction(ppm, PPM)
    places = 2 + finer - floor(log10(ratio)) if ratio > 0 else 0
    kept = Fraction(floor(ratio * Fraction(10) ** places)) / Fraction(10) ** places
    text = f"{float(kept):,.{max(places, 0)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} times"


def gained(gain_ppm: int, low_ppm: int | None = None, high_ppm: int | None = None) -> str:
    """A gain in rate, with its interval where it has one: +15.1 % [14.2 %, 16.0 %], or 3.15 times faster."""
    far = gain_ppm >= TIMES_PPM - PPM
    size = f"{times(PPM + gain_ppm)} faster" if far else percent(gain_ppm, sign=True)
    if low_ppm is None or high_ppm is None:
        return size
    low, high = (times(PPM + end) if far else percent(end) for end in (low_ppm, high_ppm))
    return f"{size} [{low}, {high}]"


def change(nanologs: int) -> str:
    """log(base/candidate) with its direction: 15.1 % faster, 4.00 % slower, 3.15 times slower."""
    size_ppm = gain_floor_ppm(abs(nanologs))
    if size_ppm == 0:
        return "no change"
    size = times(PPM + size_ppm) if size_ppm >= TIMES_PPM - PPM else percent(size_ppm)
    return f"{size} {'faster' if nanologs > 0 else 'slower'}"


def between(low: int | None, high: int | None) -> str:
    """What lies between two such logarithms, None where an end is open."""
    if low is None or high is None:
        return _open(low, high)
    if (low > 0) is not (high > 0):
        return f"{change(low)} to {change(high)}"
    small, large = (gain_floor_ppm(abs(end)) for end in sorted((low, high), key=abs))
    word = "faster" if low > 0 else "slower"
    if large >= TIMES_PPM - PPM:
        return f"{times(PPM + small).removesuffix(' times')} to {times(PPM + large)} {word}"
    return f"{percent(small)} to {percent(large)} {word}"


def durations(times_ns: Sequence[int]) -> list[str]:
    """Times side by side in the largest unit in which the smallest is 1 or more, with four digits of that one."""
    least = min(times_ns)
    scale, unit = next((pair for pair in UNITS_NS if least >= pair[0]), UNITS_NS[-1])
    digits = 0 if scale == 1 else DIGITS - len(str(least // scale))
    return [f"{ns / scale:{',' if ns >= TEN_THOUSAND * scale else ''}.{max(digits, 0)}f} {unit}" for ns in times_ns]


def rate(utps: int) -> str:
    """A rate in tokens per second."""
    return f"{utps / MICRO:,.1f} tok/s"


def quantity(value: int | None, unit: str, finer: int = 0) -> str:
    """An integer in its unit; ``finer`` adds digits."""
    if value is None:
        return ""
    if unit == "ppm":
        return percent(value, finer=finer)
    if unit == "times":
        return times(value, finer)
    if unit == "nanonats":
        return f"{nats(value, finer)} nats"
    if unit == "milli":
        return f"{value / 1000:,.{2 + finer}f}"
    return f"{value:,} {unit}"


def sides(found: int | None, bound: int | None, unit: str) -> tuple[str, str]:
    """Both sides of a comparison, with as many digits as it takes to tell them apart."""
    texts = [(quantity(found, unit, finer), quantity(bound, unit, finer)) for finer in range(NEVER_ALIKE)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def nats(nanonats: int, finer: int = 0) -> str:
    """A divergence in nats with two digits that matter."""
    value = nanonats / NANO
    return f"{value:,.{finer}f}" if value >= 100 else f"{value:.{2 + finer}g}"  # noqa: PLR2004  # digits before the point


def _open(low: int | None, high: int | None) -> str:
    if low is not None:
        return f"at least {change(low)}" if low >= 0 else f"at most {change(low)}"
    if high is not None:
        return f"at most {change(high)}" if high >= 0 else f"at least {change(high)}"
    return "not told yet"
