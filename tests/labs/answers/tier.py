"""Answers to ``tier``."""

WRONG = {
    "floats": (
        """
def tier(base, candidate, reference, bars):
    gain = candidate / base - 1
    if reference:
        gain = min(gain, (candidate - base) / reference)
    for name, bar in bars.items():
        if gain >= bar / 1_000_000:
            return name
    return "xs"
""",
        "a gain on a bar belongs to the tier that begins there",
    ),
    "floats, the difference first": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    return next((n for n, bar in bars.items() if (candidate - base) / under * 1e6 >= bar), "xs")
""",
        "a gain on a bar belongs to the tier that begins there",
    ),
    "> for >=": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 > bar * under), "xs")
""",
        "a gain on a bar belongs to the tier that begins there",
    ),
    "the larger share": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else min(base, reference)
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 >= bar * under), "xs")
""",
        "the reference binds while main is slower than it",
    ),
    "the reference never counts": (
        """
def tier(base, candidate, reference, bars):
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 >= bar * base), "xs")
""",
        "the reference binds while main is slower than it",
    ),
    "the reference always counts": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else reference
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 >= bar * under), "xs")
""",
        "the frontier binds once main is faster",
    ),
    "twice the gain, as the case study did": (
        """
def tier(base, candidate, reference, bars):
    delta = candidate - base
    def reaches(bar):
        return 2 * delta * 10**6 >= bar * base and (reference is None or delta * 10**6 >= bar * reference)
    return next((n for n, bar in bars.items() if reaches(bar)), "xs")
""",
        "tiers away from the bars",
    ),
    "smallest bar first": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    return next((n for n, bar in reversed(bars.items()) if (candidate - base) * 10**6 >= bar * under), "xs")
""",
        "tiers away from the bars",
    ),
    "none below s": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 >= bar * under), "none")
""",
        "below s is xs",
    ),
    "against the candidate": (
        """
def tier(base, candidate, reference, bars):
    under = candidate if reference is None else max(candidate, reference)
    return next((n for n, bar in bars.items() if (candidate - base) * 10**6 >= bar * under), "xs")
""",
        "a gain on a bar belongs to the tier that begins there",
    ),
    "whole percents": (
        """
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    percent = (candidate - base) * 100 // under
    return next((n for n, bar in bars.items() if percent >= bar // 10_000), "xs")
""",
        "below s is xs",
    ),
}

RIGHT = {
    "fractions and min": """
from fractions import Fraction
def tier(base, candidate, reference, bars):
    basis = Fraction(candidate - base, base)
    if reference is not None:
        basis = min(basis, Fraction(candidate - base, reference))
    for name, bar in bars.items():
        if basis >= Fraction(bar, 1_000_000):
            return name
    return "xs"
""",
    "integers and a loop from below": """
def tier(base, candidate, reference, bars):
    name = "xs"
    under = max(base, reference or 0)
    for each in sorted(bars, key=bars.get):
        if (candidate - base) * 1_000_000 >= bars[each] * under:
            name = each
    return name
""",
    "decimal": """
from decimal import Decimal, getcontext
def tier(base, candidate, reference, bars):
    under = base if reference is None else max(base, reference)
    ppm, rest = divmod((candidate - base) * 1_000_000, under)
    reached = [n for n in bars if Decimal(ppm) >= Decimal(bars[n])]
    return reached[0] if reached else "xs"
""",
}
