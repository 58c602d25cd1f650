"""Answers to ``threshold``."""

WRONG = {
    "one standard deviation": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = s0 / k**0.5
    if not least <= floor:
        raise ValueError
    return least
""",
        "one block",
    ),
    "no root": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(aa_blocks) * s0 / k
    if not least <= floor:
        raise ValueError
    return least
""",
        "more blocks help by their root",
    ),
    "repetitions do not matter": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(aa_blocks) * s0
    if not least <= floor:
        raise ValueError
    return least
""",
        "more blocks help by their root",
    ),
    "m - 1": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(aa_blocks - 1) * s0 / k**0.5
    if not least <= floor:
        raise ValueError
    return least
""",
        "one block",
    ),
    "degrees of freedom from k": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(9 if k == 1 else k + 5 if k == 4 else 9) * s0 / k**0.5
    if not least <= floor:
        raise ValueError
    return least
""",
        "the A/A blocks are the degrees of freedom",
    ),
    "no refusal": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    return t95(aa_blocks) * s0 / k**0.5
""",
        "a bar below the noise is refused",
    ),
    "the floor instead of a refusal": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    return min(floor, t95(aa_blocks) * s0 / k**0.5)
""",
        "a bar below the noise is refused",
    ),
    "nan gets through": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(aa_blocks) * s0 / k**0.5
    if least > floor:
        raise ValueError
    return least
""",
        "a bar below the noise is refused",
    ),
    "compares s0 with the floor": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    if not s0 <= floor:
        raise ValueError
    return t95(aa_blocks) * s0 / k**0.5
""",
        "a bar below the noise is refused",
    ),
    "< for <=": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = t95(aa_blocks) * s0 / k**0.5
    if not least < floor:
        raise ValueError
    return least
""",
        "a bar on the threshold is honest",
    ),
    "the normal's 1.645": (
        """
def threshold(s0, aa_blocks, k, floor, t95):
    least = 1.645 * s0 / k**0.5
    if not least <= floor:
        raise ValueError
    return least
""",
        "one block",
    ),
}

RIGHT = {
    "math": """
import math
def threshold(s0, aa_blocks, k, floor, t95):
    bar = t95(aa_blocks) * s0 / math.sqrt(k)
    if bar <= floor:
        return bar
    raise ValueError(f"noise reaches {bar}, the bar is {floor}")
""",
    "numpy": """
import numpy as np
def threshold(s0, aa_blocks, k, floor, t95):
    bar = np.float64(t95(aa_blocks)) * s0 / np.sqrt(k)
    if np.isnan(bar) or bar > floor:
        raise ValueError("decorative")
    return bar
""",
    "squares": """
def threshold(s0, aa_blocks, k, floor, t95):
    variance_of_mean = s0 * s0 / k
    bar = t95(aa_blocks) * variance_of_mean ** 0.5
    if abs(bar - floor) < 1e-15 or bar < floor:
        return bar
    raise ValueError
""",
}
