"""Answers to ``significant``."""

WRONG = {
    "size alone": (
        """
def significant(gain, e_milli, rule):
    return "faster" if gain * 1_000_000 > rule.floor_ppm else "none"
""",
        "three answers",
    ),
    "evidence alone": (
        """
def significant(gain, e_milli, rule):
    return "faster" if e_milli * rule.alpha_ppm >= 10**9 else "inconclusive"
""",
        "three answers",
    ),
    ">= at the floor": (
        """
def significant(gain, e_milli, rule):
    if not e_milli * rule.alpha_ppm >= 10**9:
        return "inconclusive"
    return "faster" if gain * 1_000_000 >= rule.floor_ppm else "none"
""",
        "exactly the floor is none",
    ),
    "> at 1/alpha": (
        """
def significant(gain, e_milli, rule):
    if not e_milli * rule.alpha_ppm > 10**9:
        return "inconclusive"
    return "faster" if gain * 1_000_000 > rule.floor_ppm else "none"
""",
        "exactly 1/alpha is shown",
    ),
    "a large reading is enough": (
        """
def significant(gain, e_milli, rule):
    if gain * 1_000_000 > 10 * rule.floor_ppm:
        return "faster"
    if not e_milli * rule.alpha_ppm >= 10**9:
        return "inconclusive"
    return "faster" if gain * 1_000_000 > rule.floor_ppm else "none"
""",
        "without evidence no reading decides",
    ),
    "size before evidence": (
        """
from fractions import Fraction

def significant(gain, e_milli, rule):
    if gain <= Fraction(rule.floor_ppm, 1_000_000):
        return "none"
    return "faster" if e_milli * rule.alpha_ppm >= 10**9 else "inconclusive"
""",
        "without evidence no reading decides",
    ),
    "any difference": (
        """
def significant(gain, e_milli, rule):
    if not e_milli * rule.alpha_ppm >= 10**9:
        return "inconclusive"
    return "faster" if abs(gain) * 1_000_000 > rule.floor_ppm else "none"
""",
        "a loss is none",
    ),
    "numbers in the code": (
        """
def significant(gain, e_milli, rule):
    if not e_milli >= 20_000:
        return "inconclusive"
    return "faster" if gain * 100 > 2 else "none"
""",
        "the rule decides",
    ),
    "nan gets through": (
        """
def significant(gain, e_milli, rule):
    if e_milli * rule.alpha_ppm < 10**9:
        return "inconclusive"
    return "faster" if gain * 1_000_000 > rule.floor_ppm else "none"
""",
        "what is not a number shows nothing",
    ),
    "floor of a float": (
        """
def significant(gain, e_milli, rule):
    if not e_milli * rule.alpha_ppm >= 10**9:
        return "inconclusive"
    return "faster" if 1 + float(gain) - 1 > rule.floor_ppm / 1e6 else "none"
""",
        "exactly the floor is none",
    ),
}

RIGHT = {
    "one expression": """
def significant(gain, e_milli, rule):
    word = "faster" if gain * 10**6 > rule.floor_ppm else "none"
    return word if e_milli * rule.alpha_ppm >= 10**9 else "inconclusive"
""",
    "division of integers by fractions": """
from fractions import Fraction
def significant(gain, e_milli, rule):
    bar = Fraction(1_000_000, rule.alpha_ppm) * 1000
    if e_milli >= bar:
        if gain <= Fraction(rule.floor_ppm, 1_000_000):
            return "none"
        return "faster"
    return "inconclusive"
""",
    "a table": """
def significant(gain, e_milli, rule):
    shown = 1000 * 1_000_000 <= e_milli * rule.alpha_ppm
    large = gain.numerator * 1_000_000 > rule.floor_ppm * gain.denominator
    return {(True, True): "faster", (True, False): "none"}.get((shown, large), "inconclusive")
""",
}
