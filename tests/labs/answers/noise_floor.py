"""Answers to ``noise_floor``."""

GUARD = """
import math
def noise_floor(d):
    if len(d) < 5 or not all(map(math.isfinite, d)):
        raise ValueError
"""

WRONG = {
    "the range": (GUARD + "    return max(d) - min(d)\n", "the size of the scatter"),
    "the variance": (GUARD + "    return sum(x * x for x in d) / len(d)\n", "the size of the scatter"),
    "the largest": (GUARD + "    return max(abs(x) for x in d)\n", "the size of the scatter"),
    "the mean distance": (GUARD + "    return sum(abs(x) for x in d) / len(d)\n", "the size of the scatter"),
    "subtracts the mean": (
        GUARD + "    m = sum(d) / len(d)\n    return math.sqrt(sum((x - m) ** 2 for x in d) / len(d))\n",
        "the mean is zero by design",
    ),
    "the sample's standard deviation": (
        GUARD + "    from statistics import stdev\n    return stdev(d)\n",
        "the mean is zero by design",
    ),
    "m - 1": (GUARD + "    return math.sqrt(sum(x * x for x in d) / (len(d) - 1))\n", "all m blocks count"),
    "two blocks are enough": (
        """
import math
def noise_floor(d):
    if len(d) < 2 or not all(map(math.isfinite, d)):
        raise ValueError
    return math.sqrt(sum(x * x for x in d) / len(d))
""",
        "at least five blocks",
    ),
    "nan spreads": (
        """
import math
def noise_floor(d):
    if len(d) < 5:
        raise ValueError
    return math.sqrt(sum(x * x for x in d) / len(d))
""",
        "what is not a number is refused",
    ),
    "nan is left out": (
        """
import math
def noise_floor(d):
    d = [x for x in d if math.isfinite(x)]
    if len(d) < 5:
        raise ValueError
    return math.sqrt(sum(x * x for x in d) / len(d))
""",
        "what is not a number is refused",
    ),
}

RIGHT = {
    "numpy": """
import numpy as np
def noise_floor(d):
    d = np.asarray(d, float)
    if d.size < 5 or not np.isfinite(d).all():
        raise ValueError("five finite blocks")
    return np.sqrt(np.mean(d**2))
""",
    "hypot": """
import math
def noise_floor(d):
    if not (len(d) >= 5 and math.isfinite(sum(map(abs, d)))):
        raise ValueError
    return math.hypot(*d) / math.sqrt(len(d))
""",
    "fractions": """
import math
from fractions import Fraction
def noise_floor(d):
    if len(d) <= 4:
        raise ValueError("too few")
    for x in d:
        if x != x or abs(x) == math.inf:
            raise ValueError("odd")
    total = sum(Fraction(x) ** 2 for x in d)
    return math.sqrt(total / len(d))
""",
}
