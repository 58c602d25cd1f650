"""Answers to ``is_regression``."""

WRONG = {
    "the ratio alone": (
        """
def is_regression(kl, main, ratchet):
    return kl * 1_000_000 >= ratchet.factor_ppm * max(main, ratchet.floor_nanonats)
""",
        "under the bar a ratio is no finding",
    ),
    "the bar alone": (
        """
def is_regression(kl, main, ratchet):
    return kl > ratchet.bar_nanonats
""",
        "over the bar the ratio still counts",
    ),
    "or for and": (
        """
def is_regression(kl, main, ratchet):
    return kl > ratchet.bar_nanonats or kl * 1_000_000 >= ratchet.factor_ppm * max(main, ratchet.floor_nanonats)
""",
        "under the bar a ratio is no finding",
    ),
    "> for >=": (
        """
def is_regression(kl, main, ratchet):
    floor = max(main, ratchet.floor_nanonats)
    return kl > ratchet.bar_nanonats and kl * 1_000_000 > ratchet.factor_ppm * floor
""",
        "twice is already a regression",
    ),
    ">= at the bar": (
        """
def is_regression(kl, main, ratchet):
    floor = max(main, ratchet.floor_nanonats)
    return kl >= ratchet.bar_nanonats and kl * 1_000_000 >= ratchet.factor_ppm * floor
""",
        "on the bar is not over it",
    ),
    "no floor": (
        """
def is_regression(kl, main, ratchet):
    return kl > ratchet.bar_nanonats and kl * 1_000_000 >= ratchet.factor_ppm * main
""",
        "main near zero counts as the floor",
    ),
    "divides, and skips a main of zero": (
        """
def is_regression(kl, main, ratchet):
    if main == 0:
        return True
    ratio = kl / max(main, ratchet.floor_nanonats)
    return kl > ratchet.bar_nanonats and ratio >= ratchet.factor_ppm / 1e6
""",
        "main near zero counts as the floor",
    ),
    "whole multiples": (
        """
def is_regression(kl, main, ratchet):
    times = kl // max(main, ratchet.floor_nanonats)
    return kl > ratchet.bar_nanonats and times > ratchet.factor_ppm // 1_000_000
""",
        "twice is already a regression",
    ),
    "the other way round": (
        """
def is_regression(kl, main, ratchet):
    return main > ratchet.bar_nanonats and main * 1_000_000 >= ratchet.factor_ppm * kl
""",
        "both conditions together",
    ),
}

RIGHT = {
    "early returns": """
def is_regression(kl, main, ratchet):
    if kl <= ratchet.bar_nanonats:
        return False
    if main < ratchet.floor_nanonats:
        main = ratchet.floor_nanonats
    return not (kl * 10**6 < main * ratchet.factor_ppm)
""",
    "fractions": """
from fractions import Fraction
def is_regression(kl, main, ratchet):
    ratio = Fraction(kl, max(main, ratchet.floor_nanonats))
    return ratio >= Fraction(ratchet.factor_ppm, 10**6) and kl > ratchet.bar_nanonats
""",
    "numpy": """
import numpy as np
def is_regression(kl, main, ratchet):
    limit = ratchet.factor_ppm * np.maximum(np.int64(main), np.int64(ratchet.floor_nanonats))
    return np.logical_and(np.int64(kl) > ratchet.bar_nanonats, np.int64(kl) * 1_000_000 >= limit)
""",
}
