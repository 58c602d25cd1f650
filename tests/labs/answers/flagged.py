"""Answers to ``flagged``."""

WRONG = {
    "the bare ratio": (
        """
def flagged(main, candidate):
    return candidate >= 2 * main
""",
        "the three that are named",
    ),
    "never": (
        """
def flagged(main, candidate):
    return False
""",
        "the three that are named",
    ),
    "a smaller bar": (
        """
def flagged(main, candidate):
    return not (candidate < 0.003001 or candidate < 2 * main)
""",
        "under the bar a ratio is nothing",
    ),
    "the bar alone": (
        """
def flagged(main, candidate):
    return not candidate < 0.05
""",
        "over the bar and less than twice main",
    ),
    "divides by main": (
        """
def flagged(main, candidate):
    return not (candidate / main < 2 or candidate < 0.05)
""",
        "main at zero",
    ),
    "zero counts as unknown": (
        """
def flagged(main, candidate):
    if main == 0:
        return False
    return not (candidate < 0.05 or candidate < 2 * main)
""",
        "main at zero",
    ),
    "> for >=": (
        """
def flagged(main, candidate):
    return not (candidate <= 0.05 or candidate <= 2 * main)
""",
        "on both bars",
    ),
    "swallows NaN": (
        """
def flagged(main, candidate):
    return candidate >= 0.05 and candidate >= 2 * main
""",
        "not a number",
    ),
}
RIGHT = {
    "early returns": """
def flagged(main, candidate):
    if candidate < 0.05:
        return False
    if candidate < 2 * main:
        return False
    return True
""",
    "numbers first": """
import math

def flagged(main, candidate):
    if math.isnan(main) or math.isnan(candidate):
        return True
    return candidate >= max(0.05, 2 * main)
""",
    "numpy": """
import numpy as np

def flagged(main, candidate):
    fine = np.less([candidate, candidate], [0.05, 2 * main])
    return np.bool_(not fine.any())
""",
}
