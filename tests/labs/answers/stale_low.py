"""Answers to ``stale_low``."""

WRONG = {
    "the share itself": (
        """
def stale_low(stale, margin):
    return stale, 1 - (1 - margin) * (1 - stale)
""",
        "the gain for no change",
    ),
    "the other way round": (
        """
def stale_low(stale, margin):
    pin = 1 - stale
    return 1 - pin, 1 / ((1 - margin) * pin) - 1
""",
        "the gain for no change",
    ),
    "in percent": (
        """
def stale_low(stale, margin):
    pin = 1 - stale
    return 100 / pin - 100, 100 - 100 * (1 - margin) * pin
""",
        "the gain for no change",
    ),
    "the guard forgets its margin": (
        """
def stale_low(stale, margin):
    return 1 / (1 - stale) - 1, stale
""",
        "the loss that passes",
    ),
    "the margin off main": (
        """
def stale_low(stale, margin):
    pin = 1 - stale
    return 1 / pin - 1, 1 - (pin - margin)
""",
        "the loss that passes",
    ),
    "a margin of one percent, always": (
        """
def stale_low(stale, margin):
    pin = 1 - stale
    return 1 / pin - 1, 1 - 0.99 * pin
""",
        "the margin comes off the pin",
    ),
    "a series that is right for small shares": (
        """
def stale_low(stale, margin):
    terms = sum(stale ** power for power in range(1, 16))
    return terms, 1 - (1 - margin) * (1 - stale)
""",
        "far off as well",
    ),
    "divides by what is stale": (
        """
def stale_low(stale, margin):
    pin = 1 - stale
    if stale / pin == 0:
        return None
    return stale / pin, 1 - (1 - margin) * pin
""",
        "a fresh pin",
    ),
}
RIGHT = {
    "with main at 100": """
def stale_low(stale, margin):
    main = 100.0
    pin = main * (1 - stale)
    floor = pin * (1 - margin)
    return main / pin - 1, (main - floor) / main
""",
    "in fractions": """
from fractions import Fraction

def stale_low(stale, margin):
    s, m = Fraction(stale), Fraction(margin)
    return [float(s / (1 - s)), float(s + m - s * m)]
""",
    "with numpy": """
import numpy as np

def stale_low(stale, margin):
    pin = np.float64(1) - stale
    return np.array([1 / pin - 1, 1 - pin + margin * pin])
""",
}
