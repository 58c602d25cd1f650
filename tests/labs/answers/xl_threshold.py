"""Answers to ``xl_threshold``."""

WRONG = {
    "the frontier alone": (
        """
def xl_threshold(frontier, reference):
    return 1.18 * frontier, "frontier"
""",
        "behind the reference",
    ),
    "the smaller denominator": (
        """
def xl_threshold(frontier, reference):
    if reference is None or reference >= frontier:
        return frontier * 1.18, "frontier"
    return frontier + 0.18 * reference, "reference"
""",
        "behind the reference",
    ),
    "18 percent over the reference": (
        """
def xl_threshold(frontier, reference):
    if reference is None or frontier >= reference:
        return 1.18 * frontier, "frontier"
    return 1.18 * reference, "reference"
""",
        "behind the reference",
    ),
    "the gain and not the threshold": (
        """
def xl_threshold(frontier, reference):
    if reference is None or frontier >= reference:
        return 0.18 * frontier, "frontier"
    return 0.18 * reference, "reference"
""",
        "behind the reference",
    ),
    "the reference alone": (
        """
def xl_threshold(frontier, reference):
    if reference is None:
        return 1.18 * frontier, "frontier"
    return frontier + 0.18 * reference, "reference" if frontier < reference else "frontier"
""",
        "ahead of the reference",
    ),
    "the names exchanged": (
        """
def xl_threshold(frontier, reference):
    if reference is None:
        return 1.18 * frontier, "frontier"
    return frontier + 0.18 * max(frontier, reference), "frontier" if reference > frontier else "reference"
""",
        "which one binds",
    ),
    "None is a number": (
        """
def xl_threshold(frontier, reference):
    return frontier + 0.18 * max(frontier, reference), "reference" if reference > frontier else "frontier"
""",
        "the anchor is off",
    ),
    "<= for <": (
        """
def xl_threshold(frontier, reference):
    if reference is not None and frontier <= reference:
        return frontier + 0.18 * reference, "reference"
    return 1.18 * frontier, "frontier"
""",
        "equal, or off",
    ),
}
RIGHT = {
    "one maximum": """
def xl_threshold(frontier, reference):
    largest = max(frontier, reference or 0)
    return frontier + 0.18 * largest, "frontier" if largest == frontier else "reference"
""",
    "in fractions": """
from fractions import Fraction

def xl_threshold(frontier, reference):
    exact = Fraction(str(frontier))
    other = exact if reference is None else Fraction(str(reference))
    binds = "reference" if other > exact else "frontier"
    return float(exact + Fraction(18, 100) * max(exact, other)), binds
""",
    "by search": """
def xl_threshold(frontier, reference):
    def share(rate):
        gain = rate - frontier
        return min(gain / frontier, gain / reference if reference else gain / frontier)
    low, high = frontier, frontier + 1000
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if share(middle) >= 0.18 else (middle, high)
    return [high, "reference" if reference and reference > frontier else "frontier"]
""",
}
